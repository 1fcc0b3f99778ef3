// Weights of a layer that has none yet.
#pragma once

#include <cstdint>
#include <functional>

#include "lamina/base/row_source.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// Seeded weights for `w` (outputs × inputs, of x's type). Distances: different random rows of x, in their order;
/// Error(kInvalidArgument) where they are too few. dot: uniform within sqrt(6 / (inputs + outputs)) (Glorot and Bengio
/// 2010); Error(kInvalidArgument) for integers. `finished` is told of complete rows of w.
void DrawWeights(const LayerSpec& layer, RowSource& x, uint64_t seed, MatrixView w,
                 const std::function<void(int64_t begin, int64_t rows)>& finished = {});

}  // namespace lamina
