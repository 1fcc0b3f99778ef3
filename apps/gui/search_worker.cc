// Searching off the interface thread.
#include "search_worker.h"

#include <utility>

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
    const auto problem = Attempt([&] {
      search_.reset();  // its memory first
      search_ = std::make_unique<Search>(settings);
      since_look_.invalidate();
      SearchCallbacks callbacks;
      callbacks.stop_requested = [this] { return stop_.load(); };
      callbacks.changed = [this](const SearchView& view) {
        if (!since_look_.isValid() || since_look_.elapsed() >= kLook_ms) {
          Look(view.trials, view.stage, view.stages);
        }
      };
      result = search_->Run(callbacks);
      Look(result.trials, search_->stages(), search_->stages());
    });
    results_.Post([this, problem, interrupted = result.interrupted, seconds = result.seconds] {
      active_ = false;
      Q_EMIT StateChanged();
      if (problem) {
        Q_EMIT Failed(*problem);
      } else {
        Q_EMIT Finished(interrupted, seconds);
      }
    });
  });
}

}  // namespace lamina::gui
