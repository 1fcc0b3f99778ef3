// A hand-written scanner: signs and units around digits in groups.
#include "lamina/data/files/number_text.h"

#include <fast_float/fast_float.h>

#include <algorithm>

namespace lamina {
namespace {

constexpr std::string_view kUnits[] = {"%",
                                       "$",
                                       "\xE2\x82\xAC" /* euro */,
                                       "\xC2\xA3" /* pound */,
                                       "\xC2\xA5" /* yen */,
                                       "\xE2\x82\xB9" /* rupee */,
                                       "EUR",
                                       "USD",
                                       "GBP",
                                       "CHF",
                                       "JPY"};
constexpr std::string_view kBlanks[] = {" ", "\xC2\xA0" /* no-break */, "\xE2\x80\xAF" /* narrow no-break */};
constexpr std::string_view kApostrophes[] = {"'", "\xE2\x80\x99"};
constexpr size_t kGroupDigits = 3;

bool IsFigure(char c) { return static_cast<unsigned char>(c - '0') < 10; }

size_t CountDigits(std::string_view text) {
  size_t count = 0;
  while (count < text.size() && IsFigure(text[count])) {
    ++count;
  }
  return count;
}

// The first of `words` that `text` starts with, taken off; "" for none.
template <size_t n>
std::string_view TakeOneOf(std::string_view& text, const std::string_view (&words)[n]) {
  for (const std::string_view word : words) {
    if (text.starts_with(word)) {
      text.remove_prefix(word.size());
      return word;
    }
  }
  return {};
}

void TakeBlanks(std::string_view& text) {
  while (!TakeOneOf(text, kBlanks).empty()) {
  }
}

// '-', '+' or 0.
char TakeSign(std::string_view& text) {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) {
    return 0;
  }
  const char sign = text[0];
  text.remove_prefix(1);
  return sign;
}

// What separates thousands at the start of `text`; "" for nothing that does.
std::string_view GroupMark(std::string_view text, char decimal) {
  const char other = decimal == '.' ? ',' : '.';
  if (text.starts_with(other)) {
    return text.substr(0, 1);
  }
  std::string_view rest = text;
  const std::string_view blank = TakeOneOf(rest, kBlanks);
  return blank.empty() ? TakeOneOf(rest, kApostrophes) : blank;
}

// Digits in groups to `plain` without what separates them; false for wrong groups.
bool TakeInteger(std::string_view& text, char decimal, std::string& plain, bool& has_groups) {
  const size_t first = CountDigits(text);
  plain.append(text.substr(0, first));
  const bool leads = first > 0 && first <= kGroupDigits && text[0] != '0';
  text.remove_prefix(first);
  const std::string_view mark = GroupMark(text, decimal);
  while (!mark.empty() && text.starts_with(mark)) {
    const std::string_view group = text.substr(mark.size());
    const size_t digits = CountDigits(group);
    if (digits == 0 && has_groups) {
      break;
    }
    if (digits == 0) {
      return true;  // blanks before a unit
    }
    if (!leads || digits != kGroupDigits) {
      return false;
    }
    has_groups = true;
    plain.append(group.substr(0, digits));
    text.remove_prefix(mark.size() + digits);
  }
  return true;
}

// An exponent, for numbers without groups.
void TakeExponent(std::string_view& text, std::string& plain) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) {
    return;
  }
  const size_t sign = text.size() > 1 && (text[1] == '-' || text[1] == '+') ? 1 : 0;
  const size_t digits = CountDigits(text.substr(1 + sign));
  if (digits > 0) {
    plain.append(text.substr(0, 1 + sign + digits));
    text.remove_prefix(1 + sign + digits);
  }
}

}  // namespace

bool ParseNumberText(std::string_view text, char decimal, NumberText& number) {
  number = {};
  const bool accounting = text.size() > 2 && text.front() == '(' && text.back() == ')';  // a negative number
  if (accounting) {
    text = text.substr(1, text.size() - 2);
  }
  char sign = TakeSign(text);
  if (accounting && sign != 0) {
    return false;
  }
  sign = accounting ? '-' : sign;
  number.unit = TakeOneOf(text, kUnits);
  if (!number.unit.empty()) {
    TakeBlanks(text);
    sign = sign == 0 ? TakeSign(text) : sign;
  }
  std::string plain;
  if (!TakeInteger(text, decimal, plain, number.has_groups)) {
    return false;
  }
  if (text.starts_with(decimal)) {
    text.remove_prefix(1);
    const size_t digits = CountDigits(text);
    number.has_decimals = true;
    plain.append(".").append(text.substr(0, digits));
    text.remove_prefix(digits);
  }
  if (std::none_of(plain.begin(), plain.end(), IsFigure)) {
    return false;
  }
  if (!number.has_groups) {
    TakeExponent(text, plain);
  }
  if (number.unit.empty()) {
    TakeBlanks(text);
    number.unit = TakeOneOf(text, kUnits);
  }
  if (!text.empty()) {
    return false;
  }
  const auto result = fast_float::from_chars(plain.data(), plain.data() + plain.size(), number.value);
  number.value = sign == '-' ? -number.value : number.value;
  return result.ptr == plain.data() + plain.size() && result.ec != std::errc::invalid_argument;
}

}  // namespace lamina
