// Search: many short trainings on shared data, the hopeless ones stopped early, ranked by their validation rows.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/run/train_data.h"
#include "lamina/search/search_settings.h"
#include "lamina/search/search_space.h"
#include "lamina/search/search_state.h"
#include "lamina/search/successive_halving.h"
#include "lamina/search/time_budget.h"
#include "lamina/search/trial.h"

namespace lamina {

/// A look at a running search, valid during the callback.
struct SearchView {
  std::span<const Trial> trials;
  int stage = 0;  // from 1
  int stages = 1;
  const Trial* changed = nullptr;  // the trial that finished an epoch or changed its state
};

/// Called from the threads of the search, one call at a time.
struct SearchCallbacks {
  std::function<void(const SearchView&)> changed;
  std::function<bool()> stop_requested;     // asked after every step of every trial
  std::function<bool()> abandon_requested;  // asked within long steps: TrainCallbacks::abandon_requested
};

struct SearchResult {
  std::vector<Trial> trials;
  std::vector<size_t> ranking;  // indices of trials, best first
  bool interrupted = false;
  int64_t left_out = 0;  // trials that had no turn within --time-limit
  double seconds = 0;
};

class Search {
 public:
  /// Validates, lists the trials, reads the data of the first one that can be trained, and the state if there is one.
  /// Throws Error: kInvalidArgument also for a grid above kMaxUnconfirmed that --yes-all does not confirm, and where no
  /// trial is valid.
  explicit Search(const SearchSettings& settings);

  /// Trains all to the end, or until stop_requested. A trial that fails is ranked last with the reason; Throws Error
  /// where all do.
  SearchResult Run(const SearchCallbacks& callbacks);

  static constexpr int64_t kMaxUnconfirmed = 1000;

  const SearchSettings& settings() const { return settings_; }
  const SearchSpace& space() const { return space_; }
  const TrainData& data() const { return *data_; }  // of the first trial that can be trained
  std::span<const Trial> trials() const { return trials_; }
  int stages() const { return halving_.stages(); }
  int at_once() const { return at_once_; }
  int threads_per_trial() const { return threads_per_trial_; }
  bool by_accuracy() const { return by_accuracy_; }
  bool keeps_best() const { return keeps_best_; }
  bool resumed() const { return state_->resumed(); }
  int64_t begun() const { return begun_; }         // trials, when the state was read
  int others() const { return state_->others(); }  // other processes then at work in the state folder
  double load_seconds() const { return load_seconds_; }

  /// For an ensemble (settings().ensemble above 0): the network of a trial that came to its end or to the time limit.
  /// Also the rows it was trained on, and what those are like.
  std::optional<Model> NetworkOf(int64_t trial) { return state_->NetworkOf(trial); }
  std::shared_ptr<const TrainData> DataOf(const Trial& trial) { return cache_.Get(SettingsOf(trial)); }
  DataProfile ProfileOf(const Trial& trial, const Preprocessor& preprocessor) {
    return cache_.ProfileOf(SettingsOf(trial), preprocessor);
  }

  /// The files of the trials as read.
  const RawData& Raw() { return cache_.Raw(settings_.train); }

  /// The settings that train this trial alone to the same bits.
  TrainSettings SettingsOf(const Trial& trial) const;
  /// Those that train it on training and validation rows for the epochs that were best for it, with the output files of
  /// the search's settings.
  TrainSettings RetrainSettingsOf(const Trial& trial) const;

 private:
  void ListTrials();
  TrainOptions OptionsOf(const TrainSettings& settings) const;
  void PlanStages();
  // That trials train on and are compared on.
  TrainRows Rows() const { return RowsOf(*data_); }
  void LoadFirst();
  void ReadState();
  Trial* NextTrial(int stage, const SearchCallbacks& callbacks);
  void RunStage(int stage, const SearchCallbacks& callbacks);
  void RunTrial(Trial& trial, int stage, const SearchCallbacks& callbacks);
  void TrainTrial(Trial& trial, int64_t until, const SearchCallbacks& callbacks);
  void Decide(int stage);
  void Notify(const SearchCallbacks& callbacks, const Trial* trial);
  void KeepNetwork(const Trial& trial, const Model& model);
  // What training made of the trial; it has `ended` where no later stage goes on with it.
  void KeepTrained(Trial& trial, const Model& model, History history, bool ended);
  std::vector<double> WorkOfStages() const;
  // Stops those that still wait when the time of the stage is over; returns how many of them never had a turn.
  int64_t LeaveOut(int stage);

  SearchSettings settings_;
  SearchSpace space_;
  std::vector<Trial> trials_;
  DataCache cache_;
  std::shared_ptr<const TrainData> data_;
  std::unique_ptr<SearchState> state_;
  SuccessiveHalving halving_;
  TimeBudget budget_;
  bool any_in_stage_ = false;  // a trial of the stage has begun
  int stage_ = 1;
  int decided_ = 0;  // stages after which hopeless trials were stopped
  int64_t begun_ = 0;
  bool ends_ = false;  // a trial threw what ends the search
  int at_once_ = 1;
  int threads_per_trial_ = 1;
  bool by_accuracy_ = false;
  bool keeps_best_ = false;
  double load_seconds_ = 0;
  std::mutex mutex_;  // of trials_ and the callbacks while a stage runs
};

}  // namespace lamina
