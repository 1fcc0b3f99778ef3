// RunBar: what a run would be or why it cannot start, and the buttons that start, pause and stop it; below every page.
#pragma once

#include <QFrame>
#include <QTimer>

#include "run_document.h"
#include "train_worker.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace lamina::gui {

class RunBar : public QFrame {
  Q_OBJECT
 public:
  RunBar(RunDocument& document, TrainWorker& worker, QWidget* parent = nullptr);

 Q_SIGNALS:
  void StartRequested();
  void GoOnRequested();

 private:
  void Show();
  void ShowProgress();
  QString PlanText() const;

  RunDocument& document_;
  TrainWorker& worker_;
  QLabel* text_;
  QProgressBar* progress_;
  QPushButton* start_;
  QPushButton* pause_;
  QPushButton* stop_;
  QPushButton* go_on_;
  QTimer timer_;
  bool changed_ = false;  // settings, since the run began
};

}  // namespace lamina::gui
