// The number formats of spreadsheets: which of them show dates, times and per cent, and such cells as text. Private to
// the readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lamina {

enum class CellFormat {
  kPlain,
  kPercent,
  kDate,     // with or without a time of day
  kTime,     // of day alone
  kElapsed,  // hours that may be more than a day has
};

/// By the number that Excel has for its own formats.
CellFormat BuiltInFormat(int64_t number);
/// By the code of a format, "dd.mm.yyyy", "0.0%", "[h]:mm".
CellFormat FormatOfCode(std::string_view code);

/// A cell of kDate, kTime or kElapsed as "2024-03-01", "2024-03-01 12:30:00", "12:30:00", "25:30:00", with thousandths
/// of a second where it has such. `days`: since the end of 1899, or since 1904 began; "" where no date is that far
/// away.
std::string DateCellText(double days, CellFormat format, bool since_1904);
/// "26:30:00" of 95,400,000.
std::string HoursText(int64_t milliseconds);

/// A cell of kPercent in per cent, without the sign: "12.5" of 0.125.
std::string PercentCellText(double value);

/// "A" of 0, "Z", "AA", ...
std::string ColumnLetters(int64_t column);

}  // namespace lamina
