// FileActions: asks for files, opens and saves them, and remembers the recent ones.
#pragma once

#include <QObject>
#include <QStringList>

#include "model_store.h"
#include "problem.h"
#include "run_document.h"

class QMenu;
class QWidget;

namespace lamina::gui {

class CurvesView;
class PredictPanel;

class FileActions : public QObject {
  Q_OBJECT
 public:
  FileActions(RunDocument& document, ModelStore& store, QWidget* window);

  /// A model by its name (.safetensors, .checkpoint), data otherwise.
  void Open(const QString& path);
  void OpenExample(const QString& name);
  void AskOpenData();
  void AskOpenFolder();
  void AskOpenModel();
  /// False if it was not saved.
  bool AskSaveModel();
  void AskPredict(PredictPanel& panel);
  void AskSavePredictions(PredictPanel& panel);
  void AskSaveHistory();
  void AskExport();
  void AskSaveCurves(CurvesView& curves);

  bool SaveModelTo(const QString& path);
  bool SaveHistoryTo(const QString& path);
  bool ExportTo(const QString& path);
  bool SaveCurvesTo(CurvesView& curves, const QString& path);

  QStringList recent() const;
  void FillRecent(QMenu& menu);

 Q_SIGNALS:
  void Failed(const lamina::gui::Problem& problem);
  void Done(const QString& note);
  void ModelOpened();

 private:
  QString AskOpen(const QString& title, const QString& filter);
  QString AskSave(const QString& title, const QString& name, const QString& filter);
  QString Folder() const;  // where dialogs begin
  void Remember(const QString& path);
  bool Try(const std::function<void()>& work, const QString& note);

  RunDocument& document_;
  ModelStore& store_;
  QWidget* window_;
};

}  // namespace lamina::gui
