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
class QTableWidget;

namespace lamina::gui {

class ConfusionView;
struct TrainOutcome;

/// "accuracy 97.22 %, macro F1 ..., loss ..., 360 rows", or the errors of each target.
QString EvaluationText(const Evaluation& evaluation);

/// Whether it is clearly better than always answering the same.
bool IsGood(const Evaluation& evaluation);
/// What is wrong with a result, a sentence: a class that is never predicted, no better than always answering the same;
/// "" for nothing.
QString RemarkOn(const Evaluation& evaluation);

class ResultsPage : public QWidget {
  Q_OBJECT
 public:
  explicit ResultsPage(QWidget* parent = nullptr);
  void Clear();
  void Show(const QString& title, const Evaluation& evaluation);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void ShowClasses(const ClassificationMetrics& metrics);
  void ShowRegression(const Evaluation& evaluation);

  QLabel* title_;
  QLabel* summary_;
  QStackedWidget* picture_;
  ConfusionView* confusion_;
  QChart* chart_;
  QChartView* scatter_;
  QTableWidget* table_;
};

}  // namespace lamina::gui
