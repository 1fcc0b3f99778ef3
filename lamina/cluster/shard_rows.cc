// Ranges of rows in closed form: whole batches give each shard its part of a batch, the last one its part of the rest.
#include "lamina/cluster/shard_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"

namespace lamina {

ShardRows::ShardRows(int64_t rows, int64_t batch, int64_t shards, int64_t ranks, int64_t rank)
    : rows_(rows), batch_(std::min(batch, rows)), shards_(shards), own_(PartOf(shards, ranks, rank)) {
  if (batch_ < shards) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a batch of {} rows has none of some of the {} shards that own the rows", batch_, shards),
                {.value = fmt::format("{} training rows, batch {}", rows, batch),
                 .remedy = "Give a larger batch, fewer shards (--shards), or leave --shard-data out."});
  }
  RequireShards(ranks, shards, "a batch");
  last_ = rows_ % batch_;
}

IndexRange ShardRows::BatchOf(int64_t step) const {
  const int64_t count = std::min(batch_, rows_ - step * batch_);
  const int64_t begin = step * own_batch() - count * own_.begin / shards_;
  return {begin, begin + count};
}

std::vector<int64_t> ShardRows::Order(
    const std::function<std::vector<int64_t>(int64_t shard, int64_t count)>& order_of) const {
  std::vector<int64_t> order(static_cast<size_t>(own().count()));
  for (int64_t shard = own_.begin; shard < own_.end; ++shard) {
    const IndexRange rows = OfShard(shard);
    const std::vector<int64_t> taken = order_of(shard, rows.count());
    auto next = taken.begin();
    for (int64_t step = 0; next != taken.end(); ++step) {
      const IndexRange whole = BatchOf(step);
      const IndexRange part = PartOf(whole.count(), shards_, shard);
      for (int64_t i = part.begin; i < part.end; ++i, ++next) {
        order[static_cast<size_t>(whole.begin + i)] = rows.begin - own().begin + *next;
      }
    }
  }
  return order;
}

}  // namespace lamina
