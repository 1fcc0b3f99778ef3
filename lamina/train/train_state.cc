// Whether a saved state fits.
#include "lamina/train/train_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/nn/parameter_table.h"

namespace lamina {
namespace {

bool InRange(int64_t value, int64_t low, int64_t high) { return value >= low && value <= high; }

bool CountersFit(const TrainState& state) {
  constexpr int64_t kMaxUpdates = int64_t{1} << 53;
  const History& history = state.history;
  return std::ssize(history.epochs) == state.epoch && InRange(state.step, 0, kMaxUpdates) &&
         InRange(state.updates, 0, kMaxUpdates) && InRange(state.reductions, 0, state.epoch) &&
         InRange(state.epochs_since_best, 0, state.epoch) && InRange(state.epochs_since_reduction, 0, state.epoch) &&
         InRange(history.best_epoch, state.epoch > 0 ? 1 : 0, state.epoch) && std::isfinite(state.sums.loss) &&
         std::isfinite(state.sums.weight) && state.sums.weight >= 0 && state.sums.samples >= 0 &&
         InRange(state.sums.correct, 0, state.sums.samples) && std::isfinite(state.best_loss);
}

}  // namespace

Verdict CheckTrainState(const TrainState& state, const Network& network, const TrainOptions& options) {
  const int64_t trained_bytes = TrainedSize_bytes(network, options.step);
  const auto fits = [&](const AlignedBuffer& buffer) { return buffer.size_bytes() == trained_bytes; };
  const bool best_given = state.best_parameters.size_bytes() > 0;
  if (!fits(state.parameters) || (best_given && state.best_parameters.size_bytes() != network.parameter_bytes()) ||
      !std::all_of(state.optimiser.begin(), state.optimiser.end(), fits)) {
    return Verdict::No("its arrays are not of the network's size");
  }
  if (std::ssize(state.optimiser) != options.StateCount()) {
    return Verdict::No(fmt::format("update rule {} keeps {} arrays of state, it has {}",
                                   options.lbfgs ? kLbfgs : UpdateKindName(options.rule.kind), options.StateCount(),
                                   state.optimiser.size()));
  }
  if (!CountersFit(state)) {
    return Verdict::No("a counter or sum is out of range");
  }
  // Checkpoints of earlier programs have none where nothing was stopped early: the last weights are kept then.
  const bool needs_best = options.keep == Keep::kBest ||
                          (options.keep == Keep::kAuto && (options.patience > 0 || options.patience_waves > 0));
  if (needs_best && state.epoch > 0 && !best_given) {
    return Verdict::No("it lacks the best weights so far, which these options keep");
  }
  return Verdict::Yes();
}

}  // namespace lamina
