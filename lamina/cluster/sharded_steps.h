// Training steps whose gradient is summed over shards of the batch, in this process or over the ranks of a job.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lamina/backend/training_steps.h"
#include "lamina/base/buffer.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/shards.h"
#include "lamina/nn/executor.h"

namespace lamina {

/// Every batch is cut into `shards` ranges of rows. A shard's gradient is computed as one, the gradients of all are
/// summed by a tree over the shards (TreeSum), and every rank takes the step: parameters are the same bits on all
/// ranks, for any number of ranks, one included. Ranks exchange slices: each sums one slice of what all have, and sends
/// it to all, so that a rank sends about 2 (p - 1) / p times the gradient a step, as in a ring. One caller at a time.
class ShardedSteps {
 public:
  /// `executor` has room for SamplesOfShard(); it and `backend` outlive this. `ranks` null: this process alone. Throws
  /// Error(kInvalidArgument) where a rank would have nothing to do.
  ShardedSteps(Executor& executor, const Backend& backend, DType dtype, int64_t shards, Communicator* ranks);

  /// The most samples of a shard of a batch.
  static int64_t SamplesOfShard(int64_t batch, int64_t shards) { return (batch + shards - 1) / shards; }

  /// As Executor::Steps(). Collective: all ranks are asked for the same steps, and all stop where one is to stop.
  int64_t Steps(const TrainingSteps& work);
  /// The sum of of(i) for i in [0, parts), in this order; every rank asks for some of them. Collective.
  LossSums SumOver(int64_t parts, const std::function<LossSums(int64_t)>& of);
  /// Whether it is true on any rank. Collective.
  bool Any(bool mine) { return ranks_ != nullptr && ranks_->size() > 1 ? ranks_->Any(mine) : mine; }

 private:
  int64_t size() const { return ranks_ == nullptr ? 1 : ranks_->size(); }
  int64_t rank() const { return ranks_ == nullptr ? 0 : ranks_->rank(); }
  LossSums Gradient(const TrainingSteps& work, IndexRange rows);
  template <class T>
  void SumOwn(const TrainingSteps& work, IndexRange rows, int64_t shards, std::vector<LossSums>& sums);
  template <class T>
  void SumAll(int64_t shards);
  void Share(std::vector<LossSums>& sums);
  template <class T>
  T* PlaceAt(int64_t place) {
    return static_cast<T*>(places_[static_cast<size_t>(place)].data());
  }

  Executor& executor_;
  const Backend& backend_;
  DType dtype_;
  int64_t shards_;
  Communicator* ranks_;
  int64_t count_;                      // of the elements of a gradient
  std::vector<AlignedBuffer> places_;  // memory of terms of the sum
  std::vector<int64_t> terms_;         // places of the nodes that this rank sums
  AlignedBuffer slices_;               // of this rank, of all nodes of the others
  AlignedBuffer host_;                 // a gradient, where the backend's memory is not the host's
};

}  // namespace lamina
