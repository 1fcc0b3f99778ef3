// Settings beside a checkpoint, row by row, and what else of it must fit the run.
#include "lamina/run/checkpoint_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/run/run_plan.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

using nlohmann::json;

// Those that a session stored; a trainer alone stores none.
std::optional<TrainSettings> SettingsOf(const Checkpoint& saved) {
  const auto settings = saved.model.training.find("settings");
  return settings == saved.model.training.end() ? std::nullopt : std::optional(TrainSettingsFromJson(*settings));
}

void Add(std::string& list, const std::string& word) { list += (list.empty() ? "" : ", ") + word; }

}  // namespace

void RequireFixedSettings(const TrainSettings& given, const Checkpoint& saved) {
  const std::optional<TrainSettings> before = SettingsOf(saved);
  if (!before) {
    return;
  }
  std::string changed;
  ErrorContext context{.file = saved.path, .remedy = "Leave that out, or train anew without --resume."};
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    const std::string asked = SettingText(given, row.name);
    const std::string was = SettingText(*before, row.name);
    if (!row.after_checkpoint && asked != was) {
      Add(changed, fmt::format("--{} {} (there: {})", row.name, asked, was.empty() ? "not given" : was));
      context.setting = context.setting.empty() ? std::string(row.name) : context.setting;
    }
  }
  if (!changed.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "what this checkpoint fixes is given otherwise: " + changed, context);
  }
}

void RequireNoLargerNetwork(const ResolvedSettings& given, const Preprocessor& data, std::span<const Activation> custom,
                            const Checkpoint& saved) {
  const NetworkPlan plan = PlanNetwork(given, data, custom);
  if (plan.parameter_count() > saved.model.network.parameter_count()) {
    throw Error(ErrorCode::kBadModel, "the checkpoint's network is smaller than that of its settings",
                {.file = saved.path, .remedy = "Resume with the same data and settings."});
  }
}

json ResumedWith(const TrainSettings& given, const Checkpoint& saved) {
  json resumed = saved.model.training.value(kResumedKey, json());
  const std::optional<TrainSettings> before = SettingsOf(saved);
  const json was = before ? ToJson(*before) : json::object();
  const json is = ToJson(given);
  json entry = {
      {"epoch", saved.state.epoch + 1}, {"step", saved.state.step}, {"was", json::object()}, {"is", json::object()}};
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    const bool matters =
        row.trials != InTrials::kOutside && (row.HasEffect(given) || (before && row.HasEffect(*before)));
    if (before && matters && was.at(row.name) != is.at(row.name)) {
      entry["was"][row.name] = was.at(row.name);
      entry["is"][row.name] = is.at(row.name);
    }
  }
  if (!entry["is"].empty()) {
    resumed.push_back(std::move(entry));
  }
  return resumed;
}

std::string ChangedFlags(const json& resumed) {
  std::string flags;
  if (!resumed.is_null()) {
    for (const auto& [name, value] : resumed.back().at("is").items()) {
      Add(flags, "--" + name);
    }
  }
  return flags;
}

TrainSettings SettingsAtStart(const TrainSettings& settings, const json& resumed) {
  json values = ToJson(settings);
  for (auto entry = resumed.rbegin(); entry != resumed.rend(); ++entry) {
    values.update(entry->at("was"));
  }
  return TrainSettingsFromJson(values);
}

void RequireSameRun(const Checkpoint& saved, const Model& model, const TrainOptions& options, uint64_t fingerprint,
                    int64_t train_rows) {
  const auto refuse = [&](const std::string& why) {
    const std::string changed = ChangedFlags(model.training.value(kResumedKey, nlohmann::json()));
    throw Error(ErrorCode::kBadModel, why,
                {.file = saved.path,
                 .remedy = changed.empty() ? "Resume with the same data." : "Resume without " + changed + "."});
  };
  if (saved.model.network.layers() != model.network.layers() ||
      saved.model.network.members() != model.network.members()) {
    refuse("the checkpoint's network is not the one of these settings");
  }
  if (saved.data_fingerprint != fingerprint) {
    refuse("the checkpoint was written for other training data");
  }
  const TrainState& state = saved.state;
  if (const int64_t batch = std::min(options.batch, train_rows);
      state.step > 0 && state.sums.samples != std::min(state.step * batch, train_rows)) {
    refuse(fmt::format("the checkpoint is within an epoch, {} samples in {} steps, and a step of --batch {} has others",
                       state.sums.samples, state.step, batch));
  }
  if (const Verdict verdict = CheckTrainState(saved.state, model.network, options); !verdict) {
    refuse("the checkpoint's training state does not fit: " + verdict.reason);
  }
}

}  // namespace lamina
