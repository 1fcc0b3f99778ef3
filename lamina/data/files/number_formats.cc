// By the letters of a code that are no literal text. Days are counted as Excel does, which has a 29 February 1900.
#include "lamina/data/files/number_formats.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

namespace lamina {
namespace {

constexpr int64_t kSecond_ms = 1000;
constexpr int64_t kDayOfYear_ms = 86'400 * kSecond_ms;

char LowerLetter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// What the first section of a code shows.
struct ShownBy {
  bool years_or_days = false;
  bool months = false;  // or minutes
  bool hours_or_seconds = false;
  bool elapsed = false;
  bool percent = false;

  void Add(char c) {
    c = LowerLetter(c);
    years_or_days = years_or_days || c == 'y' || c == 'd';
    months = months || c == 'm';
    hours_or_seconds = hours_or_seconds || c == 'h' || c == 's';
    percent = percent || c == '%';
  }
};

ShownBy WhatIsShown(std::string_view code) {
  ShownBy shown;
  for (size_t i = 0; i < code.size() && code[i] != ';'; ++i) {
    const char c = code[i];
    if (c == '\\' || c == '_' || c == '*') {
      ++i;  // stands before a literal character, or one whose width counts
    } else if (c == '"' || c == '[') {
      const size_t end = std::min(code.find(c == '"' ? '"' : ']', i + 1), code.size());
      const std::string_view inside = code.substr(i + 1, end - i - 1);
      const char first = inside.empty() ? '\0' : LowerLetter(inside[0]);
      shown.elapsed = shown.elapsed || (c == '[' && (first == 'h' || first == 'm' || first == 's') &&
                                        inside.find_first_not_of("hmsHMS") == std::string_view::npos);
      i = end;
    } else {
      shown.Add(c);
    }
  }
  return shown;
}

std::string ClockText(int64_t milliseconds) {
  std::string text = fmt::format("{:02}:{:02}:{:02}", milliseconds / kSecond_ms / 3600,
                                 milliseconds / kSecond_ms / 60 % 60, milliseconds / kSecond_ms % 60);
  const int64_t thousandths = milliseconds % kSecond_ms;
  return thousandths == 0 ? text : text + fmt::format(".{:03}", thousandths);
}

}  // namespace

CellFormat BuiltInFormat(int64_t number) {
  const auto within = [&](int64_t first, int64_t last) { return number >= first && number <= last; };
  if (number == 9 || number == 10) {
    return CellFormat::kPercent;
  }
  if (within(18, 21) || number == 45 || number == 47) {
    return CellFormat::kTime;
  }
  if (number == 46) {
    return CellFormat::kElapsed;
  }
  // From 27 on those of East Asia.
  return within(14, 17) || number == 22 || within(27, 36) || within(50, 58) ? CellFormat::kDate : CellFormat::kPlain;
}

CellFormat FormatOfCode(std::string_view code) {
  constexpr std::string_view kGeneral = "general";
  std::string lower(code.substr(0, kGeneral.size()));
  for (char& c : lower) {
    c = LowerLetter(c);
  }
  if (lower == kGeneral) {
    return CellFormat::kPlain;
  }
  const ShownBy shown = WhatIsShown(code);
  if (shown.years_or_days || (shown.months && !shown.hours_or_seconds && !shown.elapsed)) {
    return CellFormat::kDate;
  }
  if (shown.elapsed) {
    return CellFormat::kElapsed;
  }
  return shown.hours_or_seconds ? CellFormat::kTime : shown.percent ? CellFormat::kPercent : CellFormat::kPlain;
}

std::string HoursText(int64_t milliseconds) {
  return (milliseconds < 0 ? "-" : "") + ClockText(std::abs(milliseconds));
}

std::string DateCellText(double days, CellFormat format, bool since_1904) {
  constexpr double kMostDays = 2'958'466;  // 9999-12-31, the last day of Excel, is before that
  if (!(std::abs(days) < kMostDays)) {
    return "";
  }
  const int64_t milliseconds = std::llround(days * static_cast<double>(kDayOfYear_ms));
  if (format == CellFormat::kElapsed) {
    return HoursText(milliseconds);
  }
  if (milliseconds < 0) {
    return "";
  }
  if (format == CellFormat::kTime && milliseconds < kDayOfYear_ms) {
    return ClockText(milliseconds);
  }
  constexpr int64_t kFirstOf1904 = -24'107;  // in days since 1970-01-01
  constexpr int64_t kEndOf1899 = -25'569;    // 1899-12-30, from which days after February 1900 count
  constexpr int64_t kDayThatWasNot = 60;     // 1900-02-29
  const int64_t day = milliseconds / kDayOfYear_ms;
  const int64_t since_1970 = since_1904 ? day + kFirstOf1904 : day + kEndOf1899 + (day < kDayThatWasNot ? 1 : 0);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{since_1970}}};
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  const int64_t time = milliseconds % kDayOfYear_ms;
  return time == 0 ? text : text + " " + ClockText(time);
}

std::string PercentCellText(double value) {
  return fmt::format("{:.15g}", 100 * value);  // as many digits as spreadsheets show: 7, not 7.000000000000001
}

std::string ColumnLetters(int64_t column) {
  std::string letters;
  for (; column >= 0; column = column / 26 - 1) {
    letters.insert(letters.begin(), static_cast<char>('A' + column % 26));
  }
  return letters;
}

}  // namespace lamina
