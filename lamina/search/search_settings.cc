// What a search is made from.
#include "lamina/search/search_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/run/command_line.h"
#include "lamina/run/session.h"
#include "lamina/search/search_space.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

void ValidateFiles(const SearchSettings& settings) {
  const TrainSettings& train = settings.train;
  if (!train.checkpoint.empty() || train.checkpoint_epochs > 0) {
    RefuseSetting("checkpoint", "--checkpoint is for one training; a search keeps its state with --state FOLDER",
                  train.checkpoint);
  }
  if (EffortFrom(train) != Effort::kNormal) {
    RefuseSetting("effort", "--effort is for one training; a search has --recipe and --vary", train.effort,
                  "Use lamina train, or leave it out.");
  }
  if (!train.start_from.empty()) {
    RefuseSetting("start-from", "--start-from is for one training", train.start_from, "Use lamina train.");
  }
  const bool retrains = settings.retrain || !train.history.empty() || !train.history_json.empty();
  if (settings.ensemble > 0 && retrains) {
    RefuseSetting("ensemble",
                  "--ensemble keeps the networks that were trained, --retrain and --history are for one more", "",
                  "Leave one of them out.");
  }
  if (settings.ensemble == 0 && !settings.retrain && (retrains || !train.model.empty())) {
    RefuseSetting("model", "--model is written by --retrain or --ensemble, --history by --retrain", train.model,
                  "Add --retrain or --ensemble 8, or train with the line that is printed at the end.");
  }
  if (!settings.time_limit.empty() && !settings.state.empty()) {
    RefuseSetting("time-limit",
                  "--time-limit ends a search by the clock, and searches that share --state must end alike",
                  settings.time_limit, "Leave one of them out.");
  }
  if (settings.retrain && train.model.empty()) {
    RefuseSetting("retrain", "--retrain needs --model FILE");
  }
  if (settings.retrain && !train.validation.empty()) {
    RefuseSetting("retrain",
                  "--retrain joins training and validation rows of one file, and --validation is another one",
                  train.validation, "Leave --retrain out, or use --split.");
  }
}

using S = SearchSettings;
using Row = Setting<S>;

std::vector<Row> TrialRows() {
  return {
      Row("vary", &S::vary,
          "NAME=VALUES of any setting above, once for each: a list (0.1,0.5,1; with | between values that have "
          "commas: 64|128,64), or a range LOW..HIGH[:log|:linear][:POINTS]; default: learning rates from 0.001 to 1",
          {.commas = true}),
      Row("random", &S::random, "This many trials drawn at random (--seed) instead of the whole grid; 0: the grid",
          {.range = kNotNegative}),
      Row("halving", &S::halving,
          "One in this many trials of a stage goes on, for this many times as many epochs; 0: all go to the end",
          {.range = NumberRange{.low = 1, .above_low = true, .zero = true}}),
      Row("first-epochs", &S::first_epochs, "Epochs of the first stage; 0: two stages come before the last",
          {.range = kNotNegative, .effect = [](const S& s) { return s.halving > 1; }}),
      Row("metric", &S::metric,
          "What trials are compared by on the validation rows: accuracy, loss, or auto (accuracy for classes)",
          {.choices =
               [] {
                 return std::vector<std::string>{"auto", "accuracy", "loss"};
               },
           .basic = "What trials are compared by"})};
}

std::vector<Row> SearchRows() {
  return {Row("at-once", &S::at_once, "Trials side by side, which share the threads; 0: as many as there are threads",
              {.range = kThreadCounts}),
          Row("yes-all", &S::yes_all, "Confirms a search of that many trials; needed above 1000",
              {.trials = InTrials::kOutside}),
          Row("state", &S::state,
              "Keep the search in this folder. The same command goes on from there; several, on all hosts that see "
              "the folder, share its trials",
              {.trials = InTrials::kOutside, .decides_writing = true}),
          Row("lease", &S::lease,
              "Seconds without a sign of life after which trials of another host's process are taken over",
              {.range = NumberRange{.low = 1, .high = 86400},
               .effect = [](const S& s) { return !s.state.empty(); },
               .trials = InTrials::kOutside}),
          Row("time-limit", &S::time_limit,
              "End the search after this time (90s, 10m, 1h). Each stage has its share, and trials without a turn "
              "are left out",
              {.trials = InTrials::kOutside, .basic = "End the search after this time: 90s, 10m, 1h"}),
          Row("ensemble", &S::ensemble,
              "Write --model with up to this many networks of finished trials, chosen by their mean answer to the "
              "validation rows; 0: none",
              {.range = NumberRange{.low = 0, .high = 1000}, .basic = "Keep up to this many networks together"}),
          Row("check-folds", &S::check_folds,
              "Compare the best trial with the default, trial 1, on this many folds of all rows; 0: no comparison; "
              "auto: 5 below 2,000 training rows, without --time-limit, --state and --ensemble",
              {.range = kFoldCounts, .trials = InTrials::kOutside}),
          Row("retrain", &S::retrain, "Train the best once more, on training and validation rows, and write --model",
              {.trials = InTrials::kOutside})};
}

}  // namespace

template <>
std::span<const Setting<SearchSettings>> SettingRows() {
  static const std::vector<Row> rows = JoinGroups<S>({{"Search", TrialRows()}, {"Search", SearchRows()}});
  return rows;
}

nlohmann::json ToJson(const SearchSettings& settings) {
  nlohmann::json node = ToJson(settings.train);
  for (const auto& row : SettingRows<SearchSettings>()) {
    WithField(settings, row, [&](const auto& field) {
      if constexpr (requires { field.has_value(); }) {
        node[row.name] = field ? nlohmann::json(*field) : nlohmann::json(nullptr);
      } else {
        node[row.name] = field;
      }
    });
  }
  return node;
}

std::string SearchCommandLine(const SearchSettings& settings) {
  const nlohmann::json values = ToJson(settings);
  const nlohmann::json defaults = ToJson(SearchSettings());
  return "lamina search" + FlagsText<TrainSettings>(ToJson(settings.train), ToJson(TrainSettings())) +
         FlagsText<SearchSettings>(values, defaults);
}

std::optional<double> TimeLimit_seconds(const SearchSettings& settings) {
  return ParseTimeLimit_seconds(settings.time_limit);
}

int64_t FoldsOfCheck(const SearchSettings& settings, int64_t rows) {
  constexpr int64_t kFewRows = 2000;
  constexpr int64_t kUsualFolds = 5;
  if (settings.check_folds) {
    return *settings.check_folds;
  }
  const bool ends_otherwise = !settings.time_limit.empty() || !settings.state.empty() || settings.ensemble > 0;
  return ends_otherwise || rows >= kFewRows ? 0 : kUsualFolds;
}

SearchSettings WithDefaults(SearchSettings settings, bool images) {
  TrainSettings& train = settings.train;
  if (HasKernelsBeside(train)) {
    RefuseSetting("recipe", "a search is of one network, and recipe mixed is one beside a kernel machine", train.recipe,
                  "Use --recipe tabular.");
  }
  train.recipe = RecipeFor(train, images);
  if (settings.vary.empty() && train.recipe == kTabularRecipe) {
    settings.vary.assign(std::begin(kRecipeVary), std::end(kRecipeVary));
    settings.random = settings.random > 0 ? settings.random : kRecipeTrials;
  }
  bool own_test = !train.test.empty();
  for (const DataSetRow& row : DataSetTable()) {
    own_test = own_test || train.data.starts_with(std::string(row.name) + ":");
  }
  std::error_code ignored;
  own_test = own_test || std::filesystem::is_directory(train.data, ignored);
  if (train.split.empty() && train.validation.empty() && !own_test) {
    train.split = {5.0 / 6.0, 1.0 / 6.0, 0.0};
  }
  return settings;
}

void ValidateSearch(const SearchSettings& settings) {
  if (settings.train.data.empty()) {
    RefuseSetting("data", "no training data", "", "Give --data FILE.");
  }
  CheckSettingRows(settings);
  RequireEncodedForMemory(settings.train);
  TimeLimit_seconds(settings);
  const SearchSpace space(settings.vary);
  for (const SearchParameter& parameter : space.parameters()) {
    if (settings.metric == "loss" && TrainSettingRow(parameter.name).shapes_loss) {
      RefuseSetting("metric", fmt::format("--metric loss cannot compare trials of different {}", parameter.name),
                    settings.metric, "Use --metric accuracy, or search one of them at a time.");
    }
  }
  const std::vector<double>& split = settings.train.split;
  if (split.size() == 3 && split[1] == 0 && settings.train.validation.empty()) {
    RefuseSetting("split", "a search compares trials on validation rows, and --split leaves none", FieldText(&split),
                  "For example --split 0.8,0.2,0.");
  }
  ValidateFiles(settings);
}

}  // namespace lamina
