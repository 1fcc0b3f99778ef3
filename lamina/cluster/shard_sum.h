// The sum over the shards that one rank computes: the nodes of the tree (shards.h) that lie in them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lamina/cluster/rank_memory.h"
#include "lamina/cluster/shards.h"

namespace lamina {

/// Pieces of memory of one size, kept from one use to the next.
class PlacePool {
 public:
  PlacePool(int64_t size_bytes, const RankMemory& memory) : size_bytes_(size_bytes), memory_(memory) {}
  int64_t Take();
  void Give(int64_t place) { unused_.push_back(place); }
  void GiveAll();
  ArrayMath& math() const { return memory_.math(); }
  template <class T>
  T* At(int64_t place) {
    return static_cast<T*>(places_[static_cast<size_t>(place)]->data());
  }

 private:
  int64_t size_bytes_;
  const RankMemory& memory_;
  std::vector<std::unique_ptr<Buffer>> places_;
  std::vector<int64_t> unused_;
};

/// What a shard adds: `scale` times each element.
template <class T>
struct ScaledArray {
  const T* data = nullptr;
  T scale = 1;
};

/// The sums of arrays of `count` elements, asked for in the order of `own`, in places of `places` that stay taken:
/// NodesOf(own). T: float or double.
template <class T>
std::vector<T*> SumShards(IndexRange own, int64_t count, PlacePool& places,
                          const std::function<ScaledArray<T>(int64_t shard)>& array_of);

}  // namespace lamina
