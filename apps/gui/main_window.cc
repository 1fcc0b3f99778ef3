// The window.
#include "main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QListWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "curves_view.h"
#include "data_page.h"
#include "help_menu.h"
#include "lamina/base/text.h"
#include "model_page.h"
#include "network_page.h"
#include "notice_bar.h"
#include "outcome_text.h"
#include "predict_panel.h"
#include "results_page.h"
#include "run_bar.h"
#include "search_page.h"
#include "setting_field.h"
#include "theme.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

constexpr int kNavigationWidth = 132;
constexpr QSize kPreferredSize(1240, 800);

constexpr QSize kLeastSize(760, 480);

SaveChoice AskWithDialog(QWidget* window, const QString& question) {
  QMessageBox box(QMessageBox::Question, QStringLiteral("lamina"), question,
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, window);
  box.setDefaultButton(QMessageBox::Save);
  switch (box.exec()) {
    case QMessageBox::Save: return SaveChoice::kSave;
    case QMessageBox::Discard: return SaveChoice::kDiscard;
    default: return SaveChoice::kCancel;
  }
}

QString FirstLocalFile(const QMimeData& data) {
  for (const QUrl& url : data.urls()) {
    if (url.isLocalFile()) {
      return url.toLocalFile();
    }
  }
  return {};
}

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent), document_(background_), files_(new FileActions(document_, store_, this)) {
  ask_to_save = [this](const QString& question) { return AskWithDialog(this, question); };
  setAcceptDrops(true);
  setObjectName(QStringLiteral("lamina"));
  MakePages();
  MakeMenus();
  ConnectFiles();
  ConnectTraining();
  ConnectSearch();
  connect(&store_, &ModelStore::Changed, this, &MainWindow::ShowTitle);
  connect(&document_, &RunDocument::DataChanged, this, &MainWindow::ShowTitle);
  connect(navigation_, &QListWidget::currentRowChanged, this, &MainWindow::ShowHint);
  ShowTitle();
  const QSize room = screen()->availableSize() - QSize(40, 60);  // the frame, and what lies behind
  resize(kPreferredSize.boundedTo(room));
  setMinimumSize(kLeastSize);
  Restore();
  ShowPage(Page::kData);
}

MainWindow::~MainWindow() {
  worker_.disconnect(this);
  document_.disconnect(this);
}

void MainWindow::MakePages() {
  auto* centre = new QWidget;
  auto* layout = new QVBoxLayout(centre);
  layout->setContentsMargins(8, 8, 8, 8);
  notice_ = new NoticeBar;
  auto* row = new QHBoxLayout;
  navigation_ = new QListWidget;
  navigation_->setFixedWidth(kNavigationWidth);
  navigation_->setObjectName(QStringLiteral("navigation"));
  navigation_->setAccessibleName(tr("Pages"));
  pages_ = new QStackedWidget;
  pages_->setObjectName(QStringLiteral("pages"));
  data_ = new DataPage(document_);
  training_ = new TrainingPage(document_, worker_);
  search_ = new SearchPage(document_);
  results_ = new ResultsPage;
  model_page_ = new ModelPage(store_, document_, background_);
  const std::pair<QString, QWidget*> pages[] = {
      {tr("1  Data"), data_},         {tr("2  Network"), new NetworkPage(document_)},
      {tr("3  Training"), training_}, {tr("4  Search"), search_},
      {tr("5  Results"), results_},   {tr("6  Model"), model_page_}};
  for (const auto& [name, page] : pages) {
    navigation_->addItem(name);
    navigation_->item(navigation_->count() - 1)->setSizeHint({0, fontMetrics().height() + 14});
    page->layout()->setContentsMargins(6, 0, 0, 0);
    pages_->addWidget(page);
  }
  row->addWidget(navigation_);
  auto* right = new QVBoxLayout;
  right->setSpacing(8);
  right->addWidget(notice_);
  right->addWidget(pages_, 1);
  row->addLayout(right, 1);
  layout->addLayout(row, 1);
  bar_ = new RunBar(document_, worker_);
  layout->addWidget(bar_);
  setCentralWidget(centre);
  connect(navigation_, &QListWidget::currentRowChanged, pages_, &QStackedWidget::setCurrentIndex);
}

void MainWindow::MakeMenus() {
  MakeFileMenu();
  MakeEditMenu();
  MakeViewMenu();
  menuBar()->addMenu(new HelpMenu(*notice_, this));
}

void MainWindow::MakeFileMenu() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("&Open data …"), QKeySequence::Open, files_, &FileActions::AskOpenData);
  file->addAction(tr("Open &folder of IDX files …"), files_, &FileActions::AskOpenFolder);
  file->addAction(tr("&Digits example"), files_, [this] { files_->OpenExample(QStringLiteral("digits.csv.gz")); });
  file->addAction(tr("Stoc&k example"), files_, [this] { files_->OpenExample(QStringLiteral("stocks.csv.gz")); });
  QMenu* recent = file->addMenu(tr("&Recent files"));
  connect(file, &QMenu::aboutToShow, this, [this, recent] { files_->FillRecent(*recent); });
  file->addSeparator();
  file->addAction(tr("Open pro&ject …"), QKeySequence(tr("Ctrl+Shift+O")), files_, &FileActions::AskOpenProject);
  file->addAction(tr("Save projec&t …"), QKeySequence(tr("Ctrl+Shift+S")), files_, &FileActions::AskSaveProject);
  file->addSeparator();
  file->addAction(tr("Open &model …"), QKeySequence(tr("Ctrl+M")), files_, &FileActions::AskOpenModel);
  file->addAction(tr("&Save model …"), QKeySequence::Save, files_, &FileActions::AskSaveModel);
  file->addAction(tr("&Export as ONNX …"), files_, &FileActions::AskExport);
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);
}

void MainWindow::MakeEditMenu() {
  QMenu* edit = menuBar()->addMenu(tr("Edit"));  // its letter is one of the pages'
  edit->setObjectName(QStringLiteral("menu.edit"));
  QAction* undo = edit->addAction(tr("&Undo"), QKeySequence::Undo, &document_, &RunDocument::Undo);
  QAction* redo = edit->addAction(tr("&Redo"), QKeySequence::Redo, &document_, &RunDocument::Redo);
  edit->addSeparator();
  edit->addAction(tr("Defaults of this &page"), this,
                  [this] { document_.Reset(SettingsOn(*pages_->currentWidget())); });
  edit->addAction(tr("&Defaults everywhere"), &document_, &RunDocument::ResetAll);
  const auto show = [this, undo, redo] {
    undo->setEnabled(document_.can_undo());
    redo->setEnabled(document_.can_redo());
  };
  connect(&document_, &RunDocument::SettingsChanged, this, show);
  connect(&document_, &RunDocument::DataChanged, this, show);
  show();
}

void MainWindow::MakeViewMenu() {
  QMenu* view = menuBar()->addMenu(tr("&Page"));
  for (int i = 0; i < navigation_->count(); ++i) {
    view->addAction(navigation_->item(i)->text(), QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)), this,
                    [this, i] { ShowPage(static_cast<Page>(i)); });
  }
  view->addSeparator();
  AddThemes(*view);
}

void MainWindow::ShowHint() {
  const QString hints[] = {
      tr("Open a table and say which column is to be predicted. What is left as it is serves most data."),
      tr("The network between the columns and the answer. Recipe auto is a good start."),
      tr("How it learns. Rest the pointer on a field to read what it does, then press Start training."),
      tr("Trains with other settings, and finds those that do best on the validation rows."),
      tr("How good the model is on rows that it has not learned from."),
      tr("Keep the model, and use it: on files, on typed values, in a terminal, in other programs.")};
  notice_->SetHint(hints[static_cast<size_t>(std::max(0, navigation_->currentRow()))]);
}

void MainWindow::ConnectFiles() {
  const auto failed = [this](const Problem& problem) { notice_->ShowProblem(problem); };
  connect(files_, &FileActions::Failed, this, failed);
  files_->may_replace_model = [this] { return MayReplaceModel(); };
  connect(files_, &FileActions::Done, this, [this](const QString& note) { notice_->ShowSuccess(note); });
  connect(files_, &FileActions::ModelOpened, this, [this] { ShowPage(Page::kModel); });
  connect(files_, &FileActions::ProjectOpened, this, [this] { training_->curves().Set(store_.history()); });
  connect(&document_, &RunDocument::LoadFailed, this, failed);
  connect(&document_, &RunDocument::DataChanged, this, [this] {
    notice_->Clear();
    ShowPage(Page::kData);
  });
  connect(&document_, &RunDocument::StartedAfresh, this, [this] {
    notice_->ShowNote(
        tr("Other data: the settings are at their defaults again (Edit > Undo brings the former ones back)."));
  });
  connect(data_, &DataPage::PathTyped, files_, &FileActions::Open);
  connect(data_, &DataPage::OpenRequested, files_, &FileActions::AskOpenData);
  connect(data_, &DataPage::OpenFolderRequested, files_, &FileActions::AskOpenFolder);
  connect(data_, &DataPage::ExampleRequested, files_, &FileActions::OpenExample);
  connect(model_page_, &ModelPage::OpenRequested, files_, &FileActions::AskOpenModel);
  connect(model_page_, &ModelPage::SaveRequested, files_, &FileActions::AskSaveModel);
  connect(model_page_, &ModelPage::SaveHistoryRequested, files_, &FileActions::AskSaveHistory);
  connect(model_page_, &ModelPage::ExportRequested, files_, &FileActions::AskExport);
  CurvesView& curves = training_->curves();
  connect(&curves, &CurvesView::SaveRequested, files_, [this, &curves] { files_->AskSaveCurves(curves); });
  PredictPanel& predict = model_page_->predict();
  connect(&predict, &PredictPanel::OpenRequested, files_, [this, &predict] { files_->AskPredict(predict); });
  connect(&predict, &PredictPanel::SaveRequested, files_, [this, &predict] { files_->AskSavePredictions(predict); });
  connect(&predict, &PredictPanel::Failed, this, failed);
  connect(&predict, &PredictPanel::Evaluated, this, [this](const std::shared_ptr<const FilePrediction>& prediction) {
    results_->Show(tr("The model on %1").arg(QFileInfo(prediction->path).fileName()), *prediction->answers.evaluation);
  });
}

void MainWindow::ConnectTraining() {
  connect(bar_, &RunBar::StartRequested, this, &MainWindow::Start);
  connect(bar_, &RunBar::GoOnRequested, this, [this] {
    notice_->Clear();
    training_->Log(tr("The stopped run goes on."));
    ShowPage(Page::kTraining);
    worker_.GoOn();
  });
  connect(&worker_, &TrainWorker::Started, this, [this](const RunStart& start) { training_->Log(start.text); });
  connect(&worker_, &TrainWorker::Finished, this, &MainWindow::Finish);
  connect(&document_, &RunDocument::PlanChanged, this, [this] {
    if (start_when_checked_ && !document_.checking()) {
      start_when_checked_ = false;
      StartNow();
    }
  });
  connect(&worker_, &TrainWorker::Failed, this, [this](const Problem& problem) {
    close_when_trained_ = false;
    notice_->ShowProblem(problem);
    training_->Log(problem.Text());
  });
}

void MainWindow::ConnectSearch() {
  connect(search_, &SearchPage::Failed, this, [this](const Problem& problem) { notice_->ShowProblem(problem); });
  connect(search_, &SearchPage::Note, this, [this](const QString& text) { notice_->ShowNote(text); });
  connect(search_, &SearchPage::TrainRequested, this, &MainWindow::Start);
  search_->may_replace_model = [this] { return MayReplaceModel(); };
  connect(&search_->worker(), &SearchWorker::EnsembleMade, this,
          [this](const std::shared_ptr<const TrainOutcome>& outcome) { Take(*outcome); });
  connect(&worker_, &TrainWorker::StateChanged, this, [this] { search_->SetTraining(worker_.active()); });
}

void MainWindow::Start() {
  start_when_checked_ = document_.checking();
  if (!start_when_checked_) {
    StartNow();
  }
}

void MainWindow::StartNow() {
  if (search_->worker().active()) {
    notice_->ShowProblem({tr("A search is running"), tr("Stop it on the page Search, or wait for its end.")});
    return;
  }
  if (!document_.StartBlocker().isEmpty() || worker_.active() || !MayReplaceModel()) {
    return;
  }
  notice_->Clear();
  training_->Clear();
  ShowPage(Page::kTraining);
  worker_.Start(document_.settings(), document_.data());
}

bool MainWindow::MayReplaceModel() {
  if (!store_.unsaved() || given_up_.lock() == store_.model()) {
    return true;
  }
  switch (ask_to_save(tr("The trained model is not saved. Save it before another takes its place?"))) {
    case SaveChoice::kSave: return files_->AskSaveModel();
    case SaveChoice::kDiscard: given_up_ = store_.model(); return true;
    case SaveChoice::kCancel: break;
  }
  return false;
}

void MainWindow::Finish(const std::shared_ptr<const TrainOutcome>& outcome) {
  training_->Pull();
  training_->curves().Set(outcome->history);
  Take(*outcome);
  if (std::exchange(close_when_trained_, false) && files_->AskSaveModel()) {
    QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection);
  }
}

void MainWindow::Take(const TrainOutcome& outcome) {
  store_.Take(outcome);
  QString text = RunText(outcome);
  training_->Log(text);
  if (outcome.evaluation) {
    const QString line =
        tr("On the %1 rows").arg(outcome.evaluated_on) + QStringLiteral(": ") + EvaluationText(*outcome.evaluation);
    training_->Log(line);
    results_->Show(ResultsTitle(outcome), outcome);
    if (const QString folds = FoldsText(outcome); !folds.isEmpty()) {
      training_->Log(folds);
      text += QStringLiteral(". ") + folds;
    }
    text += QStringLiteral(". ") + line;
  }
  const QString remark = outcome.evaluation ? RemarkOn(*outcome.evaluation) : QString();
  text += tr(". Save it on the page Model (Ctrl+S).") + (remark.isEmpty() ? QString() : QLatin1Char(' ') + remark);
  if (outcome.evaluation && remark.isEmpty() && IsGood(*outcome.evaluation)) {
    notice_->ShowSuccess(text);
  } else {
    notice_->ShowNote(text);
  }
}

void MainWindow::ShowPage(Page page) { navigation_->setCurrentRow(static_cast<int>(page)); }

void MainWindow::ShowTitle() {
  const auto data = document_.data();
  const QString name = data == nullptr ? QString() : QFileInfo(data->path).fileName() + QStringLiteral(" – ");
  setWindowTitle(name + QStringLiteral("lamina[*]"));
  setWindowModified(store_.unsaved());
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const bool training = worker_.active();
  if (training || store_.unsaved()) {
    const QString question = training ? tr("A network is being trained. Stop it, and save the model?")
                                      : tr("The trained model is not saved. Save it?");
    const SaveChoice choice = ask_to_save(question);
    close_when_trained_ = choice == SaveChoice::kSave && training;  // it stays open until there is a model to save
    if (close_when_trained_) {
      worker_.Stop();
    }
    if (choice == SaveChoice::kCancel || close_when_trained_ ||
        (choice == SaveChoice::kSave && !files_->AskSaveModel())) {
      event->ignore();
      return;
    }
  }
  worker_.Stop();
  Remember();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!FirstLocalFile(*event->mimeData()).isEmpty()) {
    event->acceptProposedAction();
  }
}

void MainWindow::dropEvent(QDropEvent* event) {
  files_->Open(FirstLocalFile(*event->mimeData()));
  event->acceptProposedAction();
}

// The machine's settings come back; those of the data, the network and the training belong to one data set, and a
// project keeps them.
void MainWindow::Restore() {
  const QSettings stored;
  restoreGeometry(stored.value(QStringLiteral("geometry")).toByteArray());
  const QByteArray text = stored.value(QStringLiteral("machine")).toByteArray();
  if (text.isEmpty()) {
    return;
  }
  Attempt([&] { document_.Begin(TrainSettingsFromJson(nlohmann::json::parse(text.toStdString()))); });
}

void MainWindow::Remember() const {
  QSettings stored;
  stored.setValue(QStringLiteral("geometry"), saveGeometry());
  stored.setValue(QStringLiteral("machine"),
                  QByteArray::fromStdString(ToJson(ForOtherData(document_.settings())).dump()));
}

}  // namespace lamina::gui
