// How far a training is.
#pragma once

#include <cstdint>

#include "lamina/train/train_options.h"
#include "lamina/train/train_state.h"

namespace lamina {

struct TrainProgress {
  int64_t epoch = 0;  // from 1
  int64_t epochs = 0;
  int64_t step = 0;  // done in this epoch
  int64_t steps = 0;
  double mean_loss = 0;  // of this epoch so far
  double accuracy = 0;
  double samples_per_second = 0;
  double seconds_left = 0;  // estimate for all remaining epochs
};

/// In the middle of an epoch of `steps` over `rows` samples, of which `sums` are done in state.epoch_seconds.
TrainProgress ProgressOf(const TrainState& state, const TrainOptions& options, const LossSums& sums, int64_t steps,
                         int64_t rows);

}  // namespace lamina
