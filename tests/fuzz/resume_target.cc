// Checkpoints as settings: a stranger's decide neither where is written nor how much memory is taken.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/scratch_folder.h"
#include "lamina/run/checkpoint.h"
#include "lamina/run/checkpoint_settings.h"
#include "lamina/run/resume.h"
#include "lamina/run/session.h"
#include "lamina/settings/settings_text.h"
#include "lamina/settings/validation.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

using nlohmann::json;

constexpr char kNext = '\xFF';  // between the parts of an input: in no JSON text

// A checkpoint of a run on a small table, in a folder of its own.
struct SmallRun {
  ScratchFolder folder{"resume"};
  std::string table = folder.Path("table.csv");
  std::string path = folder.Path("m.checkpoint");
  Checkpoint checkpoint;

  SmallRun() {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 12; ++i) {
      text += std::to_string(i * 7 % 5) + ".5," + (i % 3 == 0 ? "u" : "v") + "," + std::to_string(i) + ".25\n";
    }
    WriteFileAtomically(table, text);
    TrainSettings settings;
    settings.data = table;
    settings.recipe = "plain";
    settings.hidden = {2};
    settings.threads = 1;
    settings.model = folder.Path("m");
    TrainSession session(settings);
    TrainCallbacks callbacks;
    int64_t asked = 0;
    callbacks.stop_requested = [&] { return ++asked > 3; };
    session.Run(callbacks);
    checkpoint = LoadCheckpoint(path);
  }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.Path())) {
      names.insert(entry.path().filename().string());
    }
    names.erase("m");  // the model, which a run writes that is at its end
    return names;
  }
};

// What a stranger wrote over the settings of the run; the files that are read stay ours, the machine's threads too.
json StrangersSettings(const SmallRun& run, std::string_view text) {
  json settings = run.checkpoint.model.training["settings"];
  const json said = json::parse(text, nullptr, false);
  if (!said.is_object()) {
    return said.is_discarded() ? settings : said;
  }
  settings.update(said);
  const json before = ToJson(TrainSettings());
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    if (row.reads != nullptr) {
      settings[row.name] = row.name == "data" ? json(run.table) : before[row.name];
    }
  }
  settings["threads"] = 1;
  return settings;
}

// Everything that decides writing is as if nothing was said of it, or named by the checkpoint's own name.
void DemandOwnPlaces(const ResumedSettings& resumed, const TrainSettings& stored, const std::string& path) {
  const std::string model = path.substr(0, path.size() - std::string_view(kCheckpointEnding).size());
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    if (!row.DecidesWriting()) {
      continue;
    }
    const std::string text = SettingText(resumed.settings, row.name);
    const std::string unsaid = SettingText(TrainSettings(), row.name);
    Demand(text == unsaid || (row.name == "model" && text == model) || (row.name == "checkpoint" && text == path),
           "a checkpoint decides where is written");
    bool shown = false;
    for (const SaidFlag& flag : resumed.left_out) {
      shown = shown || flag.name == row.name;
    }
    Demand(shown || text != unsaid || SettingText(stored, row.name) == unsaid, "what was left out is not shown");
  }
}

// JSON of settings, the mark, JSON of "resumed".
void FuzzResume(std::string_view input) {
  static const SmallRun run;
  Bytes bytes(input);
  Model model = run.checkpoint.model;
  model.training["settings"] = StrangersSettings(run, bytes.Until(kNext));
  if (json resumed = json::parse(bytes.Rest(), nullptr, false); !resumed.is_discarded()) {
    model.training[kResumedKey] = std::move(resumed);
  }
  try {
    SaveCheckpoint(run.path, model, run.checkpoint.state, run.checkpoint.data_fingerprint);
  } catch (const json::exception&) {  // bytes that JSON cannot hold
    return;
  }
  const std::set<std::string> names = run.Names();
  ResumedSettings resumed;
  if (!Accepts(run.path, [&] { resumed = ResumeSettings(run.path); })) {
    return;
  }
  DemandOwnPlaces(resumed, TrainSettingsFromJson(model.training["settings"]), run.path);
  Accepts("", [&] {
    TrainSession session(resumed.settings, run.path);
    TrainCallbacks callbacks;
    callbacks.stop_requested = [] { return true; };
    session.Run(callbacks);
  });
  Demand(run.Names() == names, "a checkpoint made files");
}

const RegisteredTargets resume_targets{{"resume", &FuzzResume}};

}  // namespace
}  // namespace lamina::fuzz
