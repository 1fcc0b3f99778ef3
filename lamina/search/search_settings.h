// SearchSettings: what a search is made from, with its names: the settings of training, and what is tried.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lamina/settings/settings.h"
#include "lamina/settings/validation.h"

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
  std::string time_limit;
  int64_t ensemble = 0;
  std::optional<int64_t> check_folds;  // none: FoldsOfCheck()
  std::string state;
  double lease = 60;
  bool retrain = false;
};

/// The learning rates of the 2016 paper's grid, tried where nothing else is asked for.
inline constexpr const char* kDefaultVary = "learning-rate=0.001,0.002,0.005,0.01,0.02,0.05,0.1,0.2,0.5,1";

/// What recipe tabular tries where nothing else is asked for: the neighborhood of its own values, which come first. The
/// wider ranges of RealMLP-HPO (Holzmüller et al. 2024) found nothing better on California housing in ten draws. Their
/// networks added less to an ensemble.
inline constexpr const char* kRecipeVary[] = {"learning-rate=0.02..0.12:log",
                                              "hidden=256,256,256|384,384|256,256,256,256", "activation=mish,selu,silu",
                                              "dropout=0,0.05"};
inline constexpr int64_t kRecipeTrials = 30;

/// Seconds of "90", "90s", "10m" or "1.5h"; none for an empty text. Throws Error(kInvalidArgument).
std::optional<double> TimeLimit_seconds(const SearchSettings& settings);

/// Its own rows; VisitSettings() goes through those of training first.
template <>
std::span<const Setting<SearchSettings>> SettingRows();

nlohmann::json ToJson(const SearchSettings& settings);

/// The command of the search, as TrainCommandLine() is of a training.
std::string SearchCommandLine(const SearchSettings& settings);

/// Those of the training settings: --retrain writes them.
inline FileUse FilesOf(const SearchSettings& settings) { return FilesOf(settings.train); }

/// `settings` with defaults: a 5:1 split, as in the 2016 paper, for a file without test rows. The recipe is the one
/// that a training would have (RecipeFor()); it decides what is tried.
SearchSettings WithDefaults(SearchSettings settings, bool images);

/// The number of folds on which the best is compared with the default for so many rows: settings.check_folds, else 5
/// below 2,000 rows. There, few validation rows decide little. 0: no folds; also for an ensemble, and where a clock or
/// a shared folder decides when the search ends.
int64_t FoldsOfCheck(const SearchSettings& settings, int64_t rows);

/// Throws Error(kInvalidArgument) for settings that contradict each other, without reading any data.
void ValidateSearch(const SearchSettings& settings);

}  // namespace lamina
