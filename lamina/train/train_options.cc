// The options of training: names, allowed values, and whether a saved state fits them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/train/trainer.h"

namespace lamina {
namespace {

constexpr Named<Keep> kKeeps[] = {{"auto", Keep::kAuto}, {"best", Keep::kBest}, {"last", Keep::kLast}};

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

std::string_view KeepName(Keep keep) { return NameOf(keep, kKeeps); }

std::vector<std::string> KeepNames() { return NamesIn(kKeeps); }

Keep ParseKeep(std::string_view name) { return ParseName(name, kKeeps, "unknown choice of weights to keep"); }

void TrainOptions::Validate() const {
  using Ranges = TrainRanges;
  Ranges::epochs.Require("epochs", static_cast<double>(epochs));
  Ranges::batch.Require("batch", static_cast<double>(batch));
  Ranges::learning_rate.Require("learning_rate", rule.learning_rate);
  Ranges::momentum.Require("momentum", rule.momentum);
  Ranges::weight_decay.Require("weight_decay", rule.weight_decay);
  Ranges::beta1.Require("beta1", rule.beta1);
  Ranges::beta2.Require("beta2", rule.beta2);
  Ranges::epsilon.Require("epsilon", rule.epsilon);
  Ranges::clip_norm.Require("clip_norm", clip_norm);
  Ranges::label_smoothing.Require("label_smoothing", label_smoothing);
  Ranges::schedule_factor.Require("schedule_factor", schedule.factor);
  Ranges::schedule_epochs.Require("schedule_epochs", static_cast<double>(schedule.step_epochs));
  Ranges::schedule_patience.Require("schedule_patience", static_cast<double>(schedule.patience));
  Ranges::patience.Require("patience", static_cast<double>(patience));
  Ranges::min_improvement.Require("min_improvement", min_improvement);
  Ranges::checkpoint_epochs.Require("checkpoint_epochs", static_cast<double>(checkpoint_epochs));
}

void RequireFit(const Dataset& data, const Network& network) {
  const auto fits = [&](const Matrix& matrix, int64_t cols) {
    return matrix.rows() == data.size() && matrix.cols() == cols && matrix.dtype() == network.dtype();
  };
  const bool weights_fit = data.sample_weights.empty() || std::ssize(data.sample_weights) == data.size();
  if (!fits(data.features, network.inputs()) || !fits(data.targets, network.outputs()) || !weights_fit) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("data of {} x {} inputs and {} x {} targets do not fit the network {} in {}",
                            data.features.rows(), data.features.cols(), data.targets.rows(), data.targets.cols(),
                            network.ShapeText(), DTypeName(network.dtype())));
  }
}

Verdict CheckTrainState(const TrainState& state, const Network& network, const TrainOptions& options) {
  const auto fits = [&](const AlignedBuffer& buffer) { return buffer.size_bytes() == network.parameter_bytes(); };
  const bool best_given = state.best_parameters.size_bytes() > 0;
  if (!fits(state.parameters) || (best_given && !fits(state.best_parameters)) ||
      !std::all_of(state.optimiser.begin(), state.optimiser.end(), fits)) {
    return Verdict::No("its arrays are not of the network's size");
  }
  if (std::ssize(state.optimiser) != options.rule.StateCount()) {
    return Verdict::No(fmt::format("update rule {} keeps {} arrays of state, it has {}",
                                   UpdateKindName(options.rule.kind), options.rule.StateCount(),
                                   state.optimiser.size()));
  }
  if (!CountersFit(state)) {
    return Verdict::No("a counter or sum is out of range");
  }
  if (options.KeepsBest() && state.epoch > 0 && !best_given) {
    return Verdict::No("it lacks the best weights so far, which these options keep");
  }
  return Verdict::Yes();
}

}  // namespace lamina
