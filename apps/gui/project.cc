// Projects as JSON.
#include "project.h"

#include <fmt/format.h>
#include <QDir>
#include <QFileInfo>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/model/checked_json.h"
#include "lamina/run/command_line.h"
#include "model_store.h"
#include "problem.h"

namespace lamina::gui {
namespace {

constexpr int kProjectVersion = 1;
constexpr const char* kVersionKey = "lamina_project";

// The settings that name a file, which `change` may rename. A name that is no file ("kddcup99") stays.
template <class Fn>
void ForEachFile(TrainSettings& settings, const Fn& change) {
  for (const auto& row : SettingRows<TrainSettings>()) {
    if (const auto* member = std::get_if<std::string TrainSettings::*>(&row.field); member != nullptr && row.IsFile()) {
      std::string& text = settings.*(*member);
      text = text.empty() ? "" : change(text);
    }
  }
}

// Takes out what decides where files are written; its flags.
QString TakeWriting(TrainSettings& settings) {
  std::string flags;
  VisitSettings(settings, [&](const auto& row, const auto& field) { flags += WritingFlag(row, field); });
  ResetSettings(settings, [](const auto& row) { return row.DecidesWriting(); });
  return FromText(flags).trimmed();
}

// Reading a device or a pipe may never end, and whoever wrote the project may have named one.
void RequireNoDevice(const std::string& path, const QString& project) {
  if (IsSpecialFile(path)) {
    throw Error(ErrorCode::kIo, "the project names what is neither a file nor a folder",
                {.file = project.toStdString(), .value = path, .remedy = "Open the data by themselves."});
  }
}

// What the window would show for minutes: whoever wrote the project may have made it so.
void RequireShowable(const TrainSettings& settings, const QString& project) {
  constexpr size_t kMostLayers = 1000;
  constexpr size_t kMostText = 1 << 20;
  VisitSettings(settings, [&]<class T>(const auto& row, const T& field) {
    size_t size = 0;  // as a text
    if constexpr (std::is_same_v<T, std::string>) {
      size = field.size();
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      for (const std::string& name : field) {
        size += name.size() + 1;
      }
    }
    bool too_long = size > kMostText;
    if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<double>>) {
      too_long = field.size() > kMostLayers;
    }
    if (too_long) {
      throw Error(ErrorCode::kBadModel, fmt::format("setting {} of the project is too long to be shown", row.name),
                  {.file = project.toStdString(), .setting = std::string(row.name)});
    }
  });
}

}  // namespace

void WriteProject(const QString& path, const Project& project) {
  const QDir folder = QFileInfo(path).absoluteDir();
  const auto relative = [&](const std::string& file) {
    return QFileInfo(FromText(file)).isAbsolute() ? folder.relativeFilePath(FromText(file)).toStdString() : file;
  };
  TrainSettings settings = project.settings;
  ForEachFile(settings, relative);
  nlohmann::json runs = nlohmann::json::array();
  for (KeptRun run : project.runs) {
    ForEachFile(run.settings, relative);
    runs.push_back(ToJson(run));
  }
  const nlohmann::json json = {{kVersionKey, kProjectVersion},
                               {"settings", ToJson(settings)},
                               {"model", relative(project.model.toStdString())},
                               {"history", project.history.ToJson()},
                               {"runs", std::move(runs)}};
  WriteFileAtomically(path.toStdString(), Sealed(json).dump(1) + "\n");
}

Project ReadProject(const QString& path) {
  const QDir folder = QFileInfo(path).absoluteDir();
  const auto absolute = [&](const std::string& file) {
    const QString there = QDir::cleanPath(folder.absoluteFilePath(FromText(file)));
    std::string found = QFileInfo::exists(there) ? there.toStdString() : file;
    RequireNoDevice(found, path);
    return found;
  };
  QStringList removed;
  const auto take_removed = [&](const nlohmann::json& settings) {
    const QString text = RemovedText(settings);
    if (!text.isEmpty() && !removed.contains(text)) {
      removed << text;
    }
  };
  const std::string text = lamina::ReadFile(path.toStdString());
  try {
    nlohmann::json json = ParseUntrustedJson(text, path.toStdString());
    if (!Unseal(json)) {
      throw Error(ErrorCode::kBadModel, "the project is damaged: its content does not fit its checksum",
                  {.file = path.toStdString(), .remedy = "Copy it again."});
    }
    if (json.at(kVersionKey).get<int>() != kProjectVersion) {
      throw Error(ErrorCode::kBadModel, "a project of another version of lamina", {.file = path.toStdString()});
    }
    Project project;
    project.settings = TrainSettingsFromJson(json.at("settings"));
    RequireShowable(project.settings, path);
    take_removed(json.at("settings"));
    project.left_out = TakeWriting(project.settings);
    ForEachFile(project.settings, absolute);
    const std::string model = json.value("model", "");
    project.model = model.empty() ? QString() : FromText(absolute(model));
    project.history = History::FromJson(json.at("history"));
    for (const nlohmann::json& run : json.value("runs", nlohmann::json::array())) {  // older projects have none
      project.runs.push_back(KeptRunFromJson(run));
      RequireShowable(project.runs.back().settings, path);
      take_removed(run.at("settings"));
      TakeWriting(project.runs.back().settings);
      ForEachFile(project.runs.back().settings, absolute);
    }
    project.removed = removed.join(QStringLiteral("; "));
    return project;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kBadModel, "not a project of lamina", {.file = path.toStdString()});
  }
}

}  // namespace lamina::gui
