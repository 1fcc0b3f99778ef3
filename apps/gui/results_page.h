// ResultsPage: how good the model is on rows that training did not see.
#pragma once

#include <QWidget>
#include <utility>
#include <vector>

#include "lamina/model/evaluate.h"

class QChart;
class QChartView;
class QLabel;
class QStackedWidget;
class QTabWidget;
class QTableWidget;

namespace lamina::gui {

class ConfusionView;
class CurvesView;
class ImportanceTable;
class ModelStore;
class RunList;
class RunTable;
struct TrainOutcome;

/// "accuracy 97.22 %, macro F1 ..., loss ..., 360 rows", or the errors of each target.
QString EvaluationText(const Evaluation& evaluation);

/// Whether it is clearly better than always answering the same.
bool IsGood(const Evaluation& evaluation);
/// What is wrong with a result, a sentence: a class that is never predicted, no better than always answering the same;
/// "" for nothing.
QString RemarkOn(const Evaluation& evaluation);

/// "5 folds: accuracy 97.9 % ± 0.6 %", a line a metric; "" without folds.
QString FoldsText(const TrainOutcome& outcome);

/// What the model that is kept after folds does, most often on rows that it has learned from.
QString KeptText(const TrainOutcome& outcome);

class ResultsPage : public QWidget {
  Q_OBJECT
 public:
  ResultsPage(RunList& runs, const ModelStore& store, QWidget* parent = nullptr);
  RunTable& runs() { return *run_table_; }
  /// The curves of the present run, seen beside the list of runs.
  CurvesView& curves() { return *curves_; }
  void Clear();
  void Show(const QString& title, const Evaluation& evaluation);
  /// With what else is known after training: folds, importance of columns. After folds the matrix and the measures are
  /// of the answers out of fold.
  void Show(const QString& title, const TrainOutcome& outcome);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void ShowClasses(const ClassificationMetrics& metrics);
  void ShowRegression(const Evaluation& evaluation);
  void DrawPredictions(const Evaluation& evaluation);
  void ShowRuns();
  void ShowPicture();

  QLabel* title_;
  QLabel* summary_;
  QStackedWidget* picture_;
  ConfusionView* confusion_;
  QChart* chart_;
  QChartView* scatter_;
  QTableWidget* table_;
  ImportanceTable* importance_;
  QTabWidget* tabs_;
  RunList& runs_;
  RunTable* run_table_;
  CurvesView* curves_;
  QWidget* result_picture_ = nullptr;  // what is seen beside the measures; null: no result
};

}  // namespace lamina::gui
