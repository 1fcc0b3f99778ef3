// Mixup (Zhang, Cisse, Dauphin and Lopez-Paz 2018): a step sees its samples mixed with one another. In host memory.
#pragma once

#include <cstdint>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Streams of Random for the steps: above those of dropout.
inline constexpr uint64_t kMixupStreams = uint64_t{1} << 48;

/// A share by Beta(alpha, alpha), 0 < alpha <= 1, of the given stream.
double MixupShare(double alpha, uint64_t seed, uint64_t stream);

/// Every row becomes `share` of itself and the rest of the row behind it, the last one of what the first one was. Rows
/// must lie behind one another, f32 or f64.
void MixRows(double share, MatrixView rows) noexcept;

}  // namespace lamina
