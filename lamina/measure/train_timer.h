// Times the training step of one network on one backend, round after round, so that several can take turns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/measure/train_case.h"
#include "lamina/nn/executor.h"
#include "lamina/train/resident_dataset.h"

namespace lamina {

class TrainTimer {
 public:
  /// `data` must outlive it; inputs, outputs and type are those of the case. Throws Error as building the network
  /// would, and Error(kInvalidArgument) for a batch larger than the data.
  TrainTimer(const TrainBenchmarkCase& work, const Dataset& data);

  /// Steps over shuffled rows, as the trainer takes them, until `seconds` are over; at least one. Returns the seconds
  /// of a row. Throws Error(kDiverged).
  double Round(double seconds);

  int rounds() const { return static_cast<int>(row_seconds_.size()); }
  /// Seconds for `rows` rows, scaled from the steps done, in the round that is slower than `quantile` of the others
  /// (0.5: the median). There must be a round.
  double Seconds(int64_t rows, double quantile = 0.5) const;
  /// The steps of the shortest round.
  int64_t steps() const { return least_steps_; }
  const Backend& backend() const { return *backend_; }

 private:
  /// The next `count` steps; from the start again where too few are left.
  void Step(int64_t count);

  TrainBenchmarkCase work_;
  int64_t epoch_steps_;
  std::unique_ptr<Backend> backend_;
  ResidentDataset data_;
  Executor executor_;
  std::unique_ptr<Buffer> order_;
  std::unique_ptr<Buffer> sums_;
  int64_t at_ = 0;     // steps into the epoch
  int64_t chunk_ = 1;  // steps handed over at once
  int64_t least_steps_ = 0;
  std::vector<double> row_seconds_;  // of a round
};

}  // namespace lamina
