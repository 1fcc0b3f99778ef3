// SearchWorker: one search after the other on a thread of its own, and what it has found so far.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "lamina/search/search.h"
#include "problem.h"
#include "train_worker.h"
#include "work_thread.h"

namespace lamina::gui {

/// The trials at one moment, the best first. Shared, never changed.
struct SearchFindings {
  std::vector<std::string> parameters;  // names of what differs
  std::vector<Trial> trials;
  std::vector<TrialScore> scores;  // of the trials
  int stage = 1;
  int stages = 1;
};

class SearchWorker : public QObject {
  Q_OBJECT
 public:
  explicit SearchWorker(QObject* parent = nullptr) : QObject(parent) {}
  /// Stops the search and waits for it.
  ~SearchWorker() override { Stop(); }

  bool active() const { return active_; }
  void Start(const SearchSettings& settings);
  void Stop() { stop_ = true; }

  /// Cheap: to be asked by a timer. Null before the first trial.
  std::shared_ptr<const SearchFindings> findings() const;
  /// The settings that train a trial of the last search alone, to the same bits. While none is active.
  TrainSettings SettingsOf(const Trial& trial) const { return search_->SettingsOf(trial); }

 Q_SIGNALS:
  void StateChanged();
  /// `compared`: what the best trial is beside the default; empty where that is not known.
  void Finished(bool interrupted, double seconds, const QString& compared);
  /// After Finished() of a search with an ensemble.
  void EnsembleMade(std::shared_ptr<const lamina::gui::TrainOutcome> outcome);
  void Failed(const lamina::gui::Problem& problem);

 private:
  std::shared_ptr<const TrainOutcome> Together(const SearchSettings& settings, const SearchResult& result);
  void Look(std::span<const Trial> trials, int stage, int stages);

  std::unique_ptr<Search> search_;  // touched by the search's threads only, while one is active
  std::atomic<bool> stop_ = false;
  bool active_ = false;
  QElapsedTimer since_look_;
  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<const SearchFindings> findings_;
  CallQueue results_;
  WorkThread thread_{"search"};
};

}  // namespace lamina::gui
