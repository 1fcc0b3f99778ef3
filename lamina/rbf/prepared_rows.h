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
  std::vector<int64_t> groups;  // given, or of equal rows
  std::vector<double> times;
};

/// Prepares rows, all of which must have a weight above 0, in f64.
PreparedRows Prepared(const Dataset& rows);

}  // namespace lamina
