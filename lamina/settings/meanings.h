// What settings mean for each part of the library: its options.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/encode/preprocess_options.h"
#include "lamina/data/encode/sample_weights.h"
#include "lamina/data/encode/target_encoder.h"
#include "lamina/data/files/read_options.h"
#include "lamina/nn/network.h"
#include "lamina/settings/auto_training.h"
#include "lamina/settings/output_plan.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings.h"
#include "lamina/settings/split.h"
#include "lamina/train/train_options.h"

namespace lamina {

// All throw Error(kInvalidArgument) naming the setting.
ReadOptions ReadOptionsFrom(const TrainSettings& settings);
/// Whether a setting says how a file of rows for a model is read. What the columns are is known to the model.
inline bool SaysHowRowsAreRead(const Setting<TrainSettings>& row) {
  return row.reads_file && row.name != "text-columns";
}
PreprocessOptions PreprocessOptionsFrom(const ResolvedSettings& settings);
/// The loss by name with its --quantiles; mse where it is open.
Loss LossFrom(const TrainSettings& settings);
TargetForm TargetFormFrom(const TrainSettings& settings, const Activation& output, bool single_output);
SplitOptions SplitOptionsFrom(const TrainSettings& settings, bool test_given, bool validation_given);
/// `rows` decide what the settings leave open.
TrainOptions TrainOptionsFrom(const ResolvedSettings& settings, Loss loss, const TrainRows& rows);
WeightOptions WeightOptionsFrom(const TrainSettings& settings);

/// `classes`: how many there are, 0 for regression.
OutputPlan PlanOutput(const ResolvedSettings& settings, int64_t classes, std::span<const Activation> custom);
/// All layers for `inputs` features and `outputs` target values.
std::vector<LayerSpec> LayersFrom(const ResolvedSettings& settings, const OutputPlan& plan, int64_t inputs,
                                  int64_t outputs, std::span<const Activation> custom);
/// --zero-last.
bool LastStartsAtZero(const ResolvedSettings& settings);
Initialization InitializationFrom(const ResolvedSettings& settings, std::span<const LayerSpec> layers);
/// The activation `text` with gain and threshold applied where it has them.
Activation ActivationFrom(const TrainSettings& settings, const std::string& text, std::span<const Activation> custom);
/// "auto" as exact: what it is can be told by FastestPrecision() only.
Precision PrecisionFrom(const TrainSettings& settings);
/// What --precision auto is for a network on this machine: the first candidate with which the backend computes some
/// layer faster than with exact. For classes these are bf16, which keeps their accuracy, and fast. For numbers it is
/// exact (docs/decisions/0020-precision-auto.md).
std::string FastestPrecision(const Backend& backend, const Network& network, int64_t batch, bool classes, bool whole);

/// By their names in settings. Throw Error(kInvalidArgument) naming the flag.
MissingPolicy ParseMissing(const std::string& name);
UnseenPolicy ParseUnseen(const std::string& name);

}  // namespace lamina
