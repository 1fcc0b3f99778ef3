// Rows as kernel machines take them.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

struct PreparedRows {
  Matrix x;
  Matrix y;                     // centred
  std::vector<double> weights;  // or empty
  std::vector<double> means;    // of the targets
  std::vector<int64_t> groups;  // given, or of equal rows; empty: rows are left out one by one
  std::vector<double> times;
};

/// Prepares rows, all of which must have a weight above 0, in f64. `equal_together`: equal ones are a group, where no
/// others are given.
PreparedRows Prepared(const Dataset& rows, bool equal_together = true);

/// Whether equal rows are copies, which rows to come will not have (docs/decisions/0134). Less than a fifth of the rows
/// have an equal one then; or nearly all have, with the same target; or all are equal. Else rows recur, and each tells
/// how the others answer it.
bool EqualRowsAreCopies(const Dataset& rows);

}  // namespace lamina
