// TrainWorker: one training run after the other on a thread of its own, and its state for the interface thread.
#pragma once

#include <QObject>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "lamina/model/explain.h"
#include "lamina/run/cross_validation.h"
#include "lamina/run/run_control.h"
#include "lamina/run/session.h"
#include "lamina/search/search_settings.h"
#include "run_document.h"
#include "work_thread.h"

namespace lamina::gui {

enum class RunState { kIdle, kPreparing, kRunning, kPaused, kStopping };

/// What came of a run; shared with the window, never changed.
struct TrainOutcome {
  std::shared_ptr<const Model> model;
  TrainSettings settings;
  TrainSettings given;                   // what was asked for, with what is left to lamina open
  bool went_on = false;                  // with a run that had been stopped
  std::optional<SearchSettings> search;  // that it is the ensemble of
  int64_t networks = 1;                  // of the ensemble
  History history;
  std::optional<Evaluation> evaluation;
  QString evaluated_on;                  // "test", "validation" or "training" rows
  bool learned_from = false;             // those are training rows
  std::optional<Importance> importance;  // of the table's columns for these rows; none: images, or too much work
  std::vector<MetricSpread> folds;       // of cross-validation before the run; empty: none
  int64_t fold_count = 0;
  std::optional<Evaluation> out_of_fold;  // of the folds' answers to rows that they had not seen
  /// What says how good the model will be on other rows; null: nothing is known.
  const Evaluation* Judgement() const { return out_of_fold ? &*out_of_fold : evaluation ? &*evaluation : nullptr; }
  double train_seconds = 0;
  std::vector<std::string> found;  // FoundLines()
  bool stopped = false;
};

/// What the run is about to do, in one line.
struct RunStart {
  QString text;
  int64_t first_epoch = 1;
};

class TrainWorker : public QObject {
  Q_OBJECT
 public:
  explicit TrainWorker(QObject* parent = nullptr) : QObject(parent) {}
  /// Stops the run and waits for it.
  ~TrainWorker() override { control_.Stop(); }

  RunState state() const { return state_; }
  bool active() const { return state_ != RunState::kIdle; }
  /// Whether a stopped run can go on.
  bool can_go_on() const { return can_go_on_; }

  void Start(const TrainSettings& settings, std::shared_ptr<const LoadedData> data);
  /// The stopped run, from where it was.
  void GoOn();
  void Pause();
  void Continue();
  void Stop();

  /// What is being trained where that is not the model itself: "Fold 2 of 5".
  QString stage() const;
  /// Epochs finished since the last call, and the newest progress. Cheap: to be asked by a timer.
  std::vector<EpochRecord> TakeEpochs();
  std::optional<TrainProgress> progress() const;

 Q_SIGNALS:
  void StateChanged();
  void Started(const lamina::gui::RunStart& start);
  void Finished(std::shared_ptr<const lamina::gui::TrainOutcome> outcome);
  void Failed(const lamina::gui::Problem& problem);
  /// A line about a fold that was trained.
  void FoldDone(const QString& line);

 private:
  void Launch(std::function<void()> prepare);
  void SetState(RunState state);
  std::shared_ptr<const TrainOutcome> RunSession();
  void RunFolds(const TrainSettings& settings);
  void TellPart(const PortfolioPart& part, int64_t number, int64_t count);
  TrainCallbacks Callbacks();

  // Touched by the training thread only, while a run is active.
  std::unique_ptr<TrainSession> session_;
  std::shared_ptr<const LoadedData> data_;
  TrainSettings given_;
  bool went_on_ = false;
  std::vector<MetricSpread> folds_;
  int64_t fold_count_ = 0;
  std::optional<Evaluation> out_of_fold_;
  RunControl control_;
  RunState state_ = RunState::kIdle;
  bool can_go_on_ = false;
  mutable std::mutex mutex_;  // of what follows
  std::vector<EpochRecord> epochs_;
  std::optional<TrainProgress> progress_;
  QString stage_;
  CallQueue results_;
  WorkThread thread_{"training"};
};

}  // namespace lamina::gui
