// Names and allowed values of the options.
#include "lamina/train/train_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/train/lbfgs.h"

namespace lamina {
namespace {

constexpr Named<Keep> kKeeps[] = {{"auto", Keep::kAuto},
                                  {"best", Keep::kBest},
                                  {"last", Keep::kLast},
                                  {"last_best", Keep::kLastBest},
                                  {"best_wave", Keep::kBestWave}};

}  // namespace

std::string_view KeepName(Keep keep) { return NameOf(keep, kKeeps); }

std::vector<std::string> KeepNames() { return NamesIn(kKeeps); }

Keep ParseKeep(std::string_view name) { return ParseName(name, kKeeps, "unknown choice of weights to keep"); }

void TrainOptions::Validate() const {
  using Ranges = TrainRanges;
  Ranges::epochs.Require("epochs", static_cast<double>(epochs));
  Ranges::batch.Require("batch", static_cast<double>(batch));
  Ranges::shards.Require("shards", static_cast<double>(shards));
  Ranges::learning_rate.Require("learning_rate", rule.learning_rate);
  Ranges::momentum.Require("momentum", rule.momentum);
  Ranges::weight_decay.Require("weight_decay", rule.weight_decay);
  Ranges::beta1.Require("beta1", rule.beta1);
  Ranges::beta2.Require("beta2", rule.beta2);
  Ranges::epsilon.Require("epsilon", rule.epsilon);
  for (const StepNumber& number : kStepNumbers) {
    std::string name(number.setting);
    std::replace(name.begin(), name.end(), '-', '_');
    number.range.Require(name, step.*number.field);
  }
  Ranges::warmup.Require("warmup", schedule.warmup);
  Ranges::schedule_factor.Require("schedule_factor", schedule.factor);
  Ranges::schedule_epochs.Require("schedule_epochs", static_cast<double>(schedule.step_epochs));
  Ranges::schedule_patience.Require("schedule_patience", static_cast<double>(schedule.patience));
  Ranges::patience.Require("patience", static_cast<double>(patience));
  Ranges::patience_waves.Require("patience_waves", static_cast<double>(patience_waves));
  Ranges::min_improvement.Require("min_improvement", min_improvement);
  Ranges::checkpoint_epochs.Require("checkpoint_epochs", static_cast<double>(checkpoint_epochs));
  if (step.normalization == Normalization::kBatch && batch < 2) {
    throw Error(ErrorCode::kInvalidArgument, "batch must be at least 2 where layers are normalized by it",
                {.value = fmt::format("{}", batch),
                 .remedy = "Give a larger batch, or use no normalization.",
                 .setting = "batch"});
  }
}

bool TrainOptions::IsBetter(int64_t epoch, double watched, double best) const {
  if (keep == Keep::kBestWave) {
    const int64_t before = WavesEnded(schedule, epoch - 1, epochs);
    const bool ends = WavesEnded(schedule, epoch, epochs) > before;
    if (ends && before == 0) {
      return true;
    }
    if (!ends && before > 0) {
      return false;
    }
  }
  const bool ties = (keep == Keep::kLastBest || keep == Keep::kBestWave) && watched == best;
  return watched < best - min_improvement || ties;
}

bool TrainOptions::StopsEarly(int64_t epoch, int64_t since_best) const {
  if (epoch > 0 && patience > 0 && since_best >= patience) {
    return true;
  }
  const int64_t waves = patience_waves > 0 ? EpochsOfEndedWaves(schedule, epoch, epochs, patience_waves) : 0;
  return waves > 0 && since_best >= waves;
}

int TrainOptions::StateCount() const { return lbfgs ? Lbfgs::kStates : rule.StateCount(); }

void TrainOptions::RequireRoutes(std::span<const LayerSpec> layers, int64_t members) const {
  const Techniques used = TechniquesOf(layers, members, step);
  if (const Verdict verdict = Accepts(Route::kShards, used); shards > 0 && !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason,
                {.value = fmt::format("shards {}", shards),
                 .remedy = "Leave one of them out (--recipe plain has none).",
                 .setting = "shards"});
  }
  if (const Verdict verdict = Accepts(Route::kAllRows, used); lbfgs && !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason,
                {.remedy = "Leave one of them out, or use --optimizer adam.", .setting = "optimizer"});
  }
}

}  // namespace lamina
