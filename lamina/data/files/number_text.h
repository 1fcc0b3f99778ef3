// Numbers as people and spreadsheets write them: a decimal comma, thousands separators, currency and per cent signs.
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// A number and how it was written.
struct NumberText {
  double value = 0;           // as written: "12 %" is 12
  bool has_decimals = false;  // a decimal point or comma stands in it
  bool has_groups = false;    // a thousands separator does
  std::string_view unit;      // "$", "%", "EUR": the sign before or behind it, within the text
};

/// The whole of `text` (without blanks at its ends) as a number whose decimal mark is `decimal`, '.' or ','. Thousands
/// are separated by the other of the two, blanks (also the unbreakable and the narrow one) or apostrophes, in groups of
/// three. Parentheses around it mean a negative number. False if it is none; infinities are numbers.
bool ParseNumberText(std::string_view text, char decimal, NumberText& number);

}  // namespace lamina
