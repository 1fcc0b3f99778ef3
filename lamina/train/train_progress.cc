// What progress is computed from.
#include "lamina/train/train_progress.h"

namespace lamina {

TrainProgress ProgressOf(const TrainState& state, const TrainOptions& options, const LossSums& sums, int64_t steps,
                         int64_t rows) {
  TrainProgress progress;
  progress.epoch = state.epoch + 1;
  progress.epochs = options.epochs;
  progress.step = state.step;
  progress.steps = steps;
  progress.mean_loss = sums.loss / sums.weight;
  progress.accuracy = static_cast<double>(sums.correct) / static_cast<double>(sums.samples);
  progress.samples_per_second = static_cast<double>(sums.samples) / state.epoch_seconds;
  const double epochs_left =
      static_cast<double>(options.epochs - state.epoch) - static_cast<double>(state.step) / static_cast<double>(steps);
  const double validation_seconds = state.history.epochs.empty() ? 0.0 : state.history.epochs.back().validation_seconds;
  progress.seconds_left = epochs_left * (static_cast<double>(rows) / progress.samples_per_second + validation_seconds);
  return progress;
}

}  // namespace lamina
