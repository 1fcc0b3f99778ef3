// How many threads compute a layer together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lamina/base/team.h"
#include "lamina/neuron/problem.h"

namespace lamina::cpu {

// Multiply-adds that a thread must have. A second thread gains from 64 K on (10
// x 1024 x 16 samples: 1.9 to 1.4 us). Where other programs share the cores,
// though, each parallel region may wait a time slice of 8 ms for its partner.
inline constexpr int64_t kWorkPerThread = 128 * 1024;

// Activation and store of one result, in multiply-adds: with short sums they are most of the work.
inline constexpr int64_t kWorkOfOutput = 16;

inline int ThreadsFor(int64_t batch, const LayerSpec& layer, int threads) {
  const int64_t work = std::max<int64_t>(1, batch) * (layer.weight_count() + layer.outputs * kWorkOfOutput);
  return static_cast<int>(std::clamp<int64_t>(work / kWorkPerThread, 1, threads));
}

}  // namespace lamina::cpu
