// Training rows that belong to the shards of a batch, so that a rank needs those of its own shards alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lamina/cluster/shards.h"

namespace lamina {

/// Each shard owns a range of n rows in their order, and every batch of an epoch takes its parts (PartOf) from all
/// shards' rows. Each shard holds as many rows as an epoch takes of it. Rows, batch and shards decide which shard has a
/// row, not ranks. A rank owns the rows of its shards, which are one range, too.
class ShardRows {
 public:
  /// `batch` larger than the rows: all rows. Throws Error(kInvalidArgument) where a shard has no row of a whole batch,
  /// and where there are more ranks than shards.
  ShardRows(int64_t rows, int64_t batch, int64_t shards, int64_t ranks = 1, int64_t rank = 0);

  int64_t batch() const { return batch_; }
  /// The rows of a shard.
  IndexRange OfShard(int64_t shard) const { return {Begin(shard), Begin(shard + 1)}; }
  /// The rows of this rank.
  IndexRange own() const { return {Begin(own_.begin), Begin(own_.end)}; }
  /// This rank's rows of a whole batch.
  int64_t own_batch() const { return batch_ * own_.end / shards_ - batch_ * own_.begin / shards_; }
  /// Where the batch of a step would be among this rank's samples (Order()) if the parts of all shards were there. Only
  /// the parts of its shards are: they begin at step * own_batch(), and the range may begin below 0.
  IndexRange BatchOf(int64_t step) const;
  /// The rows of this rank, counted from own().begin, as an epoch takes them: batch after batch, in each the parts of
  /// its shards. `order_of(shard, count)` says in which order a shard's `count` rows are taken: numbers from 0.
  std::vector<int64_t> Order(const std::function<std::vector<int64_t>(int64_t shard, int64_t count)>& order_of) const;

 private:
  int64_t Begin(int64_t shard) const { return rows_ / batch_ * (batch_ * shard / shards_) + last_ * shard / shards_; }

  int64_t rows_;
  int64_t batch_;
  int64_t shards_;
  int64_t last_;    // rows of the last batch where that is no whole one
  IndexRange own_;  // shards
};

}  // namespace lamina
