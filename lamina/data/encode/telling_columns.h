// Which columns of a wide table tell of the target.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

/// The probability that an F statistic with `above` and `below` degrees of freedom is larger than `f` by chance.
double FTestP(double f, double above, double below);

/// The reason that is said of such columns.
inline constexpr const char* kTellsNothing = "tells nothing of the target by itself";

/// The number columns at `positions` that by themselves tell nothing of the target in `rows`: they fail their F test.
/// It tests a line for numbers, means for classes; one in ten that pass may do so by chance (Benjamini and Hochberg
/// 1995). None where all fail: keeping all is better than keeping none. Missing values are not looked at.
std::vector<int64_t> ColumnsThatTellNothing(const Table& table, std::span<const int64_t> rows,
                                            std::span<const int64_t> positions, int64_t target, bool classes);

}  // namespace lamina
