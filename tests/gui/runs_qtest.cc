// What is said of runs: folds by rows that no model had seen, and the list of runs.
#include <QChartView>
#include <QLabel>
#include <QLineSeries>
#include <QPlainTextEdit>
#include <QTabWidget>
#include <QTableWidget>
#include <QValueAxis>
#include <nlohmann/json.hpp>

#include "confusion_view.h"
#include "curves_view.h"
#include "lamina/run/cross_validation.h"
#include "number_text.h"
#include "results_page.h"
#include "tests/gui/window_test.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

class RunsTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void FoldsAndWhatColumnsMatter();
  void RunsAreListedAndCompared();
  void RunsStayWithTheProject();
  void AStoppedRunThatGoesOnIsOne();

 private:
  bool Run(int epochs);
  void OutOfFoldAnswersAreShown();
};

void RunsTest::FoldsAndWhatColumnsMatter() {
  QByteArray csv = "noise,signal,kind\n";
  for (int i = 0; i < 240; ++i) {
    const int kind = i % 2;
    csv += QByteArray::number((i * 37 % 101) / 10.0) + ',' + QByteArray::number(3 * kind + (i * 53 % 97) / 40.0) + ',' +
           (kind == 1 ? "yes" : "no") + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("signal.csv"), csv)));
  Type("field.folds", QStringLiteral("3"));
  Type("field.epochs", QStringLiteral("20"));
  QVERIFY(Settled());
  QVERIFY2(Find<QLabel>("run.text")->text().contains(QStringLiteral("3 folds of 240 rows")),
           qPrintable(Find<QLabel>("run.text")->text()));
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  const QString log = Find<QPlainTextEdit>("log")->toPlainText();
  QVERIFY2(log.contains(QStringLiteral("fold 3 of 3: ")), qPrintable(log));
  QVERIFY2(Notice().contains(QStringLiteral("3 folds, by models that have not seen the rows")), qPrintable(Notice()));
  QVERIFY(Find<QLabel>("results.summary")->text().contains(QStringLiteral("±")));
  OutOfFoldAnswersAreShown();
  auto* importance = Find<QTableWidget>("results.importance");
  QCOMPARE(importance->rowCount(), 2);
  QCOMPARE(importance->item(0, 0)->text(), QStringLiteral("signal"));
  QVERIFY(importance->item(0, 2)->data(Qt::UserRole).toDouble() >
          importance->item(1, 2)->data(Qt::UserRole).toDouble());
  QVERIFY(!window().training().curves().epochs().empty());  // of the model of all rows
}

// The matrix, the measures and the words are of the answers out of fold, as the library counts them.
void RunsTest::OutOfFoldAnswersAreShown() {
  const CrossValidation again = CrossValidate(window().document().settings(), window().document().data()->raw, {});
  const ClassificationMetrics& metrics = *again.evaluation.classification;
  QCOMPARE(metrics.samples, int64_t{240});
  QCOMPARE(Find<ConfusionView>("confusion")->metrics().confusion, metrics.confusion);
  auto* measures = Find<QTableWidget>("results.table");
  QCOMPARE(measures->rowCount(), static_cast<int>(metrics.classes.size()));
  for (int row = 0; row < measures->rowCount(); ++row) {
    QCOMPARE(measures->item(row, 4)->text(), PercentText(metrics.classes[static_cast<size_t>(row)].f1));
  }
  int64_t right = 0;
  for (const OutOfFold::Row& row : again.out_of_fold.rows) {
    right += row.truth == row.predicted ? 1 : 0;
  }
  QCOMPARE(metrics.accuracy, static_cast<double>(right) / 240);
  const QString summary = Find<QLabel>("results.summary")->text();
  QVERIFY2(summary.contains(QStringLiteral("together: accuracy ") + PercentText(metrics.accuracy)),
           qPrintable(summary));
  QVERIFY2(summary.contains(QStringLiteral("which it has learned from")), qPrintable(summary));
  QVERIFY2(!Notice().contains(QStringLiteral("training rows")), qPrintable(Notice()));
}

bool RunsTest::Run(int epochs) {
  window().document().Edit([&](TrainSettings& settings) { settings.epochs = epochs; });
  if (!Settled()) {
    return false;
  }
  QTest::mouseClick(Start(), Qt::LeftButton);
  return Trained();
}

void RunsTest::RunsAreListedAndCompared() {
  int asked = 0;
  window().ask_to_save = [&](const QString&) { return ++asked, SaveChoice::kCancel; };
  QVERIFY(Load(Digits()));
  SmallRun(1);
  for (const int epochs : {2, 5, 3}) {
    QVERIFY(Run(epochs));
  }
  QVERIFY2(asked == 0, "a run on the same data loses nothing");
  const std::vector<KeptRun>& runs = window().runs().runs();
  auto* table = Find<QTableWidget>("runs.table");
  QCOMPARE(table->rowCount(), 3);
  for (int row = 0; row < 3; ++row) {
    const KeptRun& run = runs[static_cast<size_t>(row)];
    QCOMPARE(table->item(row, 0)->text(), QStringLiteral("Run %1").arg(row + 1));
    QCOMPARE(table->item(row, 1)->text(),
             QStringLiteral("accuracy ") + PercentText(run.outcome->evaluation->classification->accuracy));
    QCOMPARE(table->item(row, 3)->text(), QStringLiteral("60 test rows"));
    QCOMPARE(table->item(row, 2)->text(), QStringLiteral("Epochs %1").arg(run.history.epochs.size()));
  }
  window().ShowPage(Page::kResults);
  Find<QTabWidget>("results.tabs")->setCurrentIndex(2);
  table->item(1, 0)->setCheckState(Qt::Checked);
  table->item(0, 0)->setText(QStringLiteral("short"));
  QVERIFY(QTest::qWaitFor([&] { return runs[1].overlaid && runs[0].name == QStringLiteral("short"); }, kPatience_ms));
  for (auto* curves : {&window().training().curves(), &window().results().curves()}) {
    QCOMPARE(curves->epochs().size(), size_t{3});
    QCOMPARE(curves->others().size(), size_t{1});
    QCOMPARE(curves->others().front().name, QStringLiteral("Run 2"));
    const auto* chart = curves->findChild<QChartView*>()->chart();
    const auto series = chart->series();
    const auto* line = qobject_cast<QLineSeries*>(series.back());
    QVERIFY(line != nullptr && line->isVisible());
    QCOMPARE(line->count(), 5);
    QCOMPARE(line->at(4).y(), runs[1].history.epochs[4].validation_loss);
    QVERIFY(qobject_cast<QValueAxis*>(chart->axes(Qt::Horizontal).front())->max() >= 5);
  }
  QVERIFY(window().results().curves().isVisible());

  table->selectRow(1);
  Click("runs.model");
  QVERIFY(window().store().model() == runs[1].outcome->model);
  QVERIFY(window().store().unsaved());
  QCOMPARE(window().training().curves().epochs().size(), size_t{5});
  QVERIFY(!Find<QPushButton>("runs.model")->isEnabled());
  Click("runs.settings");
  QCOMPARE(window().document().settings().epochs, std::optional<int64_t>(5));
  window().document().Undo();
  QCOMPARE(window().document().settings().epochs, std::optional<int64_t>(3));
  Click("runs.remove");
  QCOMPARE(runs.size(), size_t{2});
  QVERIFY(window().results().curves().others().empty());
  QCOMPARE(asked, 0);
}

void RunsTest::RunsStayWithTheProject() {
  QVERIFY(Load(Digits()));
  SmallRun(1);
  QVERIFY(Run(2));
  QVERIFY(Run(4));
  window().runs().Overlay(0, true);
  const QString path = Path(QStringLiteral("runs.lamina"));
  QVERIFY(window().files().SaveProjectTo(path));
  const std::vector<KeptRun> before = window().runs().runs();
  NewWindow();
  QVERIFY(window().runs().runs().empty());
  QVERIFY(Load(path));
  const std::vector<KeptRun>& after = window().runs().runs();
  QCOMPARE(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    QVERIFY(ToJson(after[i]) == ToJson(before[i]));
    QVERIFY(after[i].outcome == nullptr);
  }
  QCOMPARE(window().training().curves().others().size(), size_t{1});
  auto* table = Find<QTableWidget>("runs.table");
  QCOMPARE(table->rowCount(), 2);
  QVERIFY(!Find<QPushButton>("runs.model")->isEnabled());
  window().ShowPage(Page::kResults);
  QVERIFY(table->isVisible());
  QVERIFY(Settled());
  QVERIFY(Run(3));
  QCOMPARE(after.back().name, QStringLiteral("Run 3"));
}

void RunsTest::AStoppedRunThatGoesOnIsOne() {
  QVERIFY(Load(Digits()));
  SmallRun(600);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(QTest::qWaitFor([this] { return window().worker().state() != RunState::kPreparing; }, kPatience_ms));
  window().worker().Pause();  // so that it cannot end before it is stopped
  Click("run.stop");
  QVERIFY(Trained());
  QCOMPARE(window().runs().runs().size(), size_t{1});
  if (window().store().history().stop_reason == "interrupted") {
    Click("run.goon");
    QVERIFY(Trained());
  }
  QCOMPARE(window().runs().runs().size(), size_t{1});
  QCOMPARE(window().runs().runs()[0].history.epochs.size(), size_t{600});
}

}  // namespace

std::unique_ptr<QObject> MakeRunsTest() { return std::make_unique<RunsTest>(); }

}  // namespace lamina::gui

#include "runs_qtest.moc"
