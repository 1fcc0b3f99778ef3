// Times the training step of one network on one backend, round after round, so that several can take turns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/data/preprocessor.h"
#include "lamina/nn/executor.h"
#include "lamina/report/train_benchmark.h"
#include "lamina/train/resident_dataset.h"

namespace lamina {

class TrainTimer {
 public:
  /// `data` must outlive it; its inputs and outputs are those of the shape. Throws Error as building the network would.
  TrainTimer(const TrainBenchmarkCase& work, const Dataset& data);

  /// Steps over shuffled rows, gathered for every step as in training, until `seconds` are over; at least one.
  void Round(double seconds);

  /// Seconds for `rows` rows, the median of the rounds; scaled from the steps done.
  double MedianSeconds(int64_t rows) const;
  /// Of the shortest round.
  int64_t steps() const { return steps_; }
  const Backend& backend() const { return *backend_; }

 private:
  void Step();

  int64_t batch_;
  std::unique_ptr<Backend> backend_;
  UpdateRule rule_;
  ResidentDataset data_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Buffer> order_;
  std::unique_ptr<Buffer> sums_;
  int64_t at_ = 0;
  int64_t steps_ = 0;
  std::vector<double> row_seconds_;  // of a round
};

}  // namespace lamina
