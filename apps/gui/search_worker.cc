// Searching off the interface thread.
#include "search_worker.h"

#include <utility>

#include "labels.h"
#include "lamina/backend/backends.h"
#include "lamina/search/default_check.h"
#include "lamina/search/ensemble.h"

namespace lamina::gui {
namespace {

constexpr qint64 kLook_ms = 250;  // trials are copied for the window at most so often

}  // namespace

std::shared_ptr<const SearchFindings> SearchWorker::findings() const {
  const std::lock_guard lock(mutex_);
  return findings_;
}

void SearchWorker::Look(std::span<const Trial> trials, int stage, int stages) {
  auto findings = std::make_shared<SearchFindings>();
  for (const SearchParameter& parameter : search_->space().parameters()) {
    findings->parameters.push_back(parameter.name);
  }
  findings->stage = stage;
  findings->stages = stages;
  for (const size_t index : RankTrials(trials, search_->by_accuracy(), search_->keeps_best())) {
    findings->trials.push_back(trials[index]);
    findings->scores.push_back(ScoreOf(trials[index], search_->keeps_best()));
  }
  since_look_.start();
  const std::lock_guard lock(mutex_);
  findings_ = std::move(findings);
}

// The networks of the trials that answer best together, as one model.
std::shared_ptr<const TrainOutcome> SearchWorker::Together(const SearchSettings& settings, const SearchResult& result) {
  EnsembleResult ensemble = MakeEnsemble(*search_, result);
  const Trial& best = result.trials[result.ranking.front()];
  auto outcome = std::make_shared<TrainOutcome>();
  outcome->settings = search_->SettingsOf(best);
  outcome->search = settings;
  outcome->history = best.history;
  outcome->train_seconds = result.seconds;
  outcome->evaluation = std::move(ensemble.test);
  outcome->evaluated_on = tr("test");
  if (!outcome->evaluation) {
    const auto backend = MakeBackend("auto", {.threads = static_cast<int>(settings.train.threads)});
    outcome->evaluation = Evaluate(ensemble.model, *backend, search_->DataOf(best)->validation);
    outcome->evaluated_on = tr("validation");
  }
  outcome->networks = std::ssize(ensemble.parts);
  outcome->model = std::make_shared<Model>(std::move(ensemble.model));
  return outcome;
}

void SearchWorker::Start(const SearchSettings& settings) {
  if (active_) {
    return;
  }
  active_ = true;
  stop_ = false;
  {
    const std::lock_guard lock(mutex_);
    findings_ = nullptr;
  }
  Q_EMIT StateChanged();
  thread_.Post([this, settings] {
    SearchResult result;
    std::shared_ptr<const TrainOutcome> together;
    QString compared;
    const auto problem = Attempt([&] {
      search_.reset();  // its memory first
      search_ = std::make_unique<Search>(settings);
      since_look_.invalidate();
      SearchCallbacks callbacks;
      callbacks.stop_requested = [this] { return stop_.load(); };
      callbacks.abandon_requested = callbacks.stop_requested;
      callbacks.changed = [this](const SearchView& view) {
        if (!since_look_.isValid() || since_look_.elapsed() >= kLook_ms) {
          Look(view.trials, view.stage, view.stages);
        }
      };
      result = search_->Run(callbacks);
      Look(result.trials, search_->stages(), search_->stages());
      if (const auto check = CheckAgainstDefault(*search_, result, callbacks.stop_requested)) {
        compared = FromText(check->Text());
      }
      if (settings.ensemble > 0 && !result.interrupted) {
        together = Together(settings, result);
      }
    });
    results_.Post([this, problem, together, compared, interrupted = result.interrupted, seconds = result.seconds] {
      active_ = false;
      Q_EMIT StateChanged();
      if (problem) {
        Q_EMIT Failed(*problem);
      } else {
        Q_EMIT Finished(interrupted, seconds, compared);
        if (together != nullptr) {
          Q_EMIT EnsembleMade(together);
        }
      }
    });
  });
}

}  // namespace lamina::gui
