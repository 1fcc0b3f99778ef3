// A shard that is the second of two is added where it is, others are kept until theirs comes.
#include "lamina/cluster/shard_sum.h"

#include <numeric>

namespace lamina {
namespace {

constexpr int64_t kFresh = -1;  // the place of an array that is still where the caller put it

}  // namespace

int64_t PlacePool::Take() {
  if (unused_.empty()) {
    places_.push_back(memory_.Allocate(size_bytes_));
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
std::vector<T*> SumShards(IndexRange own, int64_t count, PlacePool& places,
                          const std::function<ScaledArray<T>(int64_t shard)>& array_of) {
  ScaledArray<T> array;
  TreeSum tree([&](int64_t left, int64_t right) {
    if (right == kFresh) {
      places.math().AddScaled(places.At<T>(left), array.data, array.scale, count);
    } else {
      places.math().Add(places.At<T>(left), places.At<T>(right), count);
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
    places.math().Scale(places.At<T>(place), array.data, array.scale, count);
    tree.Push({0, shard}, place);
  }
  std::vector<T*> terms;
  for (const auto& term : tree.terms()) {
    terms.push_back(places.At<T>(term.place));
  }
  return terms;
}

template std::vector<float*> SumShards(IndexRange, int64_t, PlacePool&,
                                       const std::function<ScaledArray<float>(int64_t)>&);
template std::vector<double*> SumShards(IndexRange, int64_t, PlacePool&,
                                        const std::function<ScaledArray<double>(int64_t)>&);

}  // namespace lamina
