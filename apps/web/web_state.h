// What stays between two calls of the page: data, a run, a model.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lamina/model/model.h"
#include "lamina/run/run_plan.h"
#include "lamina/run/session.h"

namespace lamina::web {

struct WebState {
  std::string path;  // of the data; "": none are open
  RawData raw;
  std::unique_ptr<TrainSession> session;
  TrainResult result;  // of its last slice
  std::optional<Model> model;
};

/// The settings of a request: texts, or lists of names, by their names. Throws Error.
TrainSettings SettingsFrom(const nlohmann::json& request, const WebState& state);
/// Throws Error(kInvalidArgument) where there is none.
const Model& ModelOf(const WebState& state);

/// Columns and first rows of a table, for people to look at.
nlohmann::json TableJson(const Table& table);

// Each call: its request and what it leaves behind.
nlohmann::json TellAbout(const nlohmann::json& request, WebState& state);
nlohmann::json OpenData(const nlohmann::json& request, WebState& state);
nlohmann::json PlanOfRun(const nlohmann::json& request, WebState& state);
nlohmann::json StartRun(const nlohmann::json& request, WebState& state);
nlohmann::json RunSlice(const nlohmann::json& request, WebState& state);
nlohmann::json EndRun(const nlohmann::json& request, WebState& state);
nlohmann::json TellImportance(const nlohmann::json& request, WebState& state);
nlohmann::json KeepRun(const nlohmann::json& request, WebState& state);
nlohmann::json OpenModel(const nlohmann::json& request, WebState& state);
nlohmann::json WriteModel(const nlohmann::json& request, WebState& state);
nlohmann::json PredictFile(const nlohmann::json& request, WebState& state);

}  // namespace lamina::web
