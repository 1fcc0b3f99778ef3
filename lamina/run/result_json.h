// Results as JSON: what `--json` writes, and what Python gives as TrainResult.report.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/run/session.h"

namespace lamina {

/// Everything about a run that a program may ask for: the network, its data, what was decided, the history, measures of
/// the test rows, settings. Without `history` there is no list of epochs, which takes 2 kB of memory an epoch.
nlohmann::json ResultJson(const TrainSession& session, const TrainResult& result, bool history = true);

// Its parts, for other commands.
nlohmann::json DecisionsJson(const std::vector<ColumnDecision>& decisions);
nlohmann::json NewLabelsJson(const EncodeReport& report);
/// Adds "samples_per_second" and "seconds_per_60000_samples"; neither where nothing was measured.
void AddSpeed(nlohmann::json& node, double samples, double seconds);

}  // namespace lamina
