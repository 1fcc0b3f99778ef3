// The window. The constructor makes pages and menus, connects data, training, searches and runs, and brings back the
// last geometry. Settings and data are RunDocument's, training is TrainWorker's, files are FileActions', the model is
// ModelStore's. Here they are only connected.
#include "main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QListWidget>
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
#include "lamina/base/text.h"
#include "model_page.h"
#include "network_page.h"
#include "notice_bar.h"
#include "outcome_text.h"
#include "plain_text.h"
#include "predict_panel.h"
#include "results_page.h"
#include "run_bar.h"
#include "run_table.h"
#include "search_page.h"
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
    : QMainWindow(parent), document_(background_), files_(new FileActions(document_, store_, runs_, this)) {
  new PlainText(this);
  ask_to_save = [this](const QString& question) { return AskWithDialog(this, question); };
  setAcceptDrops(true);
  setObjectName(QStringLiteral("lamina"));
  MakePages();
  MakeMenus();
  ConnectFiles();
  ConnectTraining();
  ConnectSearch();
  ConnectRuns();
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
  results_ = new ResultsPage(runs_, store_);
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

void MainWindow::ConnectFiles() {
  const auto failed = [this](const Problem& problem) { notice_->ShowProblem(problem); };
  connect(files_, &FileActions::Failed, this, failed);
  files_->may_replace_model = [this] { return MayReplaceModel(); };
  connect(files_, &FileActions::Done, this, [this](const QString& note) { notice_->ShowSuccess(note); });
  connect(files_, &FileActions::ModelOpened, this, [this] { ShowPage(Page::kModel); });
  connect(files_, &FileActions::ProjectOpened, this, [this] { ShowCurves(store_.history()); });
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
  connect(model_page_, &ModelPage::DistillRequested, files_, [this] { files_->AskDistill(background_); });
  CurvesView& curves = training_->curves();
  connect(&curves, &CurvesView::SaveRequested, files_, [this, &curves] { files_->AskSaveCurves(curves); });
  PredictPanel& predict = model_page_->predict();
  connect(&predict, &PredictPanel::OpenRequested, files_, [this, &predict] { files_->AskPredict(predict); });
  connect(&predict, &PredictPanel::SaveRequested, files_, [this, &predict] { files_->AskSavePredictions(predict); });
  connect(&predict, &PredictPanel::Failed, this, failed);
  connect(&predict, &PredictPanel::Answered, notice_, &NoticeBar::ClearProblem);
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
  connect(&search_->worker(), &SearchWorker::StateChanged, notice_, [this] {
    if (search_->worker().active()) {
      notice_->ClearProblem();
    }
  });
  search_->may_replace_model = [this] { return MayReplaceModel(); };
  connect(&search_->worker(), &SearchWorker::EnsembleMade, this,
          [this](const std::shared_ptr<const TrainOutcome>& outcome) { Take(outcome); });
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
  if (!document_.StartBlocker().isEmpty() || worker_.active() || !MayTrainAnother()) {
    return;
  }
  notice_->Clear();
  training_->Clear();
  ShowPage(Page::kTraining);
  worker_.Start(document_.settings(), document_.data());
}

bool MainWindow::MayTrainAnother() {
  const bool same = document_.data() != nullptr && store_.settings().data == document_.data()->path.toStdString();
  return (same && runs_.Holds(store_.model())) || MayReplaceModel();
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
  ShowCurves(outcome->history);
  Take(outcome);
  if (std::exchange(close_when_trained_, false) && files_->AskSaveModel()) {
    QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection);
  }
}

void MainWindow::Take(const std::shared_ptr<const TrainOutcome>& outcome) {
  store_.Take(*outcome);
  ShowOutcome(*outcome);
  runs_.Add(outcome);
}

void MainWindow::ShowCurves(const History& history) {
  training_->curves().Set(history);
  results_->curves().Set(history);
}

void MainWindow::ConnectRuns() {
  connect(&runs_, &RunList::Changed, this, [this] {
    std::vector<OtherCurve> others;
    for (const KeptRun& run : runs_.runs()) {
      if (run.overlaid) {
        others.push_back({run.name, run.history.epochs});
      }
    }
    training_->curves().SetOthers(others);
    results_->curves().SetOthers(std::move(others));
  });
  connect(&results_->runs(), &RunTable::ModelRequested, this,
          [this](const std::shared_ptr<const TrainOutcome>& outcome) {
            if (runs_.Holds(store_.model()) || MayReplaceModel()) {
              store_.Take(*outcome);
              ShowCurves(outcome->history);
              ShowOutcome(*outcome);
            }
          });
  connect(&results_->runs(), &RunTable::SettingsRequested, this, [this](const TrainSettings& given) {
    document_.Replace([&](TrainSettings& settings) {
      const std::string data = settings.data;
      settings = given;
      settings.data = data;
      if (given.data != data) {
        ForgetColumns(settings);
      }
    });
    notice_->ShowNote(tr("The settings are those of the run now (Edit > Undo brings the former ones back)."));
  });
}

void MainWindow::ShowOutcome(const TrainOutcome& outcome) {
  QString text = RunText(outcome);
  training_->Log(text);
  for (const std::string& line : outcome.found) {
    training_->Log(FromText(line));
  }
  const Evaluation* judged = outcome.Judgement();
  if (judged != nullptr) {
    results_->Show(ResultsTitle(outcome), outcome);
    text += QStringLiteral(". ") + ResultText(outcome);
    training_->Log(ResultText(outcome));
    if (outcome.out_of_fold && outcome.evaluation) {
      training_->Log(KeptText(outcome));
    }
  }
  const QString remark = judged != nullptr ? RemarkOn(*judged) : QString();
  text += tr(". Save it on the page Model (Ctrl+S).") + (remark.isEmpty() ? QString() : QLatin1Char(' ') + remark);
  if (judged != nullptr && remark.isEmpty() && IsGood(*judged)) {
    notice_->ShowSuccess(text);
  } else {
    notice_->ShowNote(text);
  }
}

void MainWindow::ShowPage(Page page) { navigation_->setCurrentRow(static_cast<int>(page)); }

void MainWindow::ShowTitle() {
  const auto data = document_.data();
  const QString name =
      data == nullptr ? QString() : TitleText(QFileInfo(data->path).fileName()) + QStringLiteral(" – ");
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
  files_->StopDistilling();
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
  document_.ShowAll(stored.value(QStringLiteral("all_settings"), false).toBool());
  connect(&document_, &RunDocument::LevelChanged, this,
          [this] { QSettings().setValue(QStringLiteral("all_settings"), document_.shows_all()); });
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
