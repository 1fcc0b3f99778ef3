// TrainSettings as flags and as configuration files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "lamina/train/settings.h"

namespace lamina::cli {

/// One flag per setting, --name, bound to `settings`, whose present values are the defaults.
void AddSettingFlags(CLI::App& app, TrainSettings& settings);

/// A TOML file with the names of the flags. Throws Error with file and line for unknown names and wrong types.
void ReadConfigFile(const std::string& path, TrainSettings& settings);

/// A complete TOML file with every setting, its help as a comment.
std::string WriteConfig(const TrainSettings& settings);

}  // namespace lamina::cli
