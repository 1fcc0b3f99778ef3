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
  bool retrain = false;
};

/// The learning rates of the 2016 paper's grid, tried where nothing else is asked for.
inline constexpr const char* kDefaultVary = "learning-rate=0.001,0.002,0.005,0.01,0.02,0.05,0.1,0.2,0.5,1";

/// Calls visit.Group(title) and visit(name, field, help) for every setting, those of training first. S is
/// SearchSettings or const.
template <class S, class Visitor>
void VisitSearchSettings(S& s, Visitor&& visit) {
  VisitTrainSettings(s.train, visit);
  visit.Group("Search");
  visit("vary", s.vary,
        "NAME=VALUES of any setting above, once for each: a list (0.1,0.5,1; with | between values that have commas: "
        "64|128,64), or a range LOW..HIGH[:log|:linear][:POINTS]; default: learning rates from 0.001 to 1");
  visit("random", s.random, "This many trials drawn at random (--seed) instead of the whole grid; 0: the grid");
  visit("halving", s.halving,
        "Of the trials that reach a stage one in this many goes on, for so many times as many epochs; 0: all go to the "
        "end");
  visit("first-epochs", s.first_epochs, "Epochs of the first stage; 0: two stages come before the last");
  visit("metric", s.metric,
        "What trials are compared by on the validation rows: accuracy, loss, or auto (accuracy for classes)");
  visit("at-once", s.at_once, "Trials side by side, which share the threads; 0: as many as there are threads");
  visit("yes-all", s.yes_all, "Confirms a search of that many trials; needed above 1000");
  visit("state", s.state, "Keep the search in this folder: the same command goes on from there after an interruption");
  visit("retrain", s.retrain, "Train the best once more, on training and validation rows, and write --model");
}

nlohmann::json ToJson(const SearchSettings& settings);

/// Those of the training settings: --retrain writes them.
inline FileUse FilesOf(const SearchSettings& settings) { return FilesOf(settings.train); }

/// Throws Error(kInvalidArgument) for settings that contradict each other, without reading any data.
void ValidateSearch(const SearchSettings& settings);

}  // namespace lamina
