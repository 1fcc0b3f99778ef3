// One run of the training loop: the data where the backend can reach it, the planned network, the running state.
// Private to the trainer.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "lamina/base/timing.h"
#include "lamina/cluster/sharded_steps.h"
#include "lamina/nn/executor.h"
#include "lamina/train/data_feed.h"
#include "lamina/train/epoch_rows.h"
#include "lamina/train/lbfgs.h"
#include "lamina/train/step_backup.h"
#include "lamina/train/train_callbacks.h"
#include "lamina/train/train_options.h"

namespace lamina {

struct TrainRun {
  TrainRun(Network& network, const Backend& backend, const TrainOptions& options, Communicator* ranks,
           TrainState& state, const Dataset& train_set, const Dataset* validation_set, const TrainCallbacks& callbacks);

  /// Goes on from `state`, which a checkpoint gave. Throws Error(kBadModel) where it is of other rows or another batch.
  void Resume();
  /// Steps and validation; none when stopped in the middle of either.
  std::optional<EpochRecord> RunEpoch();
  bool TrainEpoch();
  /// Runs some of the steps left, and fits `chunk`, their number, to kChunk_seconds. True if it ended early.
  bool RunChunk(UpdateRule rule);
  int64_t RunSteps(const TrainingSteps& work);
  double StepRate(int64_t step, double epoch_rate) const;
  EpochRecord TrainRecord() const;
  bool Validate(EpochRecord& record);
  void FinishEpoch(EpochRecord& record);
  [[noreturn]] void ThrowDiverged(double value, const char* which) const;
  void RequireFinite(const AlignedBuffer& parameters) const;
  void End();
  void StoreKept();
  void ReportProgress();
  // One answer for all ranks.
  bool Stopped() {
    const bool asked = stop && stop();
    return sharded != nullptr ? sharded->Any(asked) : asked;
  }
  TrainState Snapshot() const;
  void SaveCheckpoint() const;
  void WriteSums(const LossSums& sums) { backend.Upload(device_sums->data(), &sums, sizeof(sums)); }
  LossSums ReadSums() const {
    LossSums sums;
    backend.Download(&sums, device_sums->data(), sizeof(sums));
    return sums;
  }
  ExecutorOptions PlanFor() const;
  int64_t WindowOfValidation() const;
  LossSums* SumsPointer() const { return static_cast<LossSums*>(device_sums->data()); }

  Network& network;
  const Backend& backend;
  const TrainOptions& options;
  Communicator* ranks;
  TrainState& state;
  const TrainCallbacks& callbacks;
  EpochRows rows;
  int64_t batch;
  int64_t steps;
  bool keeps_best;
  int64_t step_rows;  // that are computed at once
  int64_t evaluation_batch;
  Executor executor;
  std::unique_ptr<ShardedSteps> sharded;  // null: a batch is one piece
  std::unique_ptr<Lbfgs> lbfgs;           // null: steps by the update rule
  std::unique_ptr<Buffer> device_sums;
  DataFeed train;  // takes what memory the network leaves
  std::unique_ptr<DataFeed> validation;
  std::vector<double> rates;  // of the steps handed over last, where they differ
  int64_t chunk = 1;          // steps handed over at once
  StepBackup backup;
  double step_seconds = std::numeric_limits<double>::infinity();  // of the last step
  Stopwatch since_progress;
  std::function<bool()> stop;  // callbacks.stop_requested, timed; empty where that is
  double waited_seconds = 0;   // for its answers in this epoch
};

}  // namespace lamina
