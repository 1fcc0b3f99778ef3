// Training steps whose gradient is summed over shards of the batch, in this process or over the ranks of a job.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lamina/backend/training_steps.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/overlapped_gradient.h"
#include "lamina/cluster/rank_memory.h"
#include "lamina/cluster/rank_sum.h"
#include "lamina/cluster/shard_sum.h"
#include "lamina/cluster/shards.h"
#include "lamina/nn/executor.h"

namespace lamina {

struct ShardOptions {
  int64_t shards = 1;
  SentAs gradients = SentAs::kItself;
  bool own_rows = false;  // shards own rows (ShardRows): of a batch of fewer rows than shards some have none
};

/// Every batch is cut into `shards` ranges of rows. A shard's gradient is computed as one; a tree over the shards sums
/// those of all (RankSum), and every rank takes the step. Parameters have the same bits on all ranks, for any number of
/// ranks, one included. Where possible, exchanges run while the rest of the gradient is computed (OverlappedGradient).
/// Where the ranks' devices exchange by themselves, only the loss comes to the host, and the step is recorded. One
/// caller at a time.
class ShardedSteps {
 public:
  /// `executor` has room for SamplesOfShard(); it and `backend` outlive this. `ranks` null: this process alone. Throws
  /// Error(kInvalidArgument) where a rank would have nothing to do. Collective. `batch`: the most samples of a step.
  ShardedSteps(Executor& executor, const Backend& backend, DType dtype, const ShardOptions& options, int64_t batch,
               Communicator* ranks);

  /// The most samples of a shard of a batch.
  static int64_t SamplesOfShard(int64_t batch, int64_t shards) { return (batch + shards - 1) / shards; }

  /// Whether what ranks exchange is overlapped with computing; of one process, whether it would be.
  const Verdict& overlaps() const { return overlaps_; }
  /// What carries gradients from rank to rank: RankMemory::Describe().
  std::string ExchangedBy() const { return memory_.Describe(); }
  /// The sizes of the parts that then travel; empty where it is not overlapped.
  std::vector<int64_t> PartSizes_bytes() const {
    return overlaps_ ? SizesOf_bytes(executor_.Parts(), dtype_) : std::vector<int64_t>();
  }

  /// As Executor::Steps(). Collective: all ranks are asked for the same steps, and all stop where one is to stop. Only
  /// samples of this rank's shards are read; the others need not be there (ShardRows::BatchOf()).
  int64_t Steps(const TrainingSteps& work);
  /// The sum of of(i) for i in [0, parts), in this order; every rank asks for some of them. Collective.
  LossSums SumOver(int64_t parts, const std::function<LossSums(int64_t)>& of);
  /// Whether it is true on any rank. Collective.
  bool Any(bool mine) { return ranks_ != nullptr && ranks_->size() > 1 ? ranks_->Any(mine) : mine; }

 private:
  int64_t size() const { return ranks_ == nullptr ? 1 : ranks_->size(); }
  int64_t rank() const { return ranks_ == nullptr ? 0 : ranks_->rank(); }
  /// Into how many shards a batch of so many rows is cut.
  int64_t ShardsOf(int64_t rows) const { return own_rows_ ? shards_ : std::min(shards_, rows); }
  LossSums Step(const TrainingSteps& work, IndexRange rows, const UpdateRule& rule);
  void SumGradient(const TrainingSteps& work, IndexRange rows);
  Verdict Overlaps() const;
  template <class T>
  std::vector<T*> SumOwn(const TrainingSteps& work, IndexRange rows, int64_t shards, int64_t whole);
  void ClearSums();
  void ReadSums(std::vector<LossSums>& sums) const;
  void Share(std::vector<LossSums>& sums);

  Executor& executor_;
  const Backend& backend_;
  DType dtype_;
  int64_t shards_;
  bool own_rows_;
  Communicator* ranks_;
  int64_t count_;  // of the elements of a gradient
  RankMemory memory_;
  RankSum sum_;
  PlacePool places_;                         // memory of terms of the sum
  std::unique_ptr<Buffer> zeros_;            // the gradient of a shard without rows
  std::unique_ptr<Buffer> sums_;             // losses of the shards of a step
  std::unique_ptr<RecordedSteps> recorded_;  // null: every step is asked for
  Verdict overlaps_;
  std::unique_ptr<OverlappedGradient> overlapped_;  // null: a gradient is exchanged once all of it is there
};

}  // namespace lamina
