// Numbers, dates and categories from CSV fields: a fast path for clean fields, a careful one for the rest.
#include "lamina/data/files/csv_columns.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/data/files/date_text.h"
#include "lamina/data/files/number_text.h"

namespace lamina {
namespace {

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The whole field as a number, possibly infinite; false if it is not one.
bool ParseWhole(std::string_view field, double& value) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-' && field[1] != '+') {
    field.remove_prefix(1);
  }
  const char* end = field.data() + field.size();
  const auto result = fast_float::from_chars(field.data(), end, value);
  return !field.empty() && result.ptr == end && result.ec != std::errc::invalid_argument;
}

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

bool IsNan(std::string_view field) {
  const size_t sign = !field.empty() && (field[0] == '-' || field[0] == '+') ? 1 : 0;
  const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
  return field.size() == sign + 3 && lower(field[sign]) == 'n' && lower(field[sign + 1]) == 'a' &&
         lower(field[sign + 2]) == 'n';
}

// Words that stand for no value among numbers; text may well have them as categories.
constexpr std::string_view kNoNumbers[] = {"NULL", "Null", "None", "none", "n/a", "#N/A",
                                           "#NA",  "<NA>", "nil",  "-",    "--"};

}  // namespace

bool IsMissingNumber(std::string_view field, std::span<const std::string> missing) {
  return std::find(missing.begin(), missing.end(), field) != missing.end() || IsNan(field) ||
         std::find(std::begin(kNoNumbers), std::end(kNoNumbers), field) != std::end(kNoNumbers);
}

FieldKind FieldReadings::Kind() const {
  const FieldKind kind = KindFor('.');
  return kind == FieldKind::kText && with_comma ? FieldKind::kNumber : kind;
}

FieldKind FieldReadings::KindFor(char decimal) const {
  if (missing) {
    return FieldKind::kMissing;
  }
  if (year_first || day_first || month_first) {
    return FieldKind::kDate;
  }
  return (decimal == ',' ? with_comma : with_point) ? FieldKind::kNumber : FieldKind::kText;
}

FieldReadings ReadingsOf(std::string_view field, std::span<const std::string> missing) {
  FieldReadings readings;
  readings.missing = std::find(missing.begin(), missing.end(), field) != missing.end() || IsNan(field);
  if (readings.missing) {
    return readings;
  }
  const std::string_view text = TrimField(field);
  double value = 0;
  readings.year_first = ParseDate(text, DateOrder::kAuto, value);
  readings.day_first = !readings.year_first && ParseDate(text, DateOrder::kDayFirst, value);
  readings.month_first = !readings.year_first && ParseDate(text, DateOrder::kMonthFirst, value);
  NumberText number;
  readings.with_point = ParseWhole(text, value) || ParseNumberText(text, '.', number);
  readings.has_point = readings.with_point && text.find('.') != std::string_view::npos;
  readings.with_comma = (!readings.has_point && ParseWhole(text, value)) || ParseNumberText(text, ',', number);
  readings.has_comma = readings.with_comma && number.has_decimals;
  return readings;
}

FieldKind DecideKind(std::span<const FieldKind> sample) {
  const auto count = [&](FieldKind kind) { return std::count(sample.begin(), sample.end(), kind); };
  const auto numbers = count(FieldKind::kNumber);
  const auto dates = count(FieldKind::kDate);
  const auto texts = count(FieldKind::kText);
  const auto first = std::find_if(sample.begin(), sample.end(), [](FieldKind k) { return k != FieldKind::kMissing; });
  if (first == sample.end()) {
    return FieldKind::kMissing;
  }
  if (texts > numbers + dates || (texts == numbers + dates && *first == FieldKind::kText)) {
    return FieldKind::kText;
  }
  return dates > numbers || (dates == numbers && *first == FieldKind::kDate) ? FieldKind::kDate : FieldKind::kNumber;
}

CsvColumnBuilder::CsvColumnBuilder(std::string name, FieldKind kind, const ColumnFormat& format,
                                   const std::string& source, std::span<const std::string> missing)
    : name_(std::move(name)), kind_(kind), format_(format), source_(source), missing_(missing), categories_(missing) {
  double value = 0;
  numeric_missing_ = std::any_of(missing.begin(), missing.end(),
                                 [&](const std::string& word) { return ParseWhole(word, value) && !IsNan(word); });
}

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
  if (numeric_missing_ || (!IsDigit(*p) && *p != '-' && *p != '.')) {
    return false;
  }
  if (format_.decimal == cursor.separator()) {  // the mark stands within quotes
    return false;
  }
  double value = 0;
  const auto result = fast_float::from_chars_advanced(
      p, cursor.end(), value, fast_float::parse_options{fast_float::chars_format::general, format_.decimal});
  if (result.ec != std::errc() || !std::isfinite(value) || !cursor.EndFieldAt(result.ptr)) {
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
  if (kind_ == FieldKind::kText) {
    codes_.push_back(categories_.CodeOf(field));
    return;
  }
  if (IsMissingNumber(field, missing_)) {
    Add(kNaN);
    return;
  }
  if (kind_ == FieldKind::kMissing) {  // the first value decides
    const FieldReadings readings = ReadingsOf(field, missing_);
    kind_ = readings.KindFor(format_.decimal);
    if (kind_ == FieldKind::kDate && !readings.year_first && format_.date_order == DateOrder::kAuto) {
      format_.date_order = readings.month_first ? DateOrder::kMonthFirst : DateOrder::kDayFirst;
      format_.order_assumed = readings.month_first && readings.day_first;
    }
    if (kind_ == FieldKind::kText) {
      numbers_ = {};
      codes_.assign(rows_ - 1, -1);
      codes_.push_back(categories_.CodeOf(field));
      return;
    }
  }
  Add(ParseValue(field, line));
}

// A number as this column writes it; what it is measured in is the same in all of them.
bool CsvColumnBuilder::ParseNumber(std::string_view field, int64_t line, double& value) {
  if ((format_.decimal == '.' || field.find('.') == std::string_view::npos) && ParseWhole(field, value)) {
    return true;
  }
  NumberText number;
  if (!ParseNumberText(field, format_.decimal, number)) {
    return false;
  }
  if (!TakeUnit(number.unit)) {
    ThrowValue(field, line, fmt::format("a number in {} in a column in {}", number.unit, format_.unit), "");
  }
  marked_ = marked_ || number.has_decimals || number.has_groups;
  value = number.value;
  return true;
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

void CsvColumnBuilder::ThrowValue(std::string_view field, int64_t line, const std::string& message,
                                  const std::string& remedy) const {
  throw Error(ErrorCode::kBadData, message,
              {.file = source_,
               .line = line,
               .column = name_,
               .value = Excerpt(field),
               .remedy = fmt::format("Correct the value, {}or read the column as text with --text-columns {}.", remedy,
                                     name_)});
}

double CsvColumnBuilder::ParseValue(std::string_view field, int64_t line) {
  double value = 0;
  const std::string_view trimmed = TrimField(field);
  if (kind_ == FieldKind::kDate) {
    if (ParseDate(trimmed, format_.date_order, value)) {
      return value;
    }
    ThrowValue(field, line, "not a date in a column of dates",
               format_.date_order == DateOrder::kAuto
                   ? ""
                   : fmt::format("say how dates are written with --date-order {}, ",
                                 format_.date_order == DateOrder::kDayFirst ? "month-first" : "day-first"));
  }
  if (!ParseNumber(trimmed, line, value)) {
    NumberText number;
    const bool comma = format_.decimal == ',';
    ThrowValue(field, line, "not a number in a column of numbers",
               ParseNumberText(trimmed, comma ? '.' : ',', number)
                   ? fmt::format("say how numbers are written with --decimal {}, ", comma ? "point" : "comma")
                   : "");
  }
  if (!std::isfinite(value)) {
    ThrowValue(field, line,
               std::none_of(trimmed.begin(), trimmed.end(), IsDigit) ? "not a finite number" : "number out of range",
               "");
  }
  return value;
}

bool CsvColumnBuilder::Append(CsvColumnBuilder&& next) {
  if (!TakeUnit(next.format_.unit)) {
    return false;
  }
  marked_ = marked_ || next.marked_;
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

Column CsvColumnBuilder::Finish() && {
  Column column;
  column.name = std::move(name_);
  if (kind_ == FieldKind::kText) {
    column.kind = ColumnKind::kText;
    column.codes = std::move(codes_);
    column.categories = std::move(categories_).Names();
    return column;
  }
  std::span<const double> numbers = numbers_;
  if (file_ != nullptr) {
    WriteNumbers();
    numbers_ = {};
    column.mapping = file_->Map(index_, written_);
    column.owner = column.mapping;
    numbers = {reinterpret_cast<const double*>(column.mapping->data()), static_cast<size_t>(written_)};
  } else {
    const auto owner = std::make_shared<const std::vector<double>>(std::move(numbers_));
    column.owner = owner;
    numbers = *owner;
  }
  column.numbers = numbers.data();
  column.is_date = kind_ == FieldKind::kDate;
  column.format = std::move(format_);
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
