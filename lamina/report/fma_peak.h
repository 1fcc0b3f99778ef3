// The machine's measured limit of fused multiply-adds, against which benchmarks give their share.
#pragma once

#include "lamina/base/matrix_view.h"

namespace lamina {

/// GFLOP/s (2 per multiply-add) of `threads` threads doing nothing but independent vector multiply-adds in registers,
/// in f32 or f64, with the widest vectors of this CPU. The best of several short runs; takes about 0.2 s.
double MeasureFmaPeak_gflops(DType dtype, int threads);

}  // namespace lamina
