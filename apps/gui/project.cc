// Projects as JSON.
#include "project.h"

#include <QDir>
#include <QFileInfo>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
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
  WriteFileAtomically(path.toStdString(), json.dump(1) + "\n");
}

Project ReadProject(const QString& path) {
  const QDir folder = QFileInfo(path).absoluteDir();
  const auto absolute = [&](const std::string& file) {
    const QString there = QDir::cleanPath(folder.absoluteFilePath(FromText(file)));
    return QFileInfo::exists(there) ? there.toStdString() : file;
  };
  const std::string text = lamina::ReadFile(path.toStdString());
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (json.at(kVersionKey).get<int>() != kProjectVersion) {
      throw Error(ErrorCode::kBadModel, "a project of another version of lamina", {.file = path.toStdString()});
    }
    Project project;
    project.settings = TrainSettingsFromJson(json.at("settings"));
    ForEachFile(project.settings, absolute);
    const std::string model = json.value("model", "");
    project.model = model.empty() ? QString() : FromText(absolute(model));
    project.history = History::FromJson(json.at("history"));
    for (const nlohmann::json& run : json.value("runs", nlohmann::json::array())) {  // older projects have none
      project.runs.push_back(KeptRunFromJson(run));
      ForEachFile(project.runs.back().settings, absolute);
    }
    return project;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kBadModel, "not a project of lamina", {.file = path.toStdString()});
  }
}

}  // namespace lamina::gui
