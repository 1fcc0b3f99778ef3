// Settings from a checkpoint.
#include "lamina/train/resume.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/list_text.h"
#include "lamina/train/checkpoint.h"

namespace lamina {
namespace {

std::string NameAlone(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

ResumedSettings ResumedFrom(const TrainSettings& stored, const std::string& checkpoint) {
  ResumedSettings resumed{stored, {}};
  TrainSettings& settings = resumed.settings;
  ResetSettings(settings, [](const auto& row) { return row.DecidesWriting(); });
  if (!stored.model.empty() && NameAlone(stored.model) + kCheckpointEnding == NameAlone(checkpoint)) {
    settings.model = checkpoint.substr(0, checkpoint.size() - std::string_view(kCheckpointEnding).size());
  }
  if (!stored.checkpoint.empty() && NameAlone(stored.checkpoint) == NameAlone(checkpoint)) {
    settings.checkpoint = checkpoint;
  }
  TrainSettings others = stored;  // what of them is not said by the checkpoint's name
  others.model = settings.model.empty() ? stored.model : "";
  others.checkpoint = settings.checkpoint.empty() ? stored.checkpoint : "";
  VisitSettings(others, [&](const auto& row, const auto& field) {
    if (std::string flag = WritingFlag(row, field); !flag.empty()) {
      resumed.left_out.push_back({std::string(row.name), std::move(flag)});
    }
  });
  return resumed;
}

ResumedSettings ResumeSettings(const std::string& checkpoint, std::span<const Activation> custom) {
  const Checkpoint saved = LoadCheckpoint(checkpoint, custom);
  constexpr const char* kSettingsKey = "settings";
  if (!saved.model.training.contains(kSettingsKey)) {
    throw Error(ErrorCode::kBadModel, "the checkpoint holds no settings", {.file = checkpoint});
  }
  return ResumedFrom(TrainSettingsFromJson(saved.model.training[kSettingsKey]), checkpoint);
}

std::string ResumeCommandLine(const TrainSettings& settings, const std::string& checkpoint) {
  std::string line = "lamina train --resume " + ShellWord(checkpoint);
  for (const SaidFlag& flag : ResumedFrom(settings, checkpoint).left_out) {
    line += flag.text;
  }
  return line;
}

}  // namespace lamina
