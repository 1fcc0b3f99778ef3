// Names, and the one rule.
#include "lamina/nn/normalization.h"

#include "lamina/base/names.h"

namespace lamina {
namespace {

constexpr Named<Normalization> kNormalizations[] = {{"none", Normalization::kNone}, {"batch", Normalization::kBatch}};

}  // namespace

std::vector<std::string> NormalizationNames() { return NamesIn(kNormalizations); }

Normalization ParseNormalization(std::string_view name) {
  return ParseName(name, kNormalizations, "unknown normalization");
}

std::vector<bool> NormalizedLayers(std::span<const LayerSpec> layers, Normalization normalization,
                                   int64_t embedding_layers, const std::vector<bool>& frozen) {
  if (normalization == Normalization::kNone) {
    return {};
  }
  std::vector<bool> normalized(layers.size());
  for (auto l = static_cast<size_t>(embedding_layers); l + 1 < layers.size(); ++l) {
    normalized[l] = layers[l].synapse == Synapse::kDot && (frozen.empty() || !frozen[l]);
  }
  return normalized;
}

}  // namespace lamina
