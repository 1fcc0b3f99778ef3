// SearchSettings: what a search is made from, with its names: the settings of training, and what is tried.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lamina/train/settings.h"

namespace lamina {

struct SearchSettings {
  TrainSettings train;
  std::vector<std::string> vary;
  int64_t random = 0;
  double halving = 3;
  int64_t first_epochs = 0;
  std::string metric = "auto";
  int64_t at_once = 0;
  int64_t yes_all = 0;
  std::string state;
  double lease = 60;
  bool retrain = false;
};

/// The learning rates of the 2016 paper's grid, tried where nothing else is asked for.
inline constexpr const char* kDefaultVary = "learning-rate=0.001,0.002,0.005,0.01,0.02,0.05,0.1,0.2,0.5,1";

/// Its own rows; VisitSettings() goes through those of training first.
template <>
std::span<const Setting<SearchSettings>> SettingRows();

nlohmann::json ToJson(const SearchSettings& settings);

/// Those of the training settings: --retrain writes them.
inline FileUse FilesOf(const SearchSettings& settings) { return FilesOf(settings.train); }

/// `settings` with 5:1 as in the 2016 paper for the split of a file that has no test rows of its own.
SearchSettings WithDefaults(SearchSettings settings);

/// Throws Error(kInvalidArgument) for settings that contradict each other, without reading any data.
void ValidateSearch(const SearchSettings& settings);

}  // namespace lamina
