// ModelPage: keeping, understanding and using the model.
#pragma once

#include <QWidget>

#include "background.h"
#include "model_store.h"
#include "run_document.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace lamina::gui {

class PredictPanel;

class ModelPage : public QWidget {
  Q_OBJECT
 public:
  ModelPage(ModelStore& store, RunDocument& document, Background& background, QWidget* parent = nullptr);
  PredictPanel& predict() const { return *predict_; }

 Q_SIGNALS:
  void OpenRequested();
  void SaveRequested();
  void SaveHistoryRequested();
  void ExportRequested();
  void DistillRequested();

 private:
  QWidget* MakeRepeat();
  void Show();

  ModelStore& store_;
  PredictPanel* predict_;
  QPlainTextEdit* description_;
  QPlainTextEdit* command_ = nullptr;
  QLabel* command_title_ = nullptr;
  QPushButton* save_;
  QPushButton* copy_ = nullptr;
  QPushButton* history_ = nullptr;
  QPushButton* export_ = nullptr;
  QPushButton* distill_ = nullptr;
};

}  // namespace lamina::gui
