// From named settings to the options of training.
#include <algorithm>
#include <iterator>
#include <optional>
#include <type_traits>
#include <vector>

#include "lamina/base/names.h"
#include "lamina/cluster/shards.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/number_embedding.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/setting_names.h"
#include "lamina/train/lbfgs.h"

namespace lamina {
namespace {

// kStepNumbers; settings whose recipe is resolved have them all.
void TakeStepNumbers(const TrainSettings& settings, StepOptions& step) {
  VisitSettings(settings, [&]<class T>(const auto& row, const T& field) {
    const auto* const number = std::find_if(std::begin(kStepNumbers), std::end(kStepNumbers),
                                            [&](const StepNumber& each) { return each.setting == row.name; });
    if (number == std::end(kStepNumbers)) {
      return;
    }
    if constexpr (std::is_same_v<T, double>) {
      step.*number->field = field;
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      step.*number->field = field.value();
    }
  });
}

}  // namespace

TrainOptions TrainOptionsFrom(const ResolvedSettings& resolved, Loss loss, const TrainRows& rows) {
  const TrainSettings& settings = *resolved;
  const TrainSettings& given = resolved.given();
  const AutoTraining by_rows = resolved.is_tabular()                 ? RecipeTrainingFor(rows, LearnsWaves(settings))
                               : EffortFrom(given) == Effort::kQuick ? QuickTrainingFor(rows)
                                                                     : AutoTrainingFor(rows);
  TrainOptions options;
  options.epochs = settings.epochs.value_or(HasKernelsBeside(given) ? EpochsBesideKernels(rows.train) : by_rows.epochs);
  options.batch = settings.batch.value_or(by_rows.batch);
  options.shards = settings.shard_data && settings.shards == 0 ? kShardsOfRanks : settings.shards;
  options.sharded_rows = settings.shard_data ? rows.train : 0;
  options.gradients_as_bf16 = ParseName(settings.gradients, setting_names::kGradients, "--gradients: unknown choice");
  options.step.loss = loss;
  options.step.precision = PrecisionFrom(settings);
  TakeStepNumbers(settings, options.step);
  if (!given.label_smoothing && !LossSmooths(loss)) {
    options.step.label_smoothing = 0;
  }
  options.step.parametrization = ParseParametrization(settings.parametrization);
  options.step.normalization = ParseNormalization(settings.normalization);
  options.step.starts_trained = !settings.start_from.empty();
  options.lbfgs = settings.optimizer == kLbfgs;
  options.rule.kind = options.lbfgs ? UpdateKind::kSgd : ParseUpdateKind(settings.optimizer);
  options.rule.learning_rate = settings.learning_rate.value_or(DefaultLearningRate(options.rule.kind));
  options.rule.momentum = settings.momentum;
  options.rule.weight_decay =
      settings.weight_decay.value_or(settings.epochs ? UpdateRule{}.weight_decay : by_rows.weight_decay);
  options.rule.beta1 = settings.beta1;
  options.rule.beta2 = settings.beta2.value_or(DefaultBeta2(options.rule.kind));
  options.rule.epsilon = settings.epsilon;
  options.schedule.kind = ParseScheduleKind(settings.schedule);
  options.schedule.factor = settings.schedule_factor;
  options.schedule.step_epochs = settings.schedule_epochs;
  options.schedule.patience = settings.schedule_patience;
  options.schedule.warmup = settings.warmup;
  options.step.seed = settings.seed;
  options.shuffle = settings.shuffle;
  options.patience = settings.patience.value_or(settings.epochs ? 0 : by_rows.patience);
  options.patience_waves = given.patience_waves || rows.validation > 0 ? settings.patience_waves.value_or(0) : 0;
  options.min_improvement = settings.min_improvement;
  options.keep = ParseKeep(settings.keep);
  options.checkpoint_epochs = settings.checkpoint_epochs;
  if (options.lbfgs) {  // every epoch is a step on all rows
    options.epochs = settings.epochs.value_or(Lbfgs::kIterations);
    options.batch = std::max<int64_t>(1, rows.train);
    options.rule.learning_rate = 1;
  }
  return options;
}

Precision PrecisionFrom(const TrainSettings& settings) {
  return WithSetting("precision", [&] {
    return settings.precision == kAutoText ? Precision::kExact
                                           : ParseName(settings.precision, kPrecisions, "--precision: unknown choice");
  });
}

std::string FastestPrecision(const Backend& backend, const Network& network, int64_t batch, bool classes, bool whole) {
  if (const auto* suits = dynamic_cast<const SuitsWholeNetworks*>(&backend); suits != nullptr && whole) {
    NetworkPlanRequest request;
    request.layers = network.layers();
    request.dtype = network.dtype();
    request.max_batch = batch;
    if (suits->SuitsWhole(request)) {  // rows in bf16 take as long there (bench/results/2026-11-28-h200)
      return std::string(NameOf(Precision::kExact, kPrecisions));
    }
  }
  const auto is_faster = [&](Precision precision) {
    bool faster = false;
    for (const LayerSpec& layer : network.layers()) {
      const Verdict verdict = backend.Supports({layer, Pass::kForward, batch, network.dtype(), precision});
      if (!verdict) {
        return false;
      }
      faster |= verdict.reason.empty();  // a reason beside a yes: no faster here
    }
    return faster;
  };
  for (const Precision precision : {Precision::kBFloat16, Precision::kFast}) {
    if (classes && is_faster(precision)) {  // the last digits of numbers show
      return std::string(NameOf(precision, kPrecisions));
    }
  }
  return std::string(NameOf(Precision::kExact, kPrecisions));
}

}  // namespace lamina
