// Orders by seed and epoch, of all rows or of each shard's.
#include "lamina/train/epoch_rows.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "lamina/base/check.h"
#include "lamina/base/random.h"
#include "lamina/train/block_order.h"

namespace lamina {
namespace {

constexpr uint64_t kShuffleStream = 1000;              // + epoch; streams below belong to the initialization
constexpr uint64_t kShardStreams = uint64_t{1} << 40;  // times the shard, from 1 on, + epoch

}  // namespace

EpochRows::EpochRows(const TrainOptions& options, int64_t own_rows, const Communicator* ranks)
    : options_(options),
      rows_(options.sharded_rows > 0 ? options.sharded_rows : own_rows),
      batch_(options.lbfgs ? rows_ : std::min(options.batch, rows_)) {
  if (options.sharded_rows > 0) {
    shards_.emplace(rows_, batch_, options.shards, ranks == nullptr ? 1 : ranks->size(),
                    ranks == nullptr ? 0 : ranks->rank());
    Check(shards_->own().count() == own_rows, "a rank has the rows of its shards");
  }
}

std::vector<int64_t> EpochRows::Order(int64_t count, int64_t window_rows, uint64_t stream) const {
  Random random(options_.step.seed, stream);
  if (options_.shuffle && options_.window_rows > 0 && options_.window_rows < rows_) {
    return BlockOrder(count, window_rows, random);
  }
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (options_.shuffle) {
    random.Shuffle(std::span(order));
  }
  return order;
}

void EpochRows::SetOrder(int64_t epoch, DataFeed& feed) const {
  const auto of_epoch = static_cast<uint64_t>(epoch);
  if (shards_) {
    feed.SetOrder(shards_->Order([&](int64_t shard, int64_t count) {
      const int64_t window_rows = options_.window_rows / batch_ * PartOf(batch_, options_.shards, shard).count();
      return Order(count, window_rows, (static_cast<uint64_t>(shard) + 1) * kShardStreams + of_epoch);
    }));
  } else if (options_.shuffle && !options_.lbfgs) {
    feed.SetOrder(Order(rows_, options_.window_rows, kShuffleStream + of_epoch));
  }
}

void EpochRows::Load(int64_t step, int64_t count, DataFeed& feed, TrainingSteps& work) const {
  const int64_t begin = step * own_batch();
  if (!shards_) {
    feed.Load(begin, std::min(rows_, begin + count * batch_), work);
    return;
  }
  if (begin < feed.rows()) {  // a rank may have no row of the last batch
    feed.Load(begin, std::min(feed.rows(), begin + own_batch()), work);
  }
  const IndexRange whole = shards_->BatchOf(step);
  work.begin += whole.begin - begin;
  work.end = work.begin + whole.count();
}

}  // namespace lamina
