// Targets that are sums of columns, which limits would cut: amounts, and what they add up to.
#pragma once

#include <cstdint>
#include <span>

#include "lamina/data/files/table.h"

namespace lamina {

/// Whether a line through the number columns at `positions` answers `target` much better where they are standardized
/// than where they are kept between limits (Scaling::kRobust). It must leave a quarter of the target's variance at
/// most, and half of the other's squared error. Each half of at most 4,000 of `rows` is answered by a line through the
/// other half. No where columns are more than 200, or than a fourth of the rows.
bool LimitsCutASum(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                   int64_t target);

}  // namespace lamina
