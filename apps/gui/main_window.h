// MainWindow: the five pages, the bar below them, menus, and what must be asked before it closes.
#pragma once

#include <QMainWindow>
#include <functional>

#include "background.h"
#include "file_actions.h"
#include "model_store.h"
#include "run_document.h"
#include "train_worker.h"

class QListWidget;
class QStackedWidget;

namespace lamina::gui {

class DataPage;
class ModelPage;
class NoticeBar;
class ResultsPage;
class RunBar;
class TrainingPage;

enum class Page { kData, kNetwork, kTraining, kResults, kModel };
enum class CloseChoice { kSave, kDiscard, kCancel };

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  RunDocument& document() { return document_; }
  TrainWorker& worker() { return worker_; }
  ModelStore& store() { return store_; }
  FileActions& files() { return *files_; }
  TrainingPage& training() { return *training_; }
  ModelPage& model_page() { return *model_page_; }
  NoticeBar& notice() { return *notice_; }
  void ShowPage(Page page);

  /// Asked before closing where something would be lost; the default shows a dialog with the text.
  std::function<CloseChoice(const QString& question)> ask_before_close;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void MakePages();
  void MakeMenus();
  void ConnectFiles();
  void ConnectTraining();
  void Start();
  void Finish(const std::shared_ptr<const TrainOutcome>& outcome);
  void ShowTitle();
  void Restore();
  void Remember() const;

  Background background_;
  RunDocument document_;
  TrainWorker worker_;
  ModelStore store_;
  FileActions* files_;
  NoticeBar* notice_ = nullptr;
  QListWidget* navigation_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  DataPage* data_ = nullptr;
  TrainingPage* training_ = nullptr;
  ResultsPage* results_ = nullptr;
  ModelPage* model_page_ = nullptr;
  RunBar* bar_ = nullptr;
};

}  // namespace lamina::gui
