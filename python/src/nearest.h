// The nearest rows of one matrix for every row of another, without the distances ever being stored whole.
#pragma once

#include <cstdint>
#include <functional>

#include "lamina/backend/backend.h"

namespace lamina::python {

struct Neighbours {
  double* distances = nullptr;  // rows of x × k, ascending
  int64_t* indices = nullptr;   // rows of x × k: rows of y; of equal distances the lower one first
};

/// The `k` nearest rows of `y` for every row of `x` by `metric` (l1, l2, l2sq). x and y of one type, equally many
/// columns, 1 <= k <= rows of y: Error(kInvalidArgument) otherwise. `backend` in host memory. The same bits for every
/// number of threads. False where stop() said true, asked after every block.
bool FindNearest(ConstMatrixView x, ConstMatrixView y, int64_t k, Synapse metric, const Backend& backend,
                 const Neighbours& out, const std::function<bool()>& stop);

}  // namespace lamina::python
