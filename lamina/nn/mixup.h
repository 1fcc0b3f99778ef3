// Mixup (Zhang, Cisse, Dauphin and Lopez-Paz 2018): a step sees its samples mixed with one another.
#pragma once

#include <cstdint>

namespace lamina {

/// Streams of Random for the steps: above those of dropout.
inline constexpr uint64_t kMixupStreams = uint64_t{1} << 48;

/// A share by Beta(alpha, alpha), 0 < alpha <= 1, of the given stream.
double MixupShare(double alpha, uint64_t seed, uint64_t stream);

}  // namespace lamina
