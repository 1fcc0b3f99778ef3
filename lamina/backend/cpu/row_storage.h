// Weights in the orders that kernels of single rows read them in (row_task.h).
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/backend/cpu/row_kernels.h"
#include "lamina/base/buffer.h"

namespace lamina::cpu {

/// Weights that are not 0, for `lanes` neurons at a time.
struct ListedWeights {
  AlignedBuffer weights;  // of each input listed those of `lanes` neurons
  std::vector<int32_t> inputs;
  std::vector<int64_t> begin;  // of a vector of neurons; one more than there are
};

/// The lists of `numbers` (outputs × inputs, f32 or f64). None where it would save little: more than a quarter is
/// listed.
ListedWeights ListWeights(const Matrix& numbers, int64_t lanes);

/// Panels of neurons (RowTask), for `kernel`.
AlignedBuffer WeightsInPanels(const Matrix& numbers, const RowKernel& kernel);

}  // namespace lamina::cpu
