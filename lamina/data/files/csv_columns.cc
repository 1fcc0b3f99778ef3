// Numbers, dates and categories from CSV fields: a fast path for clean fields, a careful one for the rest.
#include "lamina/data/files/csv_columns.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/files/date_text.h"
#include "lamina/data/files/number_text.h"
#include "lamina/data/files/text_numbers.h"

namespace lamina {
namespace {

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

int Digits(const char* p, int count, bool& ok) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    ok &= IsDigit(p[i]);
    value = value * 10 + (p[i] - '0');
  }
  return value;
}

// The ten bytes at p as YYYY-MM-DD, in days from 1970-01-01 of the proleptic Gregorian calendar.
bool ParseDay(const char* p, int64_t& days) {
  bool ok = p[4] == '-' && p[7] == '-';
  const int year = Digits(p, 4, ok);
  const int month = Digits(p + 5, 2, ok);
  const int day = Digits(p + 8, 2, ok);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!ok || !date.ok()) {
    return false;
  }
  days = std::chrono::sys_days(date).time_since_epoch().count();
  return true;
}

constexpr size_t kFewNumbers = 12;   // different ones, among which a word counts as one more value
constexpr int64_t kLeastRecurs = 3;  // of such a word
constexpr double kWordShare = 0.02;
constexpr double kMostShare = 0.95;  // of the cells with a value: they say what a column is

bool AreMost(int64_t some, int64_t others) {
  return some > 0 && static_cast<double>(some) >= kMostShare * static_cast<double>(some + others);
}

bool MayBeginNumber(char c) { return IsDigit(c) || c == '-' || c == '+' || c == '.'; }

}  // namespace

CsvColumnBuilder::CsvColumnBuilder(std::string name, const CsvColumnPlan& plan, const CsvRules& rules)
    : name_(std::move(name)),
      kind_(plan.kind),
      format_(plan.format),
      decided_(plan.decided),
      is_flag_(plan.is_flag),
      rules_(rules),
      categories_(rules.marks,
                  plan.is_answer ? CsvCategories::Missing::kMarksOfAnswers : CsvCategories::Missing::kMarks),
      odd_words_(rules.marks, CsvCategories::Missing::kNone) {}

void CsvColumnBuilder::WriteNumbers() {
  file_->Write(index_, written_, numbers_);
  written_ += std::ssize(numbers_);
  numbers_.clear();
}

void CsvColumnBuilder::Reserve(size_t rows) {
  if (kind_ == FieldKind::kText) {
    codes_.reserve(rows);
  } else {
    numbers_.reserve(rows);
  }
}

void CsvColumnBuilder::Read(CsvCursor& cursor) {
  ++rows_;
  switch (kind_) {
    case FieldKind::kNumber:
      if (ReadNumberFast(cursor)) {
        return;
      }
      break;
    case FieldKind::kDate:
      if (ReadDateFast(cursor)) {
        return;
      }
      break;
    case FieldKind::kText:
      if (ReadTextFast(cursor)) {
        return;
      }
      break;
    case FieldKind::kMissing: break;
  }
  ReadSlow(cursor);
}

// The number ends where the field ends: no second look at the bytes.
bool CsvColumnBuilder::ReadNumberFast(CsvCursor& cursor) {
  const char* p = cursor.at();
  if (!IsDigit(*p) && *p != '-' && *p != '.') {
    return false;
  }
  if (format_.decimal == cursor.separator()) {  // the mark stands within quotes
    return false;
  }
  double value = 0;
  const auto result = fast_float::from_chars_advanced(
      p, cursor.end(), value, fast_float::parse_options{fast_float::chars_format::general, format_.decimal});
  if (result.ec != std::errc() || !std::isfinite(value) || std::abs(value) >= kMostExactNumber ||
      (rules_.marks.has_numbers() && rules_.marks.ContainsNumber(value)) || !cursor.EndFieldAt(result.ptr)) {
    return false;
  }
  Add(value);
  return true;
}

bool CsvColumnBuilder::ReadDateFast(CsvCursor& cursor) {
  int64_t days = 0;
  const char* p = cursor.at();
  if (cursor.end() - p <= 10 || !ParseDay(p, days) || !cursor.EndFieldAt(p + 10)) {
    return false;
  }
  Add(static_cast<double>(days));
  return true;
}

bool CsvColumnBuilder::ReadTextFast(CsvCursor& cursor) {
  const char* start = cursor.at();
  const char separator = cursor.separator();
  const char* p = start;
  while (*p != separator && static_cast<unsigned char>(*p) > ' ') {
    ++p;
  }
  if (*start == '"' || !cursor.EndFieldAt(p)) {
    return false;  // quotes or spaces
  }
  codes_.push_back(categories_.CodeOf({start, static_cast<size_t>(p - start)}));
  return true;
}

void CsvColumnBuilder::ReadSlow(CsvCursor& cursor) {
  const int64_t line = cursor.line();
  const std::string_view field = cursor.NextField();
  const std::string_view text = TrimField(field);  // blanks at the ends never count, also not within quotes
  if (kind_ == FieldKind::kText) {
    codes_.push_back(categories_.CodeOf(text));
    return;
  }
  if (rules_.marks.Contains(text)) {
    ++missing_;
    Add(kNaN);
    return;
  }
  if (kind_ == FieldKind::kMissing) {  // the first value decides
    const FieldReadings readings = ReadingsOf(text, rules_.marks);
    kind_ = readings.KindFor(format_.decimal);
    if (kind_ == FieldKind::kDate && !readings.year_first && format_.date_order == DateOrder::kAuto) {
      format_.date_order = readings.month_first ? DateOrder::kMonthFirst : DateOrder::kDayFirst;
      format_.order_assumed = readings.month_first && readings.day_first;
    }
    if (kind_ == FieldKind::kText) {
      numbers_ = {};
      codes_.assign(rows_ - 1, -1);
      codes_.push_back(categories_.CodeOf(text));
      return;
    }
  }
  double value = 0;
  if (!ParseValue(text, value)) {
    AddOdd(text, line);
    value = kNaN;
  } else if (kind_ != FieldKind::kDate && rules_.marks.ContainsNumber(value)) {
    ++missing_;
    value = kNaN;
  }
  Add(value);
}

void CsvColumnBuilder::AddOdd(std::string_view field, int64_t line) {
  if (rules_.strict) {
    ThrowValue(field, line);
  }
  odd_.push_back({static_cast<int64_t>(rows_) - 1, odd_words_.CodeOf(field)});
}

// A number as this column writes it; what it is measured in is the same in all of them.
bool CsvColumnBuilder::ParseNumber(std::string_view field, double& value) {
  if ((format_.decimal == '.' || field.find('.') == std::string_view::npos) && ParseWholeNumber(field, value)) {
    return !LosesDigits(field, value);
  }
  NumberText number;
  if (!ParseNumberText(field, format_.decimal, number)) {
    const std::optional<bool> truth = is_flag_ ? ParseTruth(field) : std::nullopt;
    value = truth.value_or(false) ? 1 : 0;
    return truth.has_value();
  }
  if (!TakeUnit(number.unit)) {
    return false;
  }
  marked_ = marked_ || number.has_decimals || number.has_groups;
  value = number.value;
  return true;
}

bool CsvColumnBuilder::ParseValue(std::string_view field, double& value) {
  if (kind_ == FieldKind::kDate) {
    return ParseDate(field, format_.date_order, value);
  }
  return ParseNumber(field, value) && std::isfinite(value);
}

// False where numbers so far were in another one.
bool CsvColumnBuilder::TakeUnit(std::string_view unit) {
  if (!unit.empty() && !format_.unit.empty() && format_.unit != unit) {
    return false;
  }
  if (!unit.empty()) {
    format_.unit = unit;
  }
  return true;
}

// By strict rules: says what is wrong with the field, and what may help.
void CsvColumnBuilder::ThrowValue(std::string_view field, int64_t line) const {
  std::string message =
      kind_ == FieldKind::kDate ? "not a date in a column of dates" : "not a number in a column of numbers";
  std::string remedy;
  double value = 0;
  NumberText number;
  const bool comma = format_.decimal == ',';
  if (kind_ == FieldKind::kDate) {
    if (format_.date_order != DateOrder::kAuto) {
      remedy = fmt::format("say how dates are written with --date-order {}, ",
                           format_.date_order == DateOrder::kDayFirst ? "month-first" : "day-first");
    }
  } else if (ParseWholeNumber(field, value)) {
    message = LosesDigits(field, value)                           ? "a whole number of more digits than a number keeps"
              : std::none_of(field.begin(), field.end(), IsDigit) ? "not a finite number"
                                                                  : "number out of range";
  } else if (ParseNumberText(field, format_.decimal, number)) {
    message = fmt::format("a number in {} in a column in {}", number.unit, format_.unit);
  } else if (ParseNumberText(field, comma ? '.' : ',', number)) {
    remedy = fmt::format("say how numbers are written with --decimal {}, ", comma ? "point" : "comma");
  }
  throw Error(ErrorCode::kBadData, message,
              {.file = rules_.source,
               .line = line,
               .column = name_,
               .value = Excerpt(field),
               .remedy = fmt::format("Correct the value, {}or read the column as text with --text-columns {}.", remedy,
                                     name_)});
}

bool CsvColumnBuilder::Append(CsvColumnBuilder&& next) {
  if (!TakeUnit(next.format_.unit)) {
    return false;
  }
  marked_ = marked_ || next.marked_;
  missing_ += next.missing_;
  const std::vector<int32_t> odd_words = odd_words_.CodesOf(next.odd_words_);
  for (const OddCells::Cell& cell : next.odd_) {
    odd_.push_back({static_cast<int64_t>(rows_) + cell.row, odd_words[static_cast<size_t>(cell.word)]});
  }
  next.odd_ = {};
  rows_ += next.rows_;
  numbers_.insert(numbers_.end(), next.numbers_.begin(), next.numbers_.end());
  next.numbers_ = {};
  const std::vector<int32_t> codes = categories_.CodesOf(next.categories_);
  for (const int32_t code : next.codes_) {
    codes_.push_back(code < 0 ? code : codes[static_cast<size_t>(code)]);
  }
  next.codes_ = {};
  return true;
}

// For a column that was read as numbers.
std::span<const double> CsvColumnBuilder::Numbers() {
  if (file_ == nullptr) {
    return numbers_;
  }
  if (!numbers_.empty() || mapping_ == nullptr) {
    WriteNumbers();
    numbers_ = {};
    mapping_ = file_->Map(index_, written_);
  }
  return {reinterpret_cast<const double*>(mapping_->data()), static_cast<size_t>(written_)};
}

std::string CsvColumnBuilder::WordOfFew() {
  if (odd_.empty() || odd_words_.size() > static_cast<int32_t>(kFewNumbers)) {
    return "";
  }
  std::vector<int64_t> counts(static_cast<size_t>(odd_words_.size()));
  for (const OddCells::Cell& cell : odd_) {
    ++counts[static_cast<size_t>(cell.word)];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (*most < kLeastRecurs && static_cast<double>(*most) < kWordShare * static_cast<double>(rows_)) {
    return "";
  }
  std::vector<double> different;
  for (const double value : Numbers()) {
    if (!std::isnan(value) && std::find(different.begin(), different.end(), value) == different.end()) {
      different.push_back(value);
      if (different.size() > kFewNumbers) {
        return "";
      }
    }
  }
  std::string word;
  odd_words_.ForWords(
      [&](const std::string& text, int32_t code) { word = code == most - counts.begin() ? text : word; });
  return word;
}

// For a column that was read as text.
bool CsvColumnBuilder::MostAreNumbers() const {
  std::vector<int64_t> counts(static_cast<size_t>(categories_.size()));
  int64_t all = 0;
  for (const int32_t code : codes_) {
    if (code >= 0) {
      ++counts[static_cast<size_t>(code)];
      ++all;
    }
  }
  int64_t numbers = 0;
  categories_.ForWords([&](const std::string& text, int32_t code) {
    const int64_t count = counts[static_cast<size_t>(code)];
    if (!text.empty() && MayBeginNumber(text.front())) {
      numbers += ReadingsOf(text, rules_.marks).KindFor(format_.decimal) == FieldKind::kNumber ? count : 0;
    }
  });
  return AreMost(numbers, all - numbers);
}

FieldKind CsvColumnBuilder::KindByAll() {
  if (decided_ || rules_.strict || kind_ == FieldKind::kMissing) {
    return kind_;
  }
  if (kind_ == FieldKind::kText) {
    return MostAreNumbers() ? FieldKind::kNumber : kind_;
  }
  const auto odd = std::ssize(odd_);
  const int64_t values = static_cast<int64_t>(rows_) - missing_ - odd;
  return odd == 0 || (AreMost(values, odd) && WordOfFew().empty()) ? kind_ : FieldKind::kText;
}

Column CsvColumnBuilder::Finish() && {
  Column column;
  column.name = std::move(name_);
  if (kind_ == FieldKind::kText) {
    column.kind = ColumnKind::kText;
    column.codes = std::move(codes_);
    column.categories = std::move(categories_).Names();
    return column;
  }
  std::span<const double> numbers = Numbers();
  if (mapping_ != nullptr) {
    column.mapping = mapping_;
    column.owner = mapping_;
  } else {
    const auto owner = std::make_shared<const std::vector<double>>(std::move(numbers_));
    column.owner = owner;
    numbers = *owner;
  }
  column.numbers = numbers.data();
  column.is_date = kind_ == FieldKind::kDate;
  column.format = std::move(format_);
  column.odd = {std::move(odd_), std::move(odd_words_).Names()};
  const auto is_whole = [](double value) { return std::isnan(value) || value == std::trunc(value); };
  if (column.format.decimal == ',' && !marked_ && std::all_of(numbers.begin(), numbers.end(), is_whole)) {
    column.format.decimal = '.';  // nothing tells
  }
  column.Release();
  if (!column.is_date) {
    column.format.date_order = DateOrder::kAuto;
  }
  return column;
}

}  // namespace lamina
