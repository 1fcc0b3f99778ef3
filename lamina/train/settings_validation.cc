// What must hold for settings before any data is read.
#include <fmt/format.h>

#include <cmath>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/model/metrics.h"
#include "lamina/train/layers_text.h"
#include "lamina/train/settings.h"

namespace lamina {
namespace {

void ValidateSplit(const TrainSettings& settings) {
  const SplitOptions split = SplitOptionsFrom(settings, !settings.test.empty(), !settings.validation.empty());
  const std::string given = fmt::format("{}", fmt::join(settings.split, ","));
  for (const double share : {split.train, split.validation, split.test}) {
    if (!(share >= 0 && share <= 1)) {  // also NaN
      throw Error(ErrorCode::kInvalidArgument, "a share of --split must lie in 0 to 1", {.value = given});
    }
  }
  const double sum = split.train + split.validation + split.test;
  if (!(std::abs(sum - 1.0) <= 1e-6)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the shares of --split must sum to 1, not {:g}", sum),
                {.value = given});
  }
  if (split.train == 0) {
    throw Error(ErrorCode::kInvalidArgument, "--split leaves no training rows", {.value = given});
  }
}

void ValidateColumns(const TrainSettings& settings) {
  ValidateDerive({settings.derive, settings.series_by, settings.order_by});
  if (!settings.derive.empty() && settings.target.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--derive needs --target",
                {.remedy = "Derived columns stand behind the others, so that the last column may not be meant."});
  }
  if (!settings.split_by.empty() && settings.stratify) {
    throw Error(ErrorCode::kInvalidArgument, "--split-by and --stratify contradict each other",
                {.remedy = "Leave one of them out."});
  }
}

// Gain and threshold go into the activations that are named without them; nothing is ignored silently.
void ValidateGain(const TrainSettings& settings) {
  if (!settings.gain && !settings.threshold) {
    return;
  }
  const auto takes = [](const std::string& text) { return text == formulas::BipolarSigmoid::kName; };
  if (!settings.layers.empty() || (!takes(settings.activation) && !takes(settings.output_activation))) {
    throw Error(ErrorCode::kInvalidArgument, "--gain and --threshold belong to --activation bipolar_sigmoid",
                {.remedy = "In --layers write them out: dot-bipolar_sigmoid(gain=2,threshold=0):4."});
  }
}

void ValidateLayers(const TrainSettings& settings, std::span<const Activation> custom) {
  const std::string text = EndsInAuto(settings.layers) ? HiddenPart(settings.layers) : settings.layers;
  if (!text.empty() || settings.layers.starts_with(',')) {
    std::vector<LayerSpec> layers = ParseLayers(text, 1, settings.bias, custom);
    if (EndsInAuto(settings.layers)) {
      layers.push_back({layers.back().outputs, 1, Synapse::kDot, Activation(), settings.bias});
    }
    if (const Verdict verdict = Network::CheckLayers(layers, DType::kF32); !verdict) {
      throw Error(ErrorCode::kInvalidArgument, "--layers: " + verdict.reason, {.value = settings.layers});
    }
  }
}

}  // namespace

std::string CheckpointPathOf(const TrainSettings& settings) {
  return settings.checkpoint.empty() && !settings.model.empty() ? settings.model + ".checkpoint" : settings.checkpoint;
}

FileUse FilesOf(const TrainSettings& settings) {
  FileUse files;
  files.AddRead("--data", DataFiles(settings.data));
  files.AddRead("--test", DataFiles(settings.test));
  files.AddRead("--validation", DataFiles(settings.validation));
  files.AddRead("--cost-matrix", {CostMatrix::FileOf(settings.cost_matrix)});
  files.written = {{"--model", settings.model},
                   {"--history", settings.history},
                   {"--history-json", settings.history_json},
                   {"--checkpoint", CheckpointPathOf(settings)}};
  return files;
}

void ValidateSettings(const TrainSettings& settings, std::span<const Activation> custom) {
  if (settings.data.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no training data", {.remedy = "Give --data FILE."});
  }
  if (settings.threads < 0 || settings.threads > 4096) {
    throw Error(ErrorCode::kInvalidArgument, "--threads must be from 0 to 4096",
                {.value = fmt::format("{}", settings.threads)});
  }
  if (settings.samples < 0) {
    throw Error(ErrorCode::kInvalidArgument, "--samples must be 0 (all) or positive",
                {.value = fmt::format("{}", settings.samples)});
  }
  for (const int64_t neurons : settings.hidden) {
    if (neurons < 0 || (neurons == 0 && settings.hidden.size() > 1)) {
      throw Error(ErrorCode::kInvalidArgument, "a hidden layer needs at least 1 neuron",
                  {.value = fmt::format("{}", fmt::join(settings.hidden, ","))});
    }
  }
  ValidateSplit(settings);
  ValidateGain(settings);
  ReadOptionsFrom(settings);
  ValidateColumns(settings);
  PreprocessOptionsFrom(settings);
  TargetFormFrom(settings, ActivationFrom(settings, settings.activation, custom), false);
  TrainOptionsFrom(settings, Loss::kMse);
  WeightOptionsFrom(settings);
  ValidateLayers(settings, custom);
  if (settings.output_activation != "auto") {
    ActivationFrom(settings, settings.output_activation, custom);
  }
  if (settings.loss != "auto") {
    Loss::Parse(settings.loss);
  }
  if (settings.init != "auto") {
    ParseInitialization(settings.init);
  }
  const DType dtype = ParseDType(settings.dtype);
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    throw Error(ErrorCode::kInvalidArgument, "--dtype must be f32 or f64", {.value = settings.dtype});
  }
  const auto backend = MakeBackend(settings.backend, {.threads = static_cast<int>(settings.threads)});
  if (const Precision precision = PrecisionFrom(settings); precision != Precision::kExact) {
    const Verdict verdict = backend->Supports({{1, 1}, Pass::kForward, 1, dtype, precision});
    if (!verdict) {
      throw Error(ErrorCode::kInvalidArgument, "--precision " + settings.precision + ": " + verdict.reason,
                  {.remedy = "Leave --precision out."});
    }
  }
}

}  // namespace lamina
