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
#include <nlohmann/json.hpp>

#include "curves_view.h"
#include "data_page.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "model_page.h"
#include "network_page.h"
#include "notice_bar.h"
#include "predict_panel.h"
#include "results_page.h"
#include "run_bar.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

constexpr int kNavigationWidth = 132;
constexpr QSize kPreferredSize(1240, 800);

CloseChoice AskWithDialog(QWidget* window, const QString& question) {
  QMessageBox box(QMessageBox::Question, QObject::tr("Close lamina"), question,
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, window);
  box.setDefaultButton(QMessageBox::Save);
  switch (box.exec()) {
    case QMessageBox::Save: return CloseChoice::kSave;
    case QMessageBox::Discard: return CloseChoice::kDiscard;
    default: return CloseChoice::kCancel;
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
  ask_before_close = [this](const QString& question) { return AskWithDialog(this, question); };
  setAcceptDrops(true);
  setObjectName(QStringLiteral("lamina"));
  MakePages();
  MakeMenus();
  ConnectFiles();
  ConnectTraining();
  connect(&store_, &ModelStore::Changed, this, &MainWindow::ShowTitle);
  connect(&document_, &RunDocument::DataChanged, this, &MainWindow::ShowTitle);
  ShowTitle();
  const QSize room = screen()->availableSize() - QSize(40, 60);  // the frame, and what lies behind
  resize(kPreferredSize.boundedTo(room));
  setMinimumSize(980, 620);
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
  navigation_->setStyleSheet(QStringLiteral("QListWidget::item { padding: 7px 6px; }"));
  pages_ = new QStackedWidget;
  pages_->setObjectName(QStringLiteral("pages"));
  data_ = new DataPage(document_);
  training_ = new TrainingPage(document_, worker_);
  results_ = new ResultsPage;
  model_page_ = new ModelPage(store_, document_, background_);
  const std::pair<QString, QWidget*> pages[] = {{tr("1  Data"), data_},
                                                {tr("2  Network"), new NetworkPage(document_)},
                                                {tr("3  Training"), training_},
                                                {tr("4  Results"), results_},
                                                {tr("5  Model"), model_page_}};
  for (const auto& [name, page] : pages) {
    navigation_->addItem(name);
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
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("&Open data …"), QKeySequence::Open, files_, &FileActions::AskOpenData);
  file->addAction(tr("Open &folder of IDX files …"), files_, &FileActions::AskOpenFolder);
  file->addAction(tr("&Digits example"), files_, [this] { files_->OpenExample(QStringLiteral("digits.csv.gz")); });
  file->addAction(tr("Stoc&k example"), files_, [this] { files_->OpenExample(QStringLiteral("stocks.csv.gz")); });
  QMenu* recent = file->addMenu(tr("&Recent files"));
  connect(file, &QMenu::aboutToShow, this, [this, recent] { files_->FillRecent(*recent); });
  file->addSeparator();
  file->addAction(tr("Open &model …"), QKeySequence(tr("Ctrl+M")), files_, &FileActions::AskOpenModel);
  file->addAction(tr("&Save model …"), QKeySequence::Save, files_, &FileActions::AskSaveModel);
  file->addAction(tr("&Export as ONNX …"), files_, &FileActions::AskExport);
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);
  QMenu* view = menuBar()->addMenu(tr("&Page"));
  for (int i = 0; i < navigation_->count(); ++i) {
    view->addAction(navigation_->item(i)->text(), QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)), this,
                    [this, i] { ShowPage(static_cast<Page>(i)); });
  }
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addAction(tr("&About lamina"), this, [this] {
    QString text = tr("lamina %1: neural layers at the speed of the hardware.").arg(FromText(Version()));
    for (const std::string& line : BuildOptions()) {
      text += QLatin1Char('\n') + FromText(line);
    }
    notice_->ShowNote(text);
  });
}

void MainWindow::ConnectFiles() {
  const auto failed = [this](const Problem& problem) { notice_->ShowProblem(problem); };
  connect(files_, &FileActions::Failed, this, failed);
  connect(files_, &FileActions::Done, this, [this](const QString& note) { notice_->ShowNote(note); });
  connect(files_, &FileActions::ModelOpened, this, [this] { ShowPage(Page::kModel); });
  connect(&document_, &RunDocument::LoadFailed, this, failed);
  connect(&document_, &RunDocument::DataChanged, this, [this] {
    notice_->Clear();
    ShowPage(Page::kData);
  });
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
  connect(&worker_, &TrainWorker::Failed, this, [this](const Problem& problem) {
    notice_->ShowProblem(problem);
    training_->Log(problem.Text());
  });
}

void MainWindow::Start() {
  if (!document_.StartBlocker().isEmpty() || worker_.active()) {
    return;
  }
  notice_->Clear();
  training_->Clear();
  ShowPage(Page::kTraining);
  worker_.Start(document_.settings(), document_.data());
}

void MainWindow::Finish(const std::shared_ptr<const TrainOutcome>& outcome) {
  training_->Pull();
  training_->curves().Set(outcome->history);
  store_.Take(*outcome);
  const auto epochs = std::ssize(outcome->history.epochs);
  QString text = outcome->stopped ? tr("Stopped after %1 whole epochs") : tr("Trained for %1 epochs");
  text = text.arg(FromText(WithThousands(epochs))) + tr(" in %1").arg(FromText(DurationText(outcome->train_seconds)));
  if (outcome->history.stop_reason == "early_stopping") {
    text += tr(", stopped early");
  }
  if (outcome->history.best_epoch > 0) {
    text += tr("; best epoch %1").arg(outcome->history.best_epoch);
  }
  training_->Log(text);
  if (outcome->evaluation) {
    const QString rows = tr("On the %1 rows").arg(outcome->evaluated_on);
    training_->Log(rows + QStringLiteral(": ") + EvaluationText(*outcome->evaluation));
    results_->Show(rows, *outcome->evaluation);
    text += QStringLiteral(". ") + rows + QStringLiteral(": ") + EvaluationText(*outcome->evaluation);
  }
  notice_->ShowNote(text + tr(". Save it on the page Model (Ctrl+S)."));
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
    const CloseChoice choice = ask_before_close(question);
    if (choice == CloseChoice::kCancel) {
      event->ignore();
      return;
    }
    if (choice == CloseChoice::kSave) {
      if (training) {  // it stays open until the model is there to be saved
        event->ignore();
        connect(
            &worker_, &TrainWorker::Finished, this,
            [this] { QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection); },
            Qt::SingleShotConnection);
        worker_.Stop();
        return;
      }
      if (!files_->AskSaveModel()) {
        event->ignore();
        return;
      }
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

// How to encode, the network and the training come back; data and files of the last time do not.
void MainWindow::Restore() {
  const QSettings stored;
  restoreGeometry(stored.value(QStringLiteral("geometry")).toByteArray());
  const QByteArray text = stored.value(QStringLiteral("settings")).toByteArray();
  if (text.isEmpty()) {
    return;
  }
  Attempt([&] {
    const TrainSettings settings = TrainSettingsFromJson(nlohmann::json::parse(text.toStdString()));
    document_.Edit([&](TrainSettings& current) { current = settings; });
  });
}

void MainWindow::Remember() const {
  QSettings stored;
  stored.setValue(QStringLiteral("geometry"), saveGeometry());
  TrainSettings settings = document_.settings();
  settings.data = settings.test = settings.validation = settings.model = "";
  settings.history = settings.history_json = settings.checkpoint = "";
  ForgetColumns(settings);
  stored.setValue(QStringLiteral("settings"), QByteArray::fromStdString(ToJson(settings).dump()));
}

}  // namespace lamina::gui
