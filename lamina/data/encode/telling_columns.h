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

/// Those of the number columns at `positions` that tell nothing of the target by themselves in `rows`: their F test (of
/// a line for numbers, of the means of classes) does not pass where one of ten that pass may do so by chance (Benjamini
/// and Hochberg 1995). None where all of them fail: better all than none. Missing values are not looked at.
std::vector<int64_t> ColumnsThatTellNothing(const Table& table, std::span<const int64_t> rows,
                                            std::span<const int64_t> positions, int64_t target, bool classes);

}  // namespace lamina
