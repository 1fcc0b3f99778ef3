// A network whose weights are rounded to fewer bits.
#pragma once

#include "lamina/neuron/weight_storage.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Throws Error(kUnsupported) for a network of distances only, which has no weights to keep in fewer bits.
void RequireStorage(const Network& network, WeightStorage storage);

/// The weights of a layer as `storage` keeps them; of distances exact. Throws Error(kUnsupported) as StoreWeights(),
/// naming the layer.
StoredWeights StoreLayer(const Network& network, size_t layer, WeightStorage storage);

/// Rounds the weights of products to what `storage` can hold, in place and in the network's own type. What the network
/// then computes on any backend is what the kept weights answer. Rounding again changes nothing. Throws
/// Error(kUnsupported) as RequireStorage() and StoreLayer() do.
void RoundWeights(Network& network, WeightStorage storage);

/// Bytes of all parameters, weights kept so.
int64_t StoredBytes(const Network& network, WeightStorage storage);

}  // namespace lamina
