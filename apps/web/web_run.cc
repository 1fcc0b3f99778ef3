// A run in slices: between two of them the worker hears what the page wants. A run that is interrupted goes on with the
// same bits (TrainSession::Run).
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
#include "lamina/settings/effort.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
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
json Judgement(TrainSession& session, const RawData& raw, TrainResult& result) {
  struct Rows {
    const Dataset& data;
    const Table& table;
    const char* name;
  };
  const Table& table = raw.main.train;
  const Rows sets[] = {{session.test(), raw.main.test ? *raw.main.test : table, "test"},
                       {session.validation(), raw.validation ? *raw.validation : table, "validation"},
                       {session.train(), table, "training"}};
  const auto* const rows =
      std::find_if(std::begin(sets), std::end(sets), [](const Rows& each) { return each.data.size() > 0; });
  if (rows == std::end(sets)) {
    return json::object();
  }
  if (!result.test) {
    result.test = Evaluate(session.model(), session.backend(), rows->data);
  }
  const std::optional<Importance> importance =
      QuickImportance(session.model(), session.backend(), rows->table, rows->data.rows);
  return {{"rows", rows->name},
          {"evaluation", ToJson(*result.test)},
          {"points", result.test->points},
          {"importance", importance ? ToJson(*importance) : json(nullptr)}};
}

// Whether a run may be interrupted after a slice and go on. Others would begin anew, and so never end: a kernel machine
// beside the network, too.
bool RunsInSlices(const TrainSession& session) {
  return LearnsByGradient(session.settings()) && !HasKernelsBeside(session.settings());
}

}  // namespace

json StartRun(const json& request, WebState& state) {
  state.session.reset();  // its memory first
  TrainSettings settings = SettingsFrom(request, state);
  if (RunsOnFolds(settings)) {
    throw Error(ErrorCode::kUnsupported, "the page trains one model at a time, without folds and effort best",
                {.remedy = "The program has them."});
  }
  auto session = std::make_unique<TrainSession>(settings, state.raw);
  state.result = {};
  state.session = std::move(session);
  const TrainSession& made = *state.session;
  return {{"notes", NotesOn(made)},           {"network", made.model().network.ShapeText()},
          {"method", made.settings().method}, {"in_slices", RunsInSlices(made)},
          {"remark", made.recipe_remark()},   {"epochs", made.options().epochs}};
}

json RunSlice(const json& request, WebState& state) {
  TrainSession& session = SessionOf(state);
  const int64_t end_ns = platform::SteadyTime_ns() + request.value("milliseconds", int64_t{200}) * 1'000'000;
  json epochs = json::array();
  TrainCallbacks callbacks;
  callbacks.epoch_done = [&](const EpochRecord& record) { epochs.push_back(EpochJson(record)); };
  if (RunsInSlices(session)) {
    callbacks.stop_requested = [&] { return platform::SteadyTime_ns() >= end_ns; };
  }
  state.result = session.Run(std::move(callbacks));
  return {{"epochs", std::move(epochs)},
          {"ended", state.result.history.stop_reason != "interrupted"},
          {"train_seconds", state.result.train_seconds}};
}

json EndRun(const json& /*request*/, WebState& state) {
  TrainSession& session = SessionOf(state);
  json judgement = Judgement(session, state.raw, state.result);
  std::vector<std::string> remarks = KernelChoiceLines(session);
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

}  // namespace lamina::web
