// The gradient of a step whose parts travel between ranks while others are computed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lamina/backend/training_steps.h"
#include "lamina/base/buffer.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/rank_sum.h"
#include "lamina/cluster/shard_sum.h"
#include "lamina/cluster/task_thread.h"
#include "lamina/nn/executor.h"

namespace lamina {

/// Computes forward passes and deltas of all shards of this rank, then the gradient part by part (GradientPart), last
/// layer first. Each part covers all shards, as Exchanges() groups them. While the next ones are computed, a thread
/// sums those over all ranks (RankSum). The bits are those of whole gradients: every element is the same sum.
class OverlappedGradient {
 public:
  /// Whether an executor, which must say yes to ComputesByParts(), has more than one exchange on so many ranks.
  static Verdict Pays(const Executor& executor, DType dtype, int64_t ranks);

  /// `rows`: of this rank's shards of a batch at most; `executor` and `ranks` outlive this.
  OverlappedGradient(Executor& executor, DType dtype, int threads, SentAs sent_as, int64_t rows, Communicator& ranks);

  /// Computes the gradient of `rows` in that many shards into executor.gradients(). Losses of this rank's shards go to
  /// `sums`, by shard, which `share` then sends to all. Collective.
  void Compute(const TrainingSteps& work, IndexRange rows, int64_t shards, std::vector<LossSums>& sums,
               const std::function<void()>& share);

 private:
  struct Exchange {
    std::vector<GradientPart> parts;
    int64_t count;  // elements, of all parts one after the other
    RankSum sum;
  };

  std::vector<Exchange> ExchangesOf(SentAs sent_as);
  template <class T>
  void ComputeIn(const TrainingSteps& work, IndexRange rows, int64_t shards, std::vector<LossSums>& sums,
                 const std::function<void()>& share);
  template <class T>
  void Store(const Exchange& exchange, const T* sum);

  Executor& executor_;
  DType dtype_;
  Communicator& ranks_;
  RankMemory own_memory_;  // where this rank's shards are summed
  RankMemory memory_;      // where those of all are, by one thread
  std::vector<Exchange> exchanges_;
  AlignedBuffer gradient_;  // of a shard, those parts of one exchange
  PlacePool places_;
  TaskThread thread_;  // ends before what it works on
};

}  // namespace lamina
