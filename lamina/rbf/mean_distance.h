// Where radii start.
#pragma once

#include <cstdint>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// Mean distance, as `synapse` measures it, between up to 10,000 random pairs of rows in f32 or f64 (seeded).
double MeanDistance(Synapse synapse, ConstMatrixView rows, uint64_t seed);

}  // namespace lamina
