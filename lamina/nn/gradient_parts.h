// Parts of a network's gradient: neurons whose gradients are computed together, and can travel while others are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/nn/network.h"

namespace lamina {

/// Neurons [begin, end) of a layer. Offsets in elements of the flat arrays, as in Network::parameters().
struct GradientPart {
  size_t layer = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t weights = 0;  // offset of the first one's
  int64_t weight_count = 0;
  int64_t bias = 0;  // offset of the first one's
  int64_t bias_count = 0;

  int64_t count() const { return weight_count + bias_count; }
};

/// The layers from last to first. One with more than a sixth of the parameters is cut into that many parts, each of
/// PreparedLayer::kNeuronsApart neurons or more. `frozen`: layers left out; empty: none.
std::vector<GradientPart> GradientPartsOf(std::span<const LayerSpec> layers, std::span<const LayerOffsets> offsets,
                                          const std::vector<bool>& frozen);

/// What every part takes.
std::vector<int64_t> SizesOf_bytes(std::span<const GradientPart> parts, DType dtype);

}  // namespace lamina
