// FileActions: asks for files, opens and saves them, and remembers the recent ones.
#pragma once

#include <QObject>
#include <QStringList>
#include <atomic>
#include <functional>
#include <memory>

#include "background.h"
#include "model_store.h"
#include "problem.h"
#include "run_document.h"

class QMenu;
class QWidget;

namespace lamina::gui {

class CurvesView;
class PredictPanel;
class RunList;

class FileActions : public QObject {
  Q_OBJECT
 public:
  FileActions(RunDocument& document, ModelStore& store, RunList& runs, QWidget* window);

  /// Asked before another model takes the place of an unsaved one; false: it stays.
  std::function<bool()> may_replace_model = [] { return true; };

  /// Where to save; "" for nowhere. The default shows a dialog.
  std::function<QString(const QString& title, const QString& name, const QString& filter)> ask_where_to_save;

  /// A model or a project by its name (.safetensors, .checkpoint, .lamina), data otherwise.
  void Open(const QString& path);
  void OpenExample(const QString& name);
  void AskOpenData();
  void AskOpenFolder();
  void AskOpenModel();
  void AskOpenProject();
  void AskSaveProject();
  /// False if it was not saved.
  bool AskSaveModel();
  void AskPredict(PredictPanel& panel);
  void AskSavePredictions(PredictPanel& panel);
  void AskSaveHistory();
  void AskExport();
  void AskDistill(Background& background);
  void AskSaveCurves(CurvesView& curves);

  /// The filter of dialogs that open data: every format that the library reads, together and apart.
  static QString DataFilter();

  bool SaveModelTo(const QString& path);
  /// With a model that is nowhere yet beside it.
  bool SaveProjectTo(const QString& path);
  bool SaveHistoryTo(const QString& path);
  /// NAME.c (and NAME.h beside it) for C source, NAME.html for a page called NAME, else ONNX.
  bool ExportTo(const QString& path);
  /// On `background`, by the rows of a file: one network that answers as the model does, saved as `path`. Done() or
  /// Failed() tells its end.
  void DistillTo(const QString& path, const QString& rows, Background& background);
  /// What is being distilled ends soon, and nothing is saved.
  void StopDistilling() { *stop_distilling_ = true; }
  bool SaveCurvesTo(CurvesView& curves, const QString& path);

  QStringList recent() const;
  void FillRecent(QMenu& menu);

 Q_SIGNALS:
  void Failed(const lamina::gui::Problem& problem);
  void Done(const QString& note);
  void ModelOpened();
  void ProjectOpened();

 private:
  QString AskOpen(const QString& title, const QString& filter);
  QString AskWithDialog(const QString& title, const QString& name, const QString& filter);
  void OpenModel(const QString& path);
  void OpenProject(const QString& path);
  QString Folder() const;  // where dialogs begin
  void Remember(const QString& path);
  bool Try(const std::function<void()>& work, const QString& note);

  RunDocument& document_;
  ModelStore& store_;
  RunList& runs_;
  QWidget* window_;
  const std::shared_ptr<std::atomic<bool>> stop_distilling_ = std::make_shared<std::atomic<bool>>(false);
  QMetaObject::Connection opened_;  // says of a project that its data are read
};

}  // namespace lamina::gui
