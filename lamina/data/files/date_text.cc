// A hand-written scanner: three numbers, a time, a zone.
#include "lamina/data/files/date_text.h"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>

namespace lamina {
namespace {

constexpr double kDay_seconds = 86'400;
constexpr int kYearDigits = 4;

// Takes a number of `least` to `most` digits off the start of `text`.
std::optional<int> TakeCount(std::string_view& text, size_t least, size_t most) {
  int value = 0;
  size_t digits = 0;
  while (digits < text.size() && digits < most && static_cast<unsigned char>(text[digits] - '0') < 10) {
    value = value * 10 + (text[digits] - '0');
    ++digits;
  }
  if (digits < least || (digits < text.size() && static_cast<unsigned char>(text[digits] - '0') < 10)) {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  return value;
}

bool TakeChar(std::string_view& text, char c) {
  if (!text.starts_with(c)) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

bool TakeWord(std::string_view& text, std::string_view upper) {
  if (text.size() < upper.size()) {
    return false;
  }
  for (size_t i = 0; i < upper.size(); ++i) {
    if (text[i] != upper[i] && text[i] != static_cast<char>(upper[i] | 0x20)) {
      return false;
    }
  }
  text.remove_prefix(upper.size());
  return true;
}

std::optional<double> DaysOf(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) {
    return std::nullopt;
  }
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

// A year of four digits, or of two, which are those of 1970 to 2069.
std::optional<int> TakeYear(std::string_view& text) {
  constexpr int kFirstShort = 70;
  std::string_view rest = text;
  if (const auto year = TakeCount(rest, kYearDigits, kYearDigits)) {
    text = rest;
    return year;
  }
  const auto year = TakeCount(text, 2, 2);
  return year ? std::optional(*year + (*year < kFirstShort ? 2000 : 1900)) : std::nullopt;
}

// The number of a month by the three letters of its English name.
std::optional<int> TakeMonthName(std::string_view& text) {
  constexpr std::string_view kMonths[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                          "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
  for (int month = 1; month <= static_cast<int>(std::size(kMonths)); ++month) {
    if (TakeWord(text, kMonths[month - 1])) {
      return month;
    }
  }
  return std::nullopt;
}

// "-Jan-2024" behind a day.
std::optional<double> TakeNamedMonth(std::string_view& text, int day) {
  const char mark = text.empty() ? '\0' : text[0];
  if ((mark != '-' && mark != ' ') || !TakeChar(text, mark)) {
    return std::nullopt;
  }
  const auto month = TakeMonthName(text);
  if (!month || !TakeChar(text, mark)) {
    return std::nullopt;
  }
  const auto year = TakeYear(text);
  return year ? DaysOf(*year, *month, day) : std::nullopt;
}

// The three numbers of a date, with the same mark between them; the month may have a name. Short years stand behind
// two numbers of two digits, or behind slashes: "1.2.13" is a version.
std::optional<double> TakeDay(std::string_view& text, DateOrder order) {
  size_t first_digits = 0;
  while (first_digits < text.size() && static_cast<unsigned char>(text[first_digits] - '0') < 10) {
    ++first_digits;
  }
  const bool year_first = first_digits == kYearDigits;
  const auto first = TakeCount(text, 1, kYearDigits);
  if (!first || (!year_first && first_digits > 2) || text.empty()) {
    return std::nullopt;
  }
  std::string_view named = text;
  if (const auto days = year_first ? std::nullopt : TakeNamedMonth(named, *first)) {
    text = named;
    return days;
  }
  if (!year_first && order == DateOrder::kAuto) {
    return std::nullopt;
  }
  const char mark = text[0];
  if (mark != '-' && mark != '/' && mark != '.') {
    return std::nullopt;
  }
  TakeChar(text, mark);
  const size_t before = text.size();
  const auto second = TakeCount(text, 1, 2);
  const bool short_year = mark == '/' || (first_digits == 2 && before - text.size() == 2);
  if (!second || !TakeChar(text, mark)) {
    return std::nullopt;
  }
  const auto third = year_first   ? TakeCount(text, 1, 2)
                     : short_year ? TakeYear(text)
                                  : TakeCount(text, kYearDigits, kYearDigits);
  if (!third) {
    return std::nullopt;
  }
  if (year_first) {
    return DaysOf(*first, *second, *third);
  }
  return order == DateOrder::kDayFirst ? DaysOf(*third, *second, *first) : DaysOf(*third, *first, *second);
}

// Hours and minutes, perhaps seconds; 12-hour clocks with AM or PM.
std::optional<double> TakeTime_seconds(std::string_view& text) {
  const auto hour = TakeCount(text, 1, 2);
  if (!hour || !TakeChar(text, ':')) {
    return std::nullopt;
  }
  const auto minute = TakeCount(text, 2, 2);
  if (!minute || *hour >= 24 || *minute >= 60) {
    return std::nullopt;
  }
  double seconds = *hour * 3600 + *minute * 60;
  if (TakeChar(text, ':')) {
    const auto second = TakeCount(text, 2, 2);
    if (!second || *second >= 60) {
      return std::nullopt;
    }
    seconds += *second;
    if (text.size() > 1 && text[0] == '.') {
      text.remove_prefix(1);
      double place = 0.1;
      while (!text.empty() && static_cast<unsigned char>(text[0] - '0') < 10) {
        seconds += place * (text[0] - '0');
        place /= 10;
        text.remove_prefix(1);
      }
    }
  }
  std::string_view rest = text;
  TakeChar(rest, ' ');
  const bool pm = TakeWord(rest, "PM");
  if (pm || TakeWord(rest, "AM")) {
    if (*hour < 1 || *hour > 12) {
      return std::nullopt;
    }
    seconds += (pm ? 12 : 0) * 3600 - (*hour == 12 ? 12 * 3600 : 0);
    text = rest;
  }
  return seconds;
}

// "+1", "-3:30" behind UTC or GMT; 0 for none.
std::optional<double> TakeHoursAhead_seconds(std::string_view& text) {
  if (text.empty()) {
    return 0.0;
  }
  const double sign = text[0] == '-' ? -1 : 1;
  if (!TakeChar(text, '+') && !TakeChar(text, '-')) {
    return std::nullopt;
  }
  const auto hour = TakeCount(text, 1, 2);
  const auto minute = TakeChar(text, ':') ? TakeCount(text, 2, 2) : std::optional(0);
  constexpr int kMost = 14;
  return hour && minute && *hour <= kMost && *minute < 60 ? std::optional(sign * (*hour * 3600 + *minute * 60))
                                                          : std::nullopt;
}

// What a zone is ahead of UTC; 0 for none.
std::optional<double> TakeZone_seconds(std::string_view& text) {
  if (TakeWord(text, "Z")) {
    return 0.0;
  }
  std::string_view rest = text;
  TakeChar(rest, ' ');
  if (TakeWord(rest, "UTC") || TakeWord(rest, "GMT")) {
    text = rest;
    return TakeHoursAhead_seconds(text);
  }
  if (rest.empty() || (rest[0] != '+' && rest[0] != '-')) {
    return 0.0;
  }
  const double sign = rest[0] == '-' ? -1 : 1;
  rest.remove_prefix(1);
  const std::string_view before = rest;
  std::string_view hour_text = rest.substr(0, 2);
  const auto hour = TakeCount(hour_text, 2, 2);
  if (!hour) {
    return std::nullopt;
  }
  rest.remove_prefix(2);
  int minutes = 0;
  if (TakeChar(rest, ':') || !rest.empty()) {
    const auto minute = TakeCount(rest, 2, 2);
    if (!minute || *minute >= 60 || before.size() > 5) {
      return std::nullopt;
    }
    minutes = *minute;
  }
  text = rest;
  return sign * (*hour * 3600 + minutes * 60);
}

}  // namespace

bool ParseDate(std::string_view text, DateOrder order, double& days) {
  const auto day = TakeDay(text, order);
  if (!day) {
    return false;
  }
  days = *day;
  if (text.empty()) {
    return true;
  }
  if (!TakeChar(text, 'T') && !TakeChar(text, ' ')) {
    return false;
  }
  const auto time = TakeTime_seconds(text);
  if (!time) {
    return false;
  }
  const auto zone = TakeZone_seconds(text);
  if (!zone || !text.empty()) {
    return false;
  }
  days += (*time - *zone) / kDay_seconds;
  return true;
}

}  // namespace lamina
