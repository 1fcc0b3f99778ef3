// Project: a file that names the data, holds the settings and how training went, and names the model.
#pragma once

#include <QString>

#include "lamina/settings/settings.h"
#include "lamina/train/history.h"
#include "run_list.h"

namespace lamina::gui {

inline constexpr const char* kProjectSuffix = ".lamina";

struct Project {
  TrainSettings settings;
  QString model;  // its file; "" for none
  History history;
  std::vector<KeptRun> runs;
  // Known after a project was read:
  QString left_out;  // what its settings say about where files are written
  QString removed;   // what they, or those of its runs, ask for that this version does not have
};

/// Files are named as seen from the folder of the project, so that all of it can move. Throws Error(kIo).
void WriteProject(const QString& path, const Project& project);
/// Its settings do not say where files are written, whatever the file says: the window alone decides that. Throws
/// Error: kNotFound, kIo (also where it names what is neither a file nor a folder), kBadModel for what is no project,
/// or is damaged.
Project ReadProject(const QString& path);

}  // namespace lamina::gui
