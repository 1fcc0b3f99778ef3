// Settings of commands as flags and as configuration files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lamina/layer/file_layer.h"
#include "lamina/layer/file_neighbours.h"
#include "lamina/rbf/file_centres.h"
#include "lamina/search/search_settings.h"
#include "lamina/train/command_line.h"
#include "lamina/train/settings.h"

namespace lamina::cli {

/// One flag per setting, --name, bound to `settings`, whose present values are the defaults.
void AddSettingFlags(CLI::App& app, TrainSettings& settings);
/// Those of some settings.
void AddSettingFlags(CLI::App& app, TrainSettings& settings, bool (*which)(const Setting<TrainSettings>& row));
void AddSettingFlags(CLI::App& app, FileLayerSettings& settings);
void AddSettingFlags(CLI::App& app, FileNeighboursSettings& settings);
void AddSettingFlags(CLI::App& app, FileCentresSettings& settings);
void AddSettingFlags(CLI::App& app, SearchSettings& settings);

/// A list of names, each of which may have commas in quotes (SplitList()).
CLI::Option* AddNamesFlag(CLI::App& app, const std::string& flag, std::vector<std::string>& names,
                          const std::string& help);

/// For CLI::Option::check(), which sees the text: CLI11 takes the nearest number for what does not fit. Why `text` is
/// no whole number of 0 or more, or "".
std::string CheckCount(const std::string& text);

/// What files that settings come from say about where is written (Setting::DecidesWriting), which the command line
/// alone decides.
class SaidByFiles {
 public:
  void Add(const std::string& file, SaidFlag flag);
  /// Throws Error(kInvalidArgument), showing them, where some were not given on the command line of `command` as well.
  void RequireGiven(const CLI::App& command) const;

 private:
  struct Said {
    std::string file;
    SaidFlag flag;
  };
  std::vector<Said> said_;
};

/// A TOML file with the names of the flags. Throws Error with file and line for unknown names and wrong types.
/// What it says about where is written goes to `said`, too.
void ReadConfigFile(const std::string& path, TrainSettings& settings, SaidByFiles& said);
void ReadConfigFile(const std::string& path, FileLayerSettings& settings, SaidByFiles& said);
void ReadConfigFile(const std::string& path, SearchSettings& settings, SaidByFiles& said);

/// A complete TOML file with every setting, its help as a comment.
std::string WriteConfig(const TrainSettings& settings);
std::string WriteConfig(const FileLayerSettings& settings);
std::string WriteConfig(const SearchSettings& settings);

/// The value of --flag in the raw arguments: files that give defaults are read before the flags are parsed.
std::string ValueInArguments(int argc, const char* const* argv, const std::string& flag);

}  // namespace lamina::cli
