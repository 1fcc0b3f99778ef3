// TrainingPage: how to train on the left, how it goes on the right.
#pragma once

#include <QTimer>
#include <QWidget>
#include <functional>

#include "run_document.h"
#include "train_worker.h"

class QLabel;
class QPlainTextEdit;

namespace lamina::gui {

class CurvesView;
class SettingField;

class TrainingPage : public QWidget {
  Q_OBJECT
 public:
  TrainingPage(RunDocument& document, TrainWorker& worker, QWidget* parent = nullptr);

  CurvesView& curves() const { return *curves_; }
  /// Empties curves and log for a new run.
  void Clear();
  void Log(const QString& line);
  /// The newest epochs and progress, pulled from the worker; a timer does it ten times a second while a run is active.
  void Pull();

 private:
  QWidget* MakeSettings();
  void LogEpochs(const std::vector<EpochRecord>& epochs);

  RunDocument& document_;
  TrainWorker& worker_;
  CurvesView* curves_;
  QPlainTextEdit* log_;
  QLabel* status_;
  QLabel* backend_;
  QTimer timer_;
};

/// "1,234,567 samples/s".
QString SpeedText(double samples_per_second);

}  // namespace lamina::gui
