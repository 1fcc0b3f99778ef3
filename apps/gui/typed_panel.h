// TypedPanel: the model's answer for values that are typed in.
#pragma once

#include <QTimer>
#include <QWidget>

#include "background.h"
#include "model_store.h"
#include "prediction.h"
#include "run_document.h"

class QLabel;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace lamina::gui {

class DrawPad;
class ProblemLabel;

class TypedPanel : public QWidget {
  Q_OBJECT
 public:
  TypedPanel(ModelStore& store, RunDocument& document, Background& background, QWidget* parent = nullptr);

 Q_SIGNALS:
  /// The values have their answer, or what is wrong with them is said.
  void Answered();

 private:
  void ShowModel();
  void ShowData();
  void TakeRow();
  void TakeDrawing();
  void ShowDrawing();
  void SetValue(int row, const QString& text);
  std::vector<std::string> Values() const;
  void Predict();
  void Show(const std::shared_ptr<const FilePrediction>& prediction, const std::optional<Problem>& problem);

  ModelStore& store_;
  RunDocument& document_;
  Background& background_;
  QTableWidget* table_;
  QWidget* drawing_;  // shown for models of pictures
  DrawPad* pad_;
  std::optional<PictureForm> pictures_;
  QSpinBox* row_;
  QPushButton* take_;
  QLabel* answer_;
  QLabel* details_;
  ProblemLabel* problem_;
  QTimer timer_;  // waits for the end of typing
  std::shared_ptr<const Model> shown_;
  int generation_ = 0;
};

}  // namespace lamina::gui
