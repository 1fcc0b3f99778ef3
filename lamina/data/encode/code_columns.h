// Number columns whose values name something: a school, a county, a product.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

/// Codes are whole numbers from -kMostCode to kMostCode, which a float holds exactly: every export tells them apart.
inline constexpr double kMostCode = 1 << 24;
inline bool IsCode(double value) { return value == std::floor(value) && std::abs(value) <= kMostCode; }

/// Whether all values of a column in `rows` are such numbers, or missing.
bool HoldsCodes(const Column& column, std::span<const int64_t> rows);

/// The number columns at `positions` whose values name something, as the rows tell. The mean of the other rows of a
/// value must answer `target` better than means of its neighbors do, of the best number of them. It must leave less of
/// the target's variance (for `classes`, of their shares) by a hundredth or more. That must be so for many values. Each
/// one's gain is taken to the power 0.75, with its sign. The sum of these must be 2.75 times the root of the sum of
/// their squares or more. Values of fewer than 5 rows do not count; 20 others are needed, which half of the rows have.
/// At most 20,000 rows are asked. (docs/decisions/0128)
std::vector<int64_t> ColumnsOfCodes(const Table& table, std::span<const int64_t> rows,
                                    std::span<const int64_t> positions, int64_t target, bool classes);

}  // namespace lamina
