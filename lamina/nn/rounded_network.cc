// Rounds a network layer by layer.
#include "lamina/nn/rounded_network.h"

#include <fmt/format.h>

#include <algorithm>

namespace lamina {

void RequireStorage(const Network& network, WeightStorage storage) {
  const std::vector<LayerSpec>& layers = network.layers();
  if (storage != WeightStorage::kExact && std::none_of(layers.begin(), layers.end(), [&](const LayerSpec& layer) {
        return StoresWeights(layer, storage);
      })) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("weights in {} are of layers of products (dot), and the network has distances only",
                            WeightStorageName(storage)),
                {.value = network.ShapeText(), .remedy = "Keep the weights exact (--weights exact)."});
  }
}

StoredWeights StoreLayer(const Network& network, size_t layer, WeightStorage storage) {
  try {
    return StoreWeights(network.Weights(layer),
                        StoresWeights(network.layers()[layer], storage) ? storage : WeightStorage::kExact);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("layer {}: {}", layer + 1, error.message()), error.context());
  }
}

void RoundWeights(Network& network, WeightStorage storage) {
  RequireStorage(network, storage);
  for (size_t l = 0; l < network.layers().size(); ++l) {
    StoreLayer(network, l, storage).Widen(network.Weights(l));
  }
}

int64_t StoredBytes(const Network& network, WeightStorage storage) {
  int64_t size_bytes = network.parameter_count() * DTypeSize_bytes(network.dtype());
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerSpec& layer = network.layers()[l];
    if (StoresWeights(layer, storage)) {
      const DType stored = StoredType(storage, network.dtype());
      size_bytes -=
          layer.weight_count() * network.blocks(l) * (DTypeSize_bytes(network.dtype()) - DTypeSize_bytes(stored));
      size_bytes +=
          storage == WeightStorage::kI8 ? layer.outputs * network.blocks(l) * static_cast<int64_t>(sizeof(float)) : 0;
    }
  }
  return size_bytes;
}

}  // namespace lamina
