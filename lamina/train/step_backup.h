// What a training run goes back to when a long step is called off.
#pragma once

#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/nn/executor.h"

namespace lamina {

/// The trained parameters and the optimizer's arrays as they were before a step. A copy is made only where it costs
/// little of the step's time and of the free memory. Steps that can be called off, but last at most kShort_seconds,
/// need none: they end soon.
class StepBackup {
 public:
  static constexpr double kShort_seconds = 0.1;

  /// `copies`: whether what a step changes is to be copied; false where the step itself goes back. All outlive it.
  StepBackup(Executor& executor, const Backend& backend, bool copies);

  /// Before a step; `expected_seconds`: what the one before took, infinite where there was none. Whether Restore() can
  /// be called after it.
  bool Keep(double expected_seconds);
  void Restore();

 private:
  bool IsCheap(double expected_seconds) const;

  Executor& executor_;
  const Backend& backend_;
  bool copies_;
  AlignedBuffer parameters_;
  std::vector<AlignedBuffer> states_;
  double copied_seconds_ = 0;  // by the last Keep()
};

}  // namespace lamina
