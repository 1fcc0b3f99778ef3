// Cells of text as numbers, by the same rules for files and for columns of text.
#pragma once

#include <optional>
#include <string_view>

#include "lamina/data/files/table.h"

namespace lamina {

inline constexpr double kMostExactNumber = 9007199254740992;  // 2^53: the whole numbers below have a double each

/// The whole of `text` as a number with a decimal point, possibly infinite; false if it is none.
bool ParseWholeNumber(std::string_view text, double& value);

/// Whether `text`, read as `value`, is a whole number of more digits than a double keeps: an identifier.
bool LosesDigits(std::string_view text, double value);

/// "true" and "false", in small and capital letters.
std::optional<bool> ParseTruth(std::string_view text);

/// `text` as numbers (or dates) written like `format`; of flags also "true" and "false", which are 1 and 0. What is
/// none is missing, and in Column::odd but for marks of missing values.
Column NumbersOfText(const Column& text, bool is_date, const ColumnFormat& format, bool is_flag = false);

}  // namespace lamina
