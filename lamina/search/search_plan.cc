// What a search will do, of class Search: its trials, their data and their stages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/run/checkpoint.h"
#include "lamina/search/search.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"
#include "lamina/settings/settings_text.h"
#include "lamina/settings/validation.h"

namespace lamina {

Search::Search(const SearchSettings& settings) : settings_(settings), space_(settings.vary) {
  ValidateSearch(settings);
  settings_ = WithDefaults(settings, cache_.HasImages(settings.train));
  ValidateSearch(settings_);
  space_ = SearchSpace(settings_.vary);
  ListTrials();
  const int threads = settings_.train.threads > 0 ? static_cast<int>(settings_.train.threads) : UsableCores();
  const auto wanted = settings_.at_once > 0 ? settings_.at_once : static_cast<int64_t>(threads);
  at_once_ = static_cast<int>(std::min<int64_t>(wanted, std::ssize(trials_)));
  threads_per_trial_ = std::max(1, threads / at_once_);
  const Stopwatch watch;
  LoadFirst();
  load_seconds_ = watch.Elapsed_seconds();
  PlanStages();
  const bool classes = data_->preprocessor.targets().task() == Task::kClassification;
  by_accuracy_ = settings_.metric == "accuracy" || (settings_.metric == "auto" && classes);
  if (by_accuracy_ && !classes) {
    throw Error(ErrorCode::kInvalidArgument, "--metric accuracy is for classes, and the target is a number to predict",
                {.remedy = "Use --metric loss."});
  }
  if (data_->validation.size() == 0) {
    throw Error(ErrorCode::kInvalidArgument, "a search compares trials on validation rows, and there are none",
                {.remedy = "Give them with --split or --validation."});
  }
  ReadState();
}

void Search::ListTrials() {
  const int64_t size = settings_.random > 0 ? settings_.random : space_.GridSize();
  if (size > kMaxUnconfirmed && settings_.yes_all != size) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("this search has {} trials", WithThousands(size)),
                {.value = settings_.random > 0 ? "--random" : "the grid",
                 .remedy = fmt::format("Confirm them with --yes-all {}, or try fewer: --random 100 draws some of them.",
                                       size)});
  }
  // Trial 1 is the default: what a training with these settings, and nothing varied, does.
  std::vector<std::vector<std::string>> points{space_.OwnPoint(settings_.train)};
  const auto add = [&](std::vector<std::string> point) {
    if (point != points.front()) {
      points.push_back(std::move(point));
    }
  };
  if (settings_.random > 0) {
    for (std::vector<std::string>& point : space_.RandomPoints(settings_.random, settings_.train.seed)) {
      add(std::move(point));
    }
    points.resize(std::min(points.size(), static_cast<size_t>(settings_.random)));
  } else {
    for (int64_t i = 0; i < size; ++i) {
      add(space_.GridPoint(i));
    }
  }
  for (std::vector<std::string>& values : points) {
    Trial trial;
    trial.number = std::ssize(trials_) + 1;
    trial.values = std::move(values);
    trials_.push_back(std::move(trial));
  }
}

TrainOptions Search::OptionsOf(const TrainSettings& settings) const {
  return TrainOptionsFrom(ResolveFor(settings, Rows()), Loss::kMse, Rows());
}

void Search::PlanStages() {
  int64_t longest = 1;
  for (Trial& trial : trials_) {
    trial.epochs = OptionsOf(space_.Apply(settings_.train, trial.values)).epochs;
    longest = std::max(longest, trial.epochs);
  }
  halving_ = SuccessiveHalving(settings_.halving, settings_.first_epochs, longest, std::ssize(trials_));
}

// Epochs of all trials of each stage.
std::vector<double> Search::WorkOfStages() const {
  std::vector<double> work;
  int64_t left = std::ssize(trials_);
  for (int stage = 1; stage <= stages(); ++stage) {
    double epochs = 0;
    for (const Trial& trial : trials_) {
      const int64_t before = stage == 1 ? 0 : halving_.EpochsAt(trial.epochs, stage - 1);
      epochs += static_cast<double>(halving_.EpochsAt(trial.epochs, stage) - before);
    }
    work.push_back(epochs * static_cast<double>(left) / static_cast<double>(trials_.size()));
    left = GoingOn(left, settings_.halving, settings_.ensemble);
  }
  return work;
}

void Search::LoadFirst() {
  std::optional<Error> first_failure;
  for (Trial& trial : trials_) {
    try {
      const TrainSettings settings = SettingsOf(trial);
      ValidateSettings(settings);
      if (data_ == nullptr) {
        std::shared_ptr<const TrainData> data = cache_.Get(settings);
        BuildModel(ResolveFor(settings, RowsOf(*data)), *data);
        data_ = std::move(data);
        keeps_best_ = ParseKeep(settings.keep) != Keep::kLast;  // there are validation rows
      } else {
        PlanNetwork(ResolveFor(settings, Rows()), data_->preprocessor);
      }
    } catch (const Error& error) {
      if (!IsOfTrial(error)) {
        throw;
      }
      trial.state = TrialState::kFailed;
      trial.failure = error.what();
      if (!first_failure) {
        first_failure = error;
      }
    }
    if (data_ != nullptr && std::ssize(trials_) > kMaxUnconfirmed) {
      break;  // the others are looked at when it is their turn
    }
  }
  const auto invalid = std::count_if(trials_.begin(), trials_.end(),
                                     [](const Trial& trial) { return trial.state == TrialState::kFailed; });
  const bool default_alone = std::ssize(trials_) > 1 && invalid == std::ssize(trials_) - 1;
  if (first_failure && (data_ == nullptr || default_alone)) {
    const ErrorContext& context = first_failure->context();
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("no trial is valid; the first one: {}", first_failure->message()), context);
  }
}

void Search::ReadState() {
  nlohmann::json definition = ToJson(settings_);
  VisitSettings(settings_, [&](const auto& row, const auto&) {
    if (row.trials == InTrials::kOutside) {
      definition.erase(row.name);
    }
  });
  definition.erase("at-once");
  definition["threads_per_trial"] = threads_per_trial_;
  definition["trials"] = trials_.size();
  definition["data_fingerprint"] = fmt::format("{:016x}", DataFingerprint(data_->train, &data_->validation));
  state_ = std::make_unique<SearchState>(settings_.state, std::move(definition), settings_.lease);
  decided_ = state_->Load(trials_);
  begun_ = std::count_if(trials_.begin(), trials_.end(), [&](const Trial& trial) {
    return !trial.history.epochs.empty() || state_->HasWeights(trial.number);
  });
}

TrainSettings Search::SettingsOf(const Trial& trial) const {
  TrainSettings settings = space_.Apply(settings_.train, trial.values);
  settings.threads = threads_per_trial_;
  ResetSettings(settings, [](const auto& row) { return row.writes; });
  return settings;
}

TrainSettings Search::RetrainSettingsOf(const Trial& trial) const {
  TrainSettings settings = SettingsOf(trial);
  for (const auto& row : SettingRows<TrainSettings>()) {
    if (row.trials == InTrials::kOutside) {
      std::visit([&](auto member) { settings.*member = settings_.train.*member; }, row.field);
    }
  }
  SplitOptions split = SplitOptionsFrom(settings, data_->test.size() > 0 && settings.split.empty(), false);
  settings.split = {split.train + split.validation, 0.0, split.test};
  if (LearnsByGradient(settings)) {
    settings.batch = OptionsOf(settings).batch;  // of the trial, not of more rows
    settings.epochs = std::max<int64_t>(1, ScoreOf(trial, keeps_best_).epoch);
    settings.patience = settings.patience_waves = 0;
    settings.keep = "last";
  }
  return settings;
}

}  // namespace lamina
