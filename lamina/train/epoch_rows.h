// The training rows that a process has, in batches of an epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lamina/backend/training_steps.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/shard_rows.h"
#include "lamina/train/data_feed.h"
#include "lamina/train/train_options.h"

namespace lamina {

/// All rows, or those of this rank's shards where the options say that shards own rows. What is taken when depends on
/// options and seed, not on ranks.
class EpochRows {
 public:
  /// `own_rows`: how many this process has. `ranks` may be null. Throws Error(kInvalidArgument) where a shard has none.
  EpochRows(const TrainOptions& options, int64_t own_rows, const Communicator* ranks);

  /// Rows of all ranks together.
  int64_t rows() const { return rows_; }
  int64_t batch() const { return batch_; }
  int64_t steps() const { return (rows_ + batch_ - 1) / batch_; }
  /// The rows of a whole batch, and of a window (DataFeed), that this process has.
  int64_t own_batch() const { return shards_ ? shards_->own_batch() : batch_; }
  int64_t own_window() const { return options_.window_rows / batch_ * own_batch(); }

  /// Sets the order in which an epoch takes the rows.
  void SetOrder(int64_t epoch, DataFeed& feed) const;
  /// The next steps for ShardedSteps or an Executor: `count` of them or fewer; where shards own the rows one, of which
  /// only this process's samples are there.
  void Load(int64_t step, int64_t count, DataFeed& feed, TrainingSteps& work) const;

 private:
  std::vector<int64_t> Order(int64_t count, int64_t window_rows, uint64_t stream) const;

  const TrainOptions& options_;
  std::optional<ShardRows> shards_;  // none: all rows are here
  int64_t rows_;
  int64_t batch_;
};

}  // namespace lamina
