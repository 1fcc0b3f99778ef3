// Scaled, then added: by two roundings whoever adds.
#include "lamina/cluster/shard_sum.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "lamina/base/team.h"
#include "lamina/cluster/rank_sum.h"

namespace lamina {
namespace {

constexpr int64_t kFresh = -1;    // the place of an array that is still where the caller put it
constexpr int64_t kBlock = 1024;  // elements that are scaled before they are added

// Scaled in memory first: fused with the sum it would be rounded once instead of twice, and the bits would depend on
// who adds.
template <class T>
void AddScaled(T* to, const T* more, T scale, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    std::array<T, kBlock> scaled;
    for (int64_t block = begin; block < end; block += kBlock) {
      const int64_t size = std::min(kBlock, end - block);
      for (int64_t i = 0; i < size; ++i) {
        scaled[static_cast<size_t>(i)] = scale * more[block + i];
      }
      for (int64_t i = 0; i < size; ++i) {
        to[block + i] += scaled[static_cast<size_t>(i)];
      }
    }
  });
}

}  // namespace

int64_t PlacePool::Take() {
  if (unused_.empty()) {
    places_.emplace_back(size_bytes_);
    return std::ssize(places_) - 1;
  }
  const int64_t place = unused_.back();
  unused_.pop_back();
  return place;
}

void PlacePool::GiveAll() {
  unused_.resize(places_.size());
  std::iota(unused_.begin(), unused_.end(), int64_t{0});
}

template <class T>
void ScaleArray(T* to, const T* from, T scale, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] = scale * from[i];
    }
  });
}

template <class T>
std::vector<T*> SumShards(IndexRange own, int64_t count, int threads, PlacePool& places,
                          const std::function<ScaledArray<T>(int64_t shard)>& array_of) {
  ScaledArray<T> array;
  TreeSum tree([&](int64_t left, int64_t right) {
    if (right == kFresh) {
      AddScaled(places.At<T>(left), array.data, array.scale, count, threads);
    } else {
      AddArrays(places.At<T>(left), places.At<T>(right), count, threads);
      places.Give(right);
    }
  });
  for (int64_t shard = own.begin; shard < own.end; ++shard) {
    array = array_of(shard);
    if (shard % 2 == 1 && shard > own.begin) {  // the shard before it waits to be added to
      tree.Push({0, shard}, kFresh);
      continue;
    }
    const int64_t place = places.Take();
    ScaleArray(places.At<T>(place), array.data, array.scale, count, threads);
    tree.Push({0, shard}, place);
  }
  std::vector<T*> terms;
  for (const auto& term : tree.terms()) {
    terms.push_back(places.At<T>(term.place));
  }
  return terms;
}

template std::vector<float*> SumShards(IndexRange, int64_t, int, PlacePool&,
                                       const std::function<ScaledArray<float>(int64_t)>&);
template std::vector<double*> SumShards(IndexRange, int64_t, int, PlacePool&,
                                        const std::function<ScaledArray<double>(int64_t)>&);
template void ScaleArray(float*, const float*, float, int64_t, int);
template void ScaleArray(double*, const double*, double, int64_t, int);

}  // namespace lamina
