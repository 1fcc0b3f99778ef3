// Shards of rows, summed one after the other and by a tree.
#include "lamina/rbf/elm_shards.h"

#include <algorithm>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/rank_memory.h"
#include "lamina/cluster/rank_sum.h"
#include "lamina/cluster/shards.h"

namespace lamina {
namespace {

constexpr int64_t kRowsAtOnce = 1024;  // before somebody asks whether to stop

// The rows of `train` in a range, added to `sums`; false where it was stopped.
bool AddRange(const Dataset& train, IndexRange range, const ElmOptions& options, ElmSums& sums) {
  const std::span<const double> weights = train.sample_weights;
  for (int64_t begin = range.begin; begin < range.end; begin += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, range.end - begin);
    sums.Add(train.features.view().Rows(begin, count), train.targets.view().Rows(begin, count),
             weights.empty() ? weights : weights.subspan(static_cast<size_t>(begin), static_cast<size_t>(count)));
    if (options.progress) {
      options.progress(begin + count - range.begin);
    }
    if (options.stop_requested && options.stop_requested()) {
      return false;
    }
  }
  return true;
}

// The same of all rows, by shards of which each rank sums some.
bool AddShards(const Dataset& train, const ElmOptions& options, int threads, ElmSums& sums) {
  RequireShards(options.ranks == nullptr ? 1 : options.ranks->size(), options.shards, "the rows");
  const MatrixView view = sums.sums();
  const int64_t count = view.rows * view.cols;
  auto* const elements = static_cast<double*>(view.data);
  RankMemory memory(options.ranks, threads);
  RankSum all(count, memory);
  std::vector<AlignedBuffer> places;
  std::vector<int64_t> unused;
  const auto at = [&](int64_t place) { return static_cast<double*>(places[static_cast<size_t>(place)].data()); };
  TreeSum tree([&](int64_t left, int64_t right) {
    memory.math().Add(at(left), at(right), count);
    unused.push_back(right);
  });
  const IndexRange own = PartOf(options.shards, all.size(), all.rank());
  bool complete = true;
  for (int64_t shard = own.begin; shard < own.end && complete; ++shard) {
    std::fill(elements, elements + count, 0.0);
    complete = AddRange(train, PartOf(train.size(), options.shards, shard), options, sums);
    if (unused.empty()) {
      unused.push_back(std::ssize(places));
      places.emplace_back(count * static_cast<int64_t>(sizeof(double)));
    }
    const int64_t place = unused.back();
    unused.pop_back();
    std::copy(elements, elements + count, at(place));
    tree.Push({0, shard}, place);
  }
  if (all.size() > 1 ? options.ranks->Any(!complete) : !complete) {
    return false;
  }
  std::vector<double*> terms;
  for (const auto& term : tree.terms()) {
    terms.push_back(at(term.place));
  }
  all.Sum<double>(options.shards, terms, elements);
  return true;
}

}  // namespace

bool AddElmRows(const Dataset& train, const ElmOptions& options, int threads, ElmSums& sums) {
  return options.shards > 0 ? AddShards(train, options, threads, sums)
                            : AddRange(train, {0, train.size()}, options, sums);
}

}  // namespace lamina
