// The trials of a search, stage by stage. The constructor lists the trials, takes up what the state folder holds of
// them, and plans the stages; Run() trains what waits, several at once (RunStage, RunTrial), stops the hopeless half
// after a stage (StopHopeless), and ranks. Everything that threads share is under mutex_. Other processes may train
// trials of the same state folder: NextTrial() claims one, or takes over what they recorded.
#include "lamina/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/train/checkpoint.h"
#include "lamina/train/direct_training.h"
#include "lamina/train/method.h"
#include "lamina/train/monitor.h"
#include "lamina/train/recipe.h"
#include "lamina/train/start_model.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

// How often trials of other processes are looked at.
constexpr std::chrono::milliseconds kFirstLook{10};
constexpr std::chrono::milliseconds kLastLook{500};

bool Waits(const Trial& trial, int stage) {
  return (trial.state == TrialState::kWaiting || trial.state == TrialState::kPaused) && trial.stage < stage;
}

// Invalid combinations and training that fails belong to a trial; the rest (files, memory) ends the search.
bool IsOfTrial(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kUnsupported ||
         error.code() == ErrorCode::kDiverged;
}

}  // namespace

Search::Search(const SearchSettings& settings) : settings_(WithDefaults(settings)), space_(settings.vary) {
  ValidateSearch(settings_);
  ListTrials();
  const int threads = settings_.train.threads > 0 ? static_cast<int>(settings_.train.threads) : UsableCores();
  const auto wanted = settings_.at_once > 0 ? settings_.at_once : static_cast<int64_t>(threads);
  at_once_ = static_cast<int>(std::min<int64_t>(wanted, std::ssize(trials_)));
  threads_per_trial_ = std::max(1, threads / at_once_);
  const Stopwatch watch;
  LoadFirst();
  load_seconds_ = watch.Elapsed_seconds();
  settings_.train.recipe = RecipeFor(settings_.train, data_->preprocessor.inputs().is_image());
  PlanStages();
  const bool classes = data_->preprocessor.targets().task() == Task::kClassification;
  by_accuracy_ = settings_.metric == "accuracy" || (settings_.metric == "auto" && classes);
  if (by_accuracy_ && !classes) {
    throw Error(ErrorCode::kInvalidArgument, "--metric accuracy is of classes, and the target is a number to predict",
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
  std::vector<std::vector<std::string>> points;
  if (settings_.random > 0) {
    points = space_.RandomPoints(settings_.random, settings_.train.seed);
  } else {
    for (int64_t i = 0; i < size; ++i) {
      points.push_back(space_.GridPoint(i));
    }
  }
  for (std::vector<std::string>& values : points) {
    Trial trial;
    trial.number = std::ssize(trials_) + 1;
    trial.values = std::move(values);
    trials_.push_back(std::move(trial));
  }
}

void Search::PlanStages() {
  int64_t longest = 1;
  for (Trial& trial : trials_) {
    trial.epochs = TrainOptionsFrom(space_.Apply(settings_.train, trial.values), Loss::kMse, Rows()).epochs;
    longest = std::max(longest, trial.epochs);
  }
  halving_ = SuccessiveHalving(settings_.halving, settings_.first_epochs, longest, std::ssize(trials_));
}

void Search::LoadFirst() {
  std::optional<Error> first_failure;
  for (Trial& trial : trials_) {
    try {
      const TrainSettings settings = SettingsOf(trial);
      ValidateSettings(settings);
      if (data_ == nullptr) {
        std::shared_ptr<const TrainData> data = cache_.Get(settings);
        BuildModel(settings, *data);
        data_ = std::move(data);
        keeps_best_ = ParseKeep(settings.keep) != Keep::kLast;  // there are validation rows
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
  if (data_ == nullptr) {
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
    settings.batch = TrainOptionsFrom(settings, Loss::kMse, Rows()).batch;  // of the trial, not of more rows
    settings.epochs = std::max<int64_t>(1, ScoreOf(trial, keeps_best_).epoch);
    settings.patience = 0;
    settings.keep = "last";
  }
  return settings;
}

void Search::Notify(const SearchCallbacks& callbacks, const Trial* trial) {
  if (callbacks.changed) {
    callbacks.changed({trials_, stage_, stages(), trial});
  }
}

// From where the trial is to the end of `until` epochs. Its history is filled under the lock.
void Search::TrainTrial(Trial& trial, int64_t until, const SearchCallbacks& callbacks) {
  const TrainSettings settings = SettingsOf(trial);
  ValidateSettings(settings);
  const std::shared_ptr<const TrainData> data = cache_.Get(settings);
  Model model = BuildModel(settings, *data);
  TrainOptions options = TrainOptionsFrom(settings, model.loss, RowsOf(*data));
  const std::unique_ptr<Backend> backend = MakeTunedBackend(options.BackendFor(settings.backend, settings.members),
                                                            {.threads = static_cast<int>(settings.threads)}, nullptr);
  options.epochs = trial.epochs;
  options.class_threshold = model.preprocessor.targets().class_threshold();
  options.frozen = FrozenLayers(settings, model.network);
  SetMonitor(settings, model, data->validation, options);
  if (!LearnsByGradient(settings)) {  // all of it in the first stage
    const TrainCallbacks stop_only{{}, {}, callbacks.stop_requested, {}};
    History history = TrainDirectly(settings, *data, *backend, model, stop_only);
    const std::lock_guard lock(mutex_);
    trial.history = std::move(history);
    if (!trial.history.epochs.empty()) {
      trial.state = TrialState::kDone;
      trial.stage = stages();
    }
    return;
  }
  Trainer trainer(model.network, *backend, options);
  int64_t epochs = 0;
  if (std::optional<TrainState> state = state_->Weights(trial.number)) {
    epochs = state->epoch;
    {
      const std::lock_guard lock(mutex_);
      trial.history = state->history;
    }
    trainer.Resume(std::move(*state));
  } else {
    const std::lock_guard lock(mutex_);
    trial.history = {};
  }
  TrainCallbacks each;
  each.stop_requested = [&] { return epochs >= until || (callbacks.stop_requested && callbacks.stop_requested()); };
  each.epoch_done = [&](const EpochRecord& record) {
    ++epochs;
    const std::lock_guard lock(mutex_);
    trial.history.epochs.push_back(record);
    const auto& epochs_done = trial.history.epochs;  // the trainer's own count comes when it pauses
    if (const int64_t best = trial.history.best_epoch;
        best == 0 || WatchedOf(options, record) < WatchedOf(options, epochs_done[static_cast<size_t>(best - 1)])) {
      trial.history.best_epoch = std::ssize(epochs_done);
    }
    Notify(callbacks, &trial);
  };
  each.checkpoint = [&](const TrainState& state) {
    if (state.epoch < options.epochs) {
      state_->PutWeights(trial.number, model, state);
    }
  };
  History history = trainer.Run(data->train, &data->validation, each);
  const std::lock_guard lock(mutex_);
  trial.history = std::move(history);
  if (trial.history.stop_reason == "early_stopping" || epochs >= options.epochs) {
    trial.state = TrialState::kDone;
    trial.stage = stages();
  }
}

void Search::RunTrial(Trial& trial, int stage, const SearchCallbacks& callbacks) {
  const int64_t until = halving_.EpochsAt(trial.epochs, stage);
  {
    const std::lock_guard lock(mutex_);
    trial.state = TrialState::kRunning;
    Notify(callbacks, &trial);
  }
  try {
    TrainTrial(trial, until, callbacks);
  } catch (const Error& error) {
    if (!IsOfTrial(error)) {
      throw;
    }
    const std::lock_guard lock(mutex_);
    trial.state = TrialState::kFailed;
    trial.failure = error.what();
  }
  const std::lock_guard lock(mutex_);
  if (trial.state == TrialState::kRunning) {
    trial.state = TrialState::kPaused;
    if (std::ssize(trial.history.epochs) >= until) {
      trial.stage = stage;
    }
  }
  if (!Waits(trial, stage)) {
    state_->Put(trial, stage);
  }
  Notify(callbacks, &trial);
}

// Claims a trial of `stage` that waits; null where none will, since all are recorded or trained in this process. Waits
// for trials of other processes: one that dies leaves its trial to whoever asks next.
Trial* Search::NextTrial(int stage, const SearchCallbacks& callbacks) {
  for (auto pause = kFirstLook;; pause = std::min(2 * pause, kLastLook)) {
    if (callbacks.stop_requested && callbacks.stop_requested()) {
      return nullptr;
    }
    bool elsewhere = false;
    {
      const std::lock_guard lock(mutex_);
      for (Trial& trial : trials_) {
        if (ends_) {
          return nullptr;
        }
        if (!Waits(trial, stage)) {
          continue;
        }
        const bool claimed = !state_->Take(trial, stage) && state_->Claim(trial.number, stage);
        // Recorded before it was claimed, or the search is over and its records are gone?
        if (claimed && !state_->Take(trial, stage) && !state_->TakeDecision(trials_, stage)) {
          trial.state = TrialState::kRunning;
          return &trial;
        }
        if (Waits(trial, stage)) {
          elsewhere = true;
        } else {
          Notify(callbacks, &trial);
        }
      }
    }
    if (!elsewhere) {
      return nullptr;
    }
    std::this_thread::sleep_for(pause);
  }
}

void Search::RunStage(int stage, const SearchCallbacks& callbacks) {
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      while (Trial* trial = NextTrial(stage, callbacks)) {
        RunTrial(*trial, stage, callbacks);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure = failure == nullptr ? std::current_exception() : failure;
      ends_ = true;
    }
  };
  const auto waiting = std::count_if(trials_.begin(), trials_.end(), [&](const Trial& t) { return Waits(t, stage); });
  // Each thread leads a team of its own; with one thread a trial that is itself.
  std::vector<std::thread> threads;
  for (int i = 1; i < at_once_ && i < waiting; ++i) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

// After a stage the best of those that finished it go on. All processes see the same trials here, and the same
// decision.
void Search::Decide(int stage) {
  if (!state_->TakeDecision(trials_, stage)) {
    StopHopeless(trials_, stage, settings_.halving, by_accuracy_, keeps_best_);
    state_->PutDecision(trials_, stage);
  }
  decided_ = stage;
  for (const Trial& trial : trials_) {
    if (trial.state != TrialState::kPaused) {
      state_->DropWeights(trial.number);
    }
  }
}

SearchResult Search::Run(const SearchCallbacks& callbacks) {
  const Stopwatch watch;
  SearchResult result;
  const auto interrupted = [&] {
    return std::any_of(trials_.begin(), trials_.end(), [&](const Trial& trial) { return Waits(trial, stage_); });
  };
  for (stage_ = 1; stage_ <= stages(); ++stage_) {
    RunStage(stage_, callbacks);
    if (interrupted()) {
      result.interrupted = true;
      break;
    }
    if (stage_ < stages() && decided_ < stage_) {
      Decide(stage_);
    }
  }
  if (!result.interrupted) {
    state_->Finish(trials_, stages());
  }
  stage_ = std::min(stage_, stages());
  result.trials = trials_;
  result.ranking = RankTrials(trials_, by_accuracy_, keeps_best_);
  result.seconds = watch.Elapsed_seconds();
  if (!result.interrupted && trials_[result.ranking.front()].state == TrialState::kFailed) {
    throw Error(ErrorCode::kDiverged,
                fmt::format("every trial failed; the first one: {}", trials_[result.ranking.front()].failure));
  }
  return result;
}

}  // namespace lamina
