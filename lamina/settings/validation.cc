// The checks, in the order of the help.
#include "lamina/settings/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/model/metric.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/layers_text.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/removed_settings.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

void ValidateSplit(const TrainSettings& settings) {
  const SplitOptions split = SplitOptionsFrom(settings, !settings.test.empty(), !settings.validation.empty());
  const double sum = split.train + split.validation + split.test;
  if (!(std::abs(sum - 1.0) <= 1e-6)) {
    RefuseSetting("split", fmt::format("the shares of --split must sum to 1, not {:g}", sum),
                  FieldText(&settings.split));
  }
  if (split.train == 0) {
    RefuseSetting("split", "--split leaves no training rows", FieldText(&settings.split));
  }
}

void ValidateFolds(const TrainSettings& settings) {
  if (settings.folds == 0 && !RunsOnFolds(settings)) {
    for (const char* name : {"fold", "bag", "out-of-fold"}) {
      if (SettingText(settings, name) != SettingText(TrainSettings(), name)) {
        RefuseSetting(name, fmt::format("--{} needs --folds", name), "", "Give --folds 5, for example.");
      }
    }
    return;
  }
  if (settings.folds == 0) {
    return;
  }
  if (settings.fold > settings.folds) {
    RefuseSetting("fold", fmt::format("--fold counts from 1 to the {} of --folds", settings.folds),
                  FieldText(&settings.fold));
  }
  if (settings.split.size() == 3 && settings.split[2] > 0) {
    RefuseSetting("split", "--folds tests every row once: --split has no test rows to choose",
                  FieldText(&settings.split), "Give two shares and 0, such as 0.8,0.2,0.");
  }
  if (!settings.checkpoint.empty() && settings.fold == 0) {
    RefuseSetting("checkpoint", "--folds is several runs, and a checkpoint is for one", settings.checkpoint,
                  "Leave --checkpoint out, or train one fold (--fold 1).");
  }
  if (settings.bag && settings.fold > 0) {
    RefuseSetting("bag", "--bag keeps the networks of all folds, and --fold trains one", "", "Leave one of them out.");
  }
  if (!settings.out_of_fold.empty() && settings.fold > 0) {
    RefuseSetting("out-of-fold", "--out-of-fold are the answers of all folds, and --fold trains one",
                  settings.out_of_fold, "Leave one of them out.");
  }
  if (!settings.start_from.empty()) {
    RefuseSetting("folds", "the model of --start-from may know the rows that --folds tests it on", "",
                  "Leave one of them out.");
  }
}

// What belongs to steps on parts of the rows, or to their rates.
void ValidateLbfgs(const ResolvedSettings& settings) {
  const TrainSettings& whole = *settings;
  if (whole.optimizer != kLbfgs) {
    return;
  }
  const auto refuse = [&](std::string_view name, std::string message) {
    RefuseSetting(name, std::move(message), SettingText(whole, name),
                  settings.given().recipe == kPlainRecipe ? "Leave it out, or use --optimizer adam."
                                                          : "Use --recipe plain, or --optimizer adam.");
  };
  const std::pair<const char*, bool> others[] = {
      {"shards", whole.shards > 0},
      {"shard-data", whole.shard_data},
      {"schedule", whole.schedule != ScheduleKindName(ScheduleKind::kConstant)}};
  for (const auto& [name, given] : others) {
    if (given) {
      refuse(name, fmt::format("--{} is for steps on parts of the rows, and lbfgs takes all at once", name));
    }
  }
  const LayerSpec any{1, 1, Synapse::kDot, Activation(), true};
  Techniques used = TechniquesOf({&any, 1}, whole.members, TrainOptionsFrom(settings, Loss::kMse, {}).step);
  used.Add(Technique::kFrozen, !whole.freeze.empty());
  if (const TechniqueRow* row = FirstRefused(Route::kAllRows, used); row != nullptr) {
    TrainSettings plain;
    plain.recipe = kPlainRecipe;
    plain = *Resolve(plain);
    const auto* const given = std::ranges::find_if(
        row->settings, [&](std::string_view name) { return SettingText(whole, name) != SettingText(plain, name); });
    refuse(*given, fmt::format("--{}: {}", *given, Accepts(Route::kAllRows, used).reason));
  }
}

// Fine-tuning is of one network and its rows.
void ValidateQuantizeAware(const TrainSettings& settings) {
  if (settings.quantize_aware == 0) {
    return;
  }
  const auto refuse = [&](std::string message, const char* remedy) {
    RefuseSetting("quantize-aware", std::move(message), fmt::format("{}", settings.quantize_aware), remedy);
  };
  if (settings.bag || EffortFrom(settings) == Effort::kBest) {
    refuse("--quantize-aware is for one network, and 8-bit integers cannot do ensembles",
           "Leave it out, or --bag and --effort best.");
  }
  if (!settings.memory.empty() || settings.shard_data) {
    refuse("--quantize-aware takes all training rows in memory", "Leave it out, or --memory and --shard-data.");
  }
}

void ValidateNormalization(const TrainSettings& settings) {
  if (ParseNormalization(settings.normalization) != Normalization::kNone && settings.members > 1) {
    RefuseSetting("normalization", "members share their hidden layers, which have no batch of one kind to normalize by",
                  settings.normalization, "Leave --normalization or --members out.");
  }
}

void ValidateColumns(const TrainSettings& settings) {
  WithSetting("derive", [&] { ValidateDerive({settings.derive, settings.series_by, settings.order_by}); });
  if (!settings.derive.empty() && settings.target.empty()) {
    RefuseSetting("derive", "--derive needs --target", "",
                  "Derived columns stand behind the others, so that the last column may not be meant.");
  }
  if (!settings.group.empty() && !settings.split_by.empty()) {
    RefuseSetting("group", "--group and --split-by contradict each other", "", "Leave one of them out.");
  }
  const bool of_group = !settings.group.empty() && settings.folds == 0;
  if ((!settings.split_by.empty() || of_group) && settings.stratify) {
    const char* const name = of_group ? "group" : "split-by";
    RefuseSetting(name, fmt::format("--{} and --stratify contradict each other", name), "", "Leave one of them out.");
  }
}

// Gain and threshold go into the activations that are named without them; nothing is ignored silently.
void ValidateGain(const TrainSettings& settings) {
  for (const char* name : {"gain", "threshold"}) {
    if (const auto& row = TrainSettingRow(name); !SettingText(settings, name).empty() && !row.HasEffect(settings)) {
      RefuseSetting(name, "--gain and --threshold belong to --activation bipolar_sigmoid", "",
                    "In --layers write them out: dot-bipolar_sigmoid(gain=2,threshold=0):4.");
    }
  }
}

void ValidateQuantiles(const TrainSettings& settings) {
  if (!settings.quantiles.empty() && !TrainSettingRow("quantiles").HasEffect(settings)) {
    RefuseSetting("quantiles",
                  fmt::format("--quantiles are levels of --loss quantile, and the loss is {}", settings.loss),
                  FieldText(&settings.quantiles), "Give --loss quantile, or leave --quantiles out.");
  }
}

void ValidateHidden(const TrainSettings& settings) {
  if (settings.hidden.size() > 1 &&
      std::find(settings.hidden.begin(), settings.hidden.end(), 0) != settings.hidden.end()) {
    RefuseSetting("hidden", "a hidden layer needs at least 1 neuron", FieldText(&settings.hidden));
  }
}

void ValidateShape(const TrainSettings& settings) {
  ValidateHidden(settings);
  if (settings.residual && !settings.layers.empty()) {
    RefuseSetting("residual", "--residual is for --hidden, and --layers is given", settings.layers,
                  "Write residual(dot-relu:64) in --layers.");
  }
}

void ValidateLayers(const TrainSettings& settings, std::span<const Activation> custom) {
  const std::string text = EndsInAuto(settings.layers) ? HiddenPart(settings.layers) : settings.layers;
  if (!text.empty() || settings.layers.starts_with(',')) {
    std::vector<LayerSpec> layers = ParseLayers(text, 1, settings.bias, custom);
    if (!layers.empty() && text.starts_with(kResidualText)) {  // the inputs are not known: as many as the block has
      const auto end = std::ranges::find_if(layers, [](const LayerSpec& layer) { return layer.residual > 0; });
      layers.front().inputs = end->outputs;
    }
    if (EndsInAuto(settings.layers)) {
      layers.push_back({layers.back().outputs, 1, Synapse::kDot, Activation(), settings.bias});
    }
    if (const Verdict verdict = Network::CheckLayers(layers, DType::kF32); !verdict) {
      RefuseSetting("layers", "--layers: " + verdict.reason, settings.layers);
    }
  }
}

}  // namespace

std::string CheckpointPathOf(const TrainSettings& settings) {
  return settings.checkpoint.empty() && LearnsByGradient(settings) && !settings.model.empty()
             ? settings.model + kCheckpointEnding
             : settings.checkpoint;
}

FileUse FilesOf(const TrainSettings& settings) {
  TrainSettings used = settings;
  used.checkpoint = CheckpointPathOf(settings);
  return FilesOfSettings(used);
}

void ValidateSettings(const TrainSettings& settings, std::span<const Activation> custom) {
  if (settings.data.empty()) {
    RefuseSetting("data", "no training data", "", "Give --data FILE.");
  }
  for (const RemovedSetting& removed : RemovedSettings()) {
    if (!removed.value.empty() && SettingText(settings, removed.name) == removed.value) {
      RefuseSetting(removed.name, removed.Text(), "", std::string(removed.instead));
    }
  }
  CheckSettingRows(settings);
  ValidateEffort(settings);
  const ResolvedSettings resolved = Resolve(settings, /*classes=*/false);  // those of classes are no others to check
  ValidateMethod(resolved);
  ValidateShape(settings);
  if (!settings.memory.empty()) {
    WithSetting("memory", [&] { ParseBytes(settings.memory); });
  }
  ValidateSplit(settings);
  ValidateFolds(settings);
  ValidateGain(settings);
  ValidateQuantiles(settings);
  ValidateLbfgs(resolved);
  ValidateNormalization(settings);
  ValidateQuantizeAware(settings);
  ReadOptionsFrom(settings);
  ValidateColumns(settings);
  const Activation hidden =
      WithSetting("activation", [&] { return ActivationFrom(settings, resolved->activation, custom); });
  PreprocessOptionsFrom(resolved);
  TargetFormFrom(settings, hidden, false);
  TrainOptionsFrom(resolved, Loss::kMse, {}).Validate();
  WeightOptionsFrom(settings);
  WithSetting("layers", [&] { ValidateLayers(settings, custom); });
  if (settings.output_activation != kAutoText) {
    WithSetting("output-activation", [&] { ActivationFrom(settings, settings.output_activation, custom); });
  }
  if (settings.monitor != kMonitorLoss && settings.monitor != kAutoText) {
    WithSetting("monitor", [&] { Metric::Parse(settings.monitor, "monitor"); });
  }
  for (const std::string& name : settings.metrics) {
    if (name != kAllMetrics) {
      WithSetting("metrics", [&] { Metric::Parse(name); });
    }
  }
  if (settings.loss != kAutoText) {
    LossFrom(settings);
  }
  const BackendRow& backend =
      WithSetting("backend", [&]() -> const BackendRow& { return FindBackend(settings.backend); });
  if (const Verdict verdict = backend.TrainsIn(ParseDType(settings.dtype), PrecisionFrom(settings)); !verdict) {
    RefuseSetting("precision", "--precision " + settings.precision + ": " + verdict.reason, "",
                  "Leave --precision out.");
  }
}

}  // namespace lamina
