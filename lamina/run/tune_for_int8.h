// --quantize-aware: what a session does after training so that its network loses nothing in 8-bit integers.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/model/model.h"
#include "lamina/run/int8_outcome.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/settings.h"
#include "lamina/train/train_options.h"

namespace lamina {

struct Int8Tuning {
  const TrainSettings& settings;
  const TrainOptions& options;
  const TrainData& data;
  const Backend& backend;
  std::function<bool()> stop_requested;
};

/// Throws Error(kInvalidArgument) where the network cannot be computed in 8-bit integers, or the rows not be taken.
void RequireInt8Tuning(const TrainSettings& settings, const TrainData& data, const Model& model);

/// Trains model.network on, and sets model.int8_ranges. A stop keeps the best epoch so far.
Int8Outcome TuneForInt8(const Int8Tuning& tuning, Model& model);

nlohmann::json ToJson(const Int8Outcome& outcome);
/// One line for people.
std::string OutcomeText(const Int8Outcome& outcome);

}  // namespace lamina
