// How many epochs the stages of a search have.
#pragma once

#include <cstdint>

namespace lamina {

/// Every stage trains `factor` times as many epochs as the one before, the last one all of a trial's.
class SuccessiveHalving {
 public:
  SuccessiveHalving() = default;
  /// `factor`: of the trials that reach a stage one in this many goes on; at most 1: one stage. `first_epochs`: of the
  /// first stage; 0: two stages come before the last. `longest`: the most epochs of a trial.
  SuccessiveHalving(double factor, int64_t first_epochs, int64_t longest, int64_t trials);

  int stages() const { return stages_; }
  /// Epochs after which `stage` (from 1) ends for a trial of so many.
  int64_t EpochsAt(int64_t epochs, int stage) const;

 private:
  double factor_ = 0;
  int64_t first_epochs_ = 0;
  int stages_ = 1;
};

}  // namespace lamina
