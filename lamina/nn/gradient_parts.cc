// How a gradient is cut: by what it holds alone.
#include "lamina/nn/gradient_parts.h"

#include <algorithm>

#include "lamina/backend/backend.h"

namespace lamina {
namespace {

// Nothing hides the exchange of the last part, and every part packs the layer's inputs again. With 784-1024-10, eight
// parts take 23 % longer than one where most inputs are zero, 12 % where none is.
constexpr int64_t kParts = 6;
constexpr int64_t kUnit = 16;  // parts begin at whole tiles

}  // namespace

std::vector<GradientPart> GradientPartsOf(std::span<const LayerSpec> layers, std::span<const LayerOffsets> offsets,
                                          const std::vector<bool>& frozen) {
  const auto trains = [&](size_t l) { return frozen.empty() || !frozen[l]; };
  int64_t all = 0;
  for (size_t l = 0; l < layers.size(); ++l) {
    all += trains(l) ? layers[l].parameter_count() : 0;
  }
  std::vector<GradientPart> parts;
  for (size_t l = layers.size(); l-- > 0;) {
    if (!trains(l)) {
      continue;
    }
    const LayerSpec& layer = layers[l];
    const int64_t wanted = (kParts * layer.parameter_count() + all / 2) / all;
    const int64_t count =
        std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, layer.outputs / (PreparedLayer::kNeuronsApart + kUnit)));
    for (int64_t i = 0; i < count; ++i) {
      const auto boundary = [&](int64_t n) {
        return n == count ? layer.outputs : layer.outputs * n / count / kUnit * kUnit;
      };
      GradientPart part;
      part.layer = l;
      part.begin = boundary(i);
      part.end = boundary(i + 1);
      part.weights = offsets[l].weights + part.begin * layer.inputs;
      part.weight_count = (part.end - part.begin) * layer.inputs;
      part.bias = offsets[l].bias + part.begin;
      part.bias_count = layer.bias ? part.end - part.begin : 0;
      parts.push_back(part);
    }
  }
  return parts;
}

std::vector<int64_t> SizesOf_bytes(std::span<const GradientPart> parts, DType dtype) {
  std::vector<int64_t> sizes;
  for (const GradientPart& part : parts) {
    sizes.push_back(part.count() * DTypeSize_bytes(dtype));
  }
  return sizes;
}

}  // namespace lamina
