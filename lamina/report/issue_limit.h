// The machine's measured limits of issuing arithmetic, against which benchmarks give their share.
#pragma once

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// Synapses a second that `threads` threads reach doing nothing but the arithmetic of one synapse on independent
/// vectors in registers, in f32 or f64, with the widest vectors of this CPU: dot one multiply-add; l1 subtract,
/// absolute value and an addition written as a multiply-add by 1 (0004-distance-synapses.md); l2 and l2sq subtract and
/// multiply-add. The best of several short runs; takes about 0.2 s.
double MeasureSynapseLimit(Synapse synapse, DType dtype, int threads);

/// The limit of dot in GFLOP/s (2 per multiply-add).
double MeasureFmaPeak_gflops(DType dtype, int threads);

}  // namespace lamina
