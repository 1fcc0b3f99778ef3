// PredictPanel: the model's answers for a file.
#pragma once

#include <QWidget>
#include <memory>

#include "background.h"
#include "model_store.h"
#include "prediction.h"
#include "problem.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QTableView;

namespace lamina::gui {

class PredictionModel;

class PredictPanel : public QWidget {
  Q_OBJECT
 public:
  PredictPanel(ModelStore& store, Background& background, QWidget* parent = nullptr);

  void Predict(const QString& path);
  /// Throws Error.
  void Save(const QString& path) const;
  std::shared_ptr<const FilePrediction> prediction() const { return prediction_; }

 Q_SIGNALS:
  void OpenRequested();
  void SaveRequested();
  void Failed(const lamina::gui::Problem& problem);
  /// A file with answers was evaluated.
  /// A file has its answers.
  void Answered();
  void Evaluated(std::shared_ptr<const lamina::gui::FilePrediction> prediction);

 private:
  void Show(std::shared_ptr<const FilePrediction> prediction);
  QString Summary() const;

  ModelStore& store_;
  Background& background_;
  std::shared_ptr<const FilePrediction> prediction_;
  QPushButton* open_;
  QPushButton* save_;
  QCheckBox* probabilities_;
  QLabel* summary_;
  QCheckBox* wrong_;
  PredictionModel* rows_;
  QTableView* table_;
};

}  // namespace lamina::gui
