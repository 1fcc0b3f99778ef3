// The trials of a search, stage by stage. The constructor lists the trials, takes up what the state folder holds of
// them, and plans the stages. Run() trains what waits, several trials at once (RunStage, RunTrial). It stops the
// hopeless half after a stage (StopHopeless), and ranks. mutex_ guards what threads share. Other processes may train
// trials of the same state folder: NextTrial() claims one, or takes over what they recorded. Files are left to
// search_state.cc, training to the Trainer, the trials' settings to search_space.cc.
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
#include "lamina/run/checkpoint.h"
#include "lamina/run/direct_training.h"
#include "lamina/run/start_model.h"
#include "lamina/settings/embedding.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"
#include "lamina/settings/monitor.h"
#include "lamina/settings/validation.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

// How often trials of other processes are looked at.
constexpr std::chrono::milliseconds kFirstLook{10};
constexpr std::chrono::milliseconds kLastLook{500};

bool Waits(const Trial& trial, int stage) {
  return (trial.state == TrialState::kWaiting || trial.state == TrialState::kPaused) && trial.stage < stage;
}

}  // namespace

int64_t Search::LeaveOut(int stage) {
  int64_t count = 0;
  for (Trial& trial : trials_) {
    if (Waits(trial, stage)) {
      trial.state = TrialState::kStopped;
      count += trial.history.epochs.empty() ? 1 : 0;
    }
  }
  return count;
}

void Search::Notify(const SearchCallbacks& callbacks, const Trial* trial) {
  if (callbacks.changed) {
    callbacks.changed({trials_, stage_, stages(), trial});
  }
}

void Search::KeepNetwork(const Trial& trial, const Model& model) {
  if (settings_.ensemble > 0) {
    state_->PutNetwork(trial.number, model);
  }
}

void Search::KeepTrained(Trial& trial, const Model& model, History history, bool ended) {
  if (!history.epochs.empty() && (ended || budget_.IsOver())) {
    KeepNetwork(trial, model);
  }
  const std::lock_guard lock(mutex_);
  trial.history = std::move(history);
  if (ended && !trial.history.epochs.empty()) {
    trial.state = TrialState::kDone;
    trial.stage = stages();
  }
}

// From where the trial is to the end of `until` epochs. Its history is filled under the lock.
void Search::TrainTrial(Trial& trial, int64_t until, const SearchCallbacks& callbacks) {
  const TrainSettings settings = SettingsOf(trial);
  ValidateSettings(settings);
  const std::shared_ptr<const TrainData> data = cache_.Get(settings);
  const ResolvedSettings resolved = ResolveFor(settings, RowsOf(*data));
  Model model = BuildModel(resolved, *data);
  TrainOptions options = TrainOptionsFrom(resolved, model.loss, RowsOf(*data));
  options.step.embedding_layers = EmbeddingLayersOf(resolved, model.preprocessor.inputs());
  const std::unique_ptr<Backend> backend =
      MakeTunedBackend(settings.backend, {.threads = static_cast<int>(settings.threads)}, nullptr);
  options.epochs = trial.epochs;
  options.step.class_threshold = model.preprocessor.targets().class_threshold();
  options.step.frozen = FrozenLayers(settings, model.network);
  SetMonitor(resolved, model, data->validation, options);
  const auto stopped = [&] { return budget_.IsOver() || (callbacks.stop_requested && callbacks.stop_requested()); };
  if (!LearnsByGradient(settings)) {  // all of it in the first stage
    History history = TrainDirectly(settings, *data, *backend, model, {.stop_requested = stopped});
    KeepTrained(trial, model, std::move(history), /*ended=*/true);
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
  each.stop_requested = [&] { return epochs >= until || stopped(); };
  each.abandon_requested = callbacks.abandon_requested;
  each.epoch_done = [&](const EpochRecord& record) {
    ++epochs;
    const std::lock_guard lock(mutex_);
    trial.history.epochs.push_back(record);
    trial.history.best_epoch = record.best_epoch;  // the trainer's own count comes when it pauses
    Notify(callbacks, &trial);
  };
  each.checkpoint = [&](const TrainState& state) {
    if (state.epoch < options.epochs) {
      state_->PutWeights(trial.number, model, state);
    }
  };
  History history = trainer.Run(data->train, &data->validation, each);
  const bool ended =
      history.stop_reason == "early_stopping" || history.stop_reason == "converged" || epochs >= options.epochs;
  KeepTrained(trial, model, std::move(history), ended);
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
        if (!budget_.MayBegin(stage, !any_in_stage_)) {
          return nullptr;
        }
        const bool claimed = !state_->Take(trial, stage) && state_->Claim(trial.number, stage);
        // Recorded before it was claimed, or the search is over and its records are gone?
        if (claimed && !state_->Take(trial, stage) && !state_->TakeDecision(trials_, stage)) {
          trial.state = TrialState::kRunning;
          any_in_stage_ = true;
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
    StopHopeless(trials_, stage, settings_.halving, settings_.ensemble, by_accuracy_, keeps_best_);
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
  budget_ = TimeBudget(TimeLimit_seconds(settings_), WorkOfStages());
  for (stage_ = 1; stage_ <= stages(); ++stage_) {
    any_in_stage_ = false;
    RunStage(stage_, callbacks);
    if (!settings_.time_limit.empty() && !(callbacks.stop_requested && callbacks.stop_requested())) {
      result.left_out += LeaveOut(stage_);
    }
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
