// MainWindow: the six pages, the bar below them, menus, and what must be asked before it closes.
#pragma once

#include <QMainWindow>
#include <functional>
#include <memory>

#include "background.h"
#include "file_actions.h"
#include "model_store.h"
#include "run_document.h"
#include "run_list.h"
#include "train_worker.h"

class QListWidget;
class QStackedWidget;

namespace lamina::gui {

class DataPage;
class ModelPage;
class NoticeBar;
class ResultsPage;
class RunBar;
class SearchPage;
class TrainingPage;

enum class Page { kData, kNetwork, kTraining, kSearch, kResults, kModel };
enum class SaveChoice { kSave, kDiscard, kCancel };

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  RunDocument& document() { return document_; }
  TrainWorker& worker() { return worker_; }
  ModelStore& store() { return store_; }
  RunList& runs() { return runs_; }
  FileActions& files() { return *files_; }
  TrainingPage& training() { return *training_; }
  ModelPage& model_page() { return *model_page_; }
  ResultsPage& results() { return *results_; }
  SearchPage& search() { return *search_; }
  NoticeBar& notice() { return *notice_; }
  void ShowPage(Page page);

  /// Asked where a model that is not saved would be lost; the default shows a dialog with the text.
  std::function<SaveChoice(const QString& question)> ask_to_save;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void MakePages();
  void MakeMenus();
  void MakeFileMenu();
  void MakeEditMenu();
  void MakeViewMenu();
  /// Saves the model, or may lose it: true. Asks once about a model.
  bool MayReplaceModel();
  /// The same before a run: the list of runs gives back the model of one on the same data.
  bool MayTrainAnother();
  void ShowHint();
  void ConnectFiles();
  void ConnectTraining();
  void ConnectSearch();
  void ConnectRuns();
  void Start();
  void StartNow();
  void Finish(const std::shared_ptr<const TrainOutcome>& outcome);
  void Take(const std::shared_ptr<const TrainOutcome>& outcome);
  void ShowCurves(const History& history);
  void ShowOutcome(const TrainOutcome& outcome);
  void ShowTitle();
  void Restore();
  void Remember() const;

  Background background_;
  RunDocument document_;
  TrainWorker worker_;
  ModelStore store_;
  RunList runs_;
  FileActions* files_;
  NoticeBar* notice_ = nullptr;
  QListWidget* navigation_ = nullptr;
  QStackedWidget* pages_ = nullptr;
  DataPage* data_ = nullptr;
  TrainingPage* training_ = nullptr;
  ResultsPage* results_ = nullptr;
  SearchPage* search_ = nullptr;
  ModelPage* model_page_ = nullptr;
  RunBar* bar_ = nullptr;
  std::weak_ptr<const Model> given_up_;  // the user said that it may be lost
  bool start_when_checked_ = false;      // Start was pressed while the settings were being checked
  bool close_when_trained_ = false;      // after the model of the run that ends now is saved
};

}  // namespace lamina::gui
