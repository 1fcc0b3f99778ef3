// PredictPanel: the model's answers for a file.
#pragma once

#include <QWidget>
#include <memory>

#include "background.h"
#include "model_store.h"
#include "prediction.h"
#include "problem.h"
#include "run_document.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace lamina::gui {

class PredictionModel;

class PredictPanel : public QWidget {
  Q_OBJECT
 public:
  PredictPanel(ModelStore& store, RunDocument& document, Background& background, QWidget* parent = nullptr);

  /// The open data's file is read as these are, another one as its content says; of a book `sheet`, where it is named.
  void Predict(const QString& path, const QString& sheet = {});
  /// Throws Error.
  void Save(const QString& path) const;
  std::shared_ptr<const FilePrediction> prediction() const { return prediction_; }

 Q_SIGNALS:
  void OpenRequested();
  void SaveRequested();
  void Failed(const lamina::gui::Problem& problem);
  /// A file has its answers.
  void Answered();
  /// A file with answers was evaluated.
  void Evaluated(std::shared_ptr<const lamina::gui::FilePrediction> prediction);

 private:
  void Show(std::shared_ptr<const FilePrediction> prediction);
  void ShowSheets();
  QString Summary() const;

  ModelStore& store_;
  RunDocument& document_;
  Background& background_;
  std::shared_ptr<const FilePrediction> prediction_;
  QPushButton* open_;
  QPushButton* save_;
  QComboBox* sheet_;  // shown for books of several
  QCheckBox* probabilities_;
  QLabel* summary_;
  QCheckBox* wrong_;
  PredictionModel* rows_;
  QTableView* table_;
};

}  // namespace lamina::gui
