// Plain numbers by fast_float, others by the scanners.
#include "lamina/data/files/text_numbers.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/files/date_text.h"
#include "lamina/data/files/missing_marks.h"
#include "lamina/data/files/number_text.h"

namespace lamina {
namespace {

bool IsPlainDigit(char c) { return c >= '0' && c <= '9'; }

bool ParseCell(std::string_view cell, bool is_date, const ColumnFormat& format, bool is_flag, double& value) {
  if (is_date) {
    return ParseDate(cell, format.date_order, value);
  }
  if ((format.decimal == '.' || cell.find('.') == std::string_view::npos) && ParseWholeNumber(cell, value)) {
    return std::isfinite(value) && !LosesDigits(cell, value);
  }
  if (const std::optional<bool> truth = is_flag ? ParseTruth(cell) : std::nullopt) {
    value = *truth ? 1 : 0;
    return true;
  }
  NumberText number;
  if (!ParseNumberText(cell, format.decimal, number) ||
      (!number.unit.empty() && !format.unit.empty() && number.unit != format.unit)) {
    return false;
  }
  value = number.value;
  return std::isfinite(value);
}

}  // namespace

bool ParseWholeNumber(std::string_view field, double& value) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-' && field[1] != '+') {
    field.remove_prefix(1);
  }
  const char* end = field.data() + field.size();
  const auto result = fast_float::from_chars(field.data(), end, value);
  return !field.empty() && result.ptr == end && result.ec != std::errc::invalid_argument;
}

bool LosesDigits(std::string_view text, double value) {
  if (!(std::abs(value) >= kMostExactNumber)) {
    return false;
  }
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    text.remove_prefix(1);
  }
  return std::all_of(text.begin(), text.end(), IsPlainDigit) && fmt::format("{:.0f}", std::abs(value)) != text;
}

std::optional<bool> ParseTruth(std::string_view text) {
  constexpr std::string_view kWords[] = {"false", "true"};
  for (const std::string_view word : kWords) {
    if (std::equal(text.begin(), text.end(), word.begin(), word.end(),
                   [](char c, char lower) { return c == lower || (c | 0x20) == lower; })) {
      return word == "true";
    }
  }
  return std::nullopt;
}

Column NumbersOfText(const Column& text, bool is_date, const ColumnFormat& format, bool is_flag) {
  constexpr int32_t kNotOdd = -1;
  const MissingMarks marks;
  Column column;
  std::vector<double> values;      // of the categories
  std::vector<int32_t> odd_words;  // their places in column.odd.words
  for (const std::string& category : text.categories) {
    const std::string_view cell = Trim(category);
    double value = kNaN;
    const bool good = ParseCell(cell, is_date, format, is_flag, value);
    const bool odd = !good && !marks.Contains(cell);
    odd_words.push_back(odd ? static_cast<int32_t>(column.odd.words.size()) : kNotOdd);
    if (odd) {
      column.odd.words.push_back(category);
    }
    values.push_back(good ? value : kNaN);
  }
  const auto numbers = std::make_shared<std::vector<double>>();
  numbers->reserve(text.codes.size());
  for (size_t row = 0; row < text.codes.size(); ++row) {
    const int32_t code = text.codes[row];
    numbers->push_back(code < 0 ? kNaN : values[static_cast<size_t>(code)]);
    if (code >= 0 && odd_words[static_cast<size_t>(code)] != kNotOdd) {
      column.odd.cells.push_back({static_cast<int64_t>(row), odd_words[static_cast<size_t>(code)]});
    }
  }
  column.name = text.name;
  column.is_date = is_date;
  column.format = format;
  column.numbers = numbers->data();
  column.owner = numbers;
  return column;
}

}  // namespace lamina
