// A run in slices: between two of them the worker hears what the page wants. A run that is interrupted goes on with the
// same bits (TrainSession::Run). Within what is trained in one go the page can only end the worker; another one then
// begins from the checkpoint.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/timing.h"
#include "lamina/model/explain.h"
#include "lamina/platform/thread.h"
#include "lamina/run/kernel_text.h"
#include "lamina/run/remarks.h"
#include "lamina/run/result_json.h"
#include "lamina/run/resume.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/method.h"
#include "web_state.h"

namespace lamina::web {
namespace {

using nlohmann::json;

json NumberOrNull(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json EpochJson(const EpochRecord& record) {
  return {{"epoch", record.epoch},
          {"train_loss", NumberOrNull(record.train_loss)},
          {"train_accuracy", NumberOrNull(record.train_accuracy)},
          {"validation_loss", NumberOrNull(record.validation_loss)},
          {"validation_accuracy", NumberOrNull(record.validation_accuracy)},
          {"best_epoch", record.best_epoch}};
}

TrainSession& SessionOf(WebState& state) {
  if (state.session == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "there is no run");
  }
  return *state.session;
}

// The rows that tell how good the model is: as in the window, the test rows, or else those that are there.
struct JudgedRows {
  const Dataset& data;
  const Table& table;
  const char* name;
};

std::optional<JudgedRows> RowsToJudge(const TrainSession& session, const RawData& raw) {
  const Table& table = raw.main.train;
  const JudgedRows sets[] = {{session.test(), raw.main.test ? *raw.main.test : table, "test"},
                             {session.validation(), raw.validation ? *raw.validation : table, "validation"},
                             {session.train(), table, "training"}};
  const auto* const rows =
      std::find_if(std::begin(sets), std::end(sets), [](const JudgedRows& each) { return each.data.size() > 0; });
  return rows == std::end(sets) ? std::nullopt : std::optional(*rows);
}

json Judgement(const TrainSession& session, const RawData& raw, TrainResult& result) {
  const std::optional<JudgedRows> rows = RowsToJudge(session, raw);
  if (!rows) {
    return json::object();
  }
  if (!result.test) {
    result.test = Evaluate(session.model(), session.backend(), rows->data);
  }
  return {{"rows", rows->name}, {"evaluation", ToJson(*result.test)}, {"points", result.test->points}};
}

// Whether what comes next cannot be interrupted after a slice: it would begin anew, and so never end.
bool NextInOneGo(const TrainSession& session) {
  return !LearnsByGradient(session.settings()) || session.only_others_left();
}

std::unique_ptr<TrainSession> SessionFrom(const json& request, const WebState& state) {
  if (request.contains("checkpoint")) {
    const auto path = request["checkpoint"].get<std::string>();
    return std::make_unique<TrainSession>(ResumeSettings(path).settings, path, std::vector<Activation>(), nullptr,
                                          &state.raw);
  }
  const TrainSettings settings = SettingsFrom(request, state);
  if (RunsOnFolds(settings)) {
    throw Error(ErrorCode::kUnsupported, "the page trains one model at a time, without folds and effort best",
                {.remedy = "The program has them."});
  }
  return std::make_unique<TrainSession>(settings, state.raw);
}

}  // namespace

json StartRun(const json& request, WebState& state) {
  state.session.reset();  // its memory first
  std::unique_ptr<TrainSession> session = SessionFrom(request, state);
  state.result = {};
  state.session = std::move(session);
  const TrainSession& made = *state.session;
  return {{"notes", NotesOn(made)},           {"network", made.model().network.ShapeText()},
          {"method", made.settings().method}, {"in_one_go", NextInOneGo(made)},
          {"remark", made.recipe_remark()},   {"epochs", made.options().epochs}};
}

json RunSlice(const json& request, WebState& state) {
  TrainSession& session = SessionOf(state);
  const int64_t end_ns = platform::SteadyTime_ns() + request.value("milliseconds", int64_t{200}) * 1'000'000;
  json epochs = json::array();
  TrainCallbacks callbacks;
  callbacks.epoch_done = [&](const EpochRecord& record) { epochs.push_back(EpochJson(record)); };
  if (!NextInOneGo(session)) {  // a slice of its own, which the page hears of before
    callbacks.stop_requested = [&] { return session.only_others_left() || platform::SteadyTime_ns() >= end_ns; };
  }
  state.result = session.Run(std::move(callbacks));
  return {{"epochs", std::move(epochs)},
          {"ended", state.result.history.stop_reason != "interrupted"},
          {"in_one_go", NextInOneGo(session)},
          {"train_seconds", state.result.train_seconds}};
}

json EndRun(const json& /*request*/, WebState& state) {
  TrainSession& session = SessionOf(state);
  json judgement = Judgement(session, state.raw, state.result);
  std::vector<std::string> remarks = FoundLines(session);
  for (std::string& remark : RemarksOn(session, state.result)) {
    remarks.push_back(std::move(remark));
  }
  state.model = session.model();
  return {{"judgement", std::move(judgement)},
          {"remarks", std::move(remarks)},
          {"report", ResultJson(session, state.result, /*history=*/false)},
          {"stop_reason", state.result.history.stop_reason},
          {"best_epoch", state.result.history.best_epoch}};
}

// It takes longer than the results, which the page shows before.
json TellImportance(const json& /*request*/, WebState& state) {
  const TrainSession& session = SessionOf(state);
  const std::optional<JudgedRows> rows = RowsToJudge(session, state.raw);
  const std::optional<Importance> importance =
      rows ? QuickImportance(session.model(), session.backend(), rows->table, rows->data.rows) : std::nullopt;
  return {{"importance", importance ? ToJson(*importance) : json(nullptr)}};
}

json KeepRun(const json& request, WebState& state) {
  SessionOf(state).WriteCheckpoint(request.at("path").get<std::string>());
  return json::object();
}

}  // namespace lamina::web
