// In how many bits a model keeps the weights of its products, and rounding to them
// (docs/decisions/0013-compressed-weights.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// kExact: the network's own type. kI8: whole numbers from -127 to 127 times a scale for each neuron.
enum class WeightStorage : uint8_t { kExact, kBF16, kF16, kI8 };

/// "exact", "bf16", "f16", "i8"; ends with a 0.
std::string_view WeightStorageName(WeightStorage storage);
std::vector<std::string> WeightStorageNames();
WeightStorage ParseWeightStorage(std::string_view name);

/// Whether the weights of such a layer are rounded at all: products are, centers of distances stay as they are.
inline bool StoresWeights(const LayerSpec& layer, WeightStorage storage) {
  return storage != WeightStorage::kExact && !IsDistance(layer.synapse);
}

/// What an element of the weights is that a network of `dtype` has: bf16, f16 or i8; kExact: `dtype`.
DType StoredType(WeightStorage storage, DType dtype);

/// The weights of a layer, kept in some way.
struct StoredWeights {
  Matrix numbers;             // outputs × inputs of StoredType()
  std::vector<float> scales;  // i8: weight = number * scale of its row; else empty

  /// The weights as numbers again: exact, in f32 as in f64. `to`: outputs × inputs.
  void Widen(MatrixView to) const;
};

/// Rounds to nearest, ties to even; kExact copies. `weights`: outputs × inputs of f32 or f64. A scale is the largest
/// weight of its row over 127, rounded up to 16 significant bits. Number times scale is then an f32, and rounding twice
/// changes nothing. Throws Error(kUnsupported), naming the place, where a weight is not finite or beyond the range of
/// the type.
StoredWeights StoreWeights(ConstMatrixView weights, WeightStorage storage);

}  // namespace lamina
