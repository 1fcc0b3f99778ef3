// Runs: to the end and like the program's, paused, stopped and gone on with, diverging, long, closed in the middle.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QTableWidget>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "curves_view.h"
#include "lamina/model/model.h"
#include "model_page.h"
#include "predict_panel.h"
#include "search_page.h"
#include "tests/gui/window_test.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

QByteArray Bytes(const Network& network) {
  return {static_cast<const char*>(network.parameters()), static_cast<qsizetype>(network.parameter_bytes())};
}

// Processor time of this thread.
double ThreadSeconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

class TrainingTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void DigitsToTheEndAndLikeTheProgram();
  void PauseAndResume();
  void StopAndGoOnGivesTheSameModel();
  void ADivergingRunSaysWhatToDo();
  void ALongRunStaysLive();
  void CloseInTheMiddle();
  void RegressionShowsPredictedAndTrue();
  void TheBestTrialsOfASearchAnswerTogether();

 private:
  QJsonDocument Program(const QStringList& arguments);
  bool AtEpoch(int64_t epoch) {
    return QTest::qWaitFor(
        [this, epoch] {
          const auto progress = window().worker().progress();
          return !window().worker().active() ||
                 (window().worker().state() == RunState::kRunning && progress && progress->epoch >= epoch);
        },
        kPatience_ms);
  }
};

// What "lamina ARGUMENTS --json -" prints.
QJsonDocument TrainingTest::Program(const QStringList& arguments) {
  QProcess process;
  process.start(qEnvironmentVariable("LAMINA_PROGRAM"),
                arguments + QStringList{QStringLiteral("--json"), QStringLiteral("-")});
  process.waitForFinished(kPatience_ms);
  const QByteArray output = process.readAllStandardOutput();
  if (process.exitCode() != 0) {
    qWarning("%s", process.readAllStandardError().constData());
  }
  return QJsonDocument::fromJson(output);
}

void TrainingTest::DigitsToTheEndAndLikeTheProgram() {
#ifdef __SANITIZE_THREAD__
  QSKIP("QProcess starts programs in a way after which ThreadSanitizer sees no locks any more");
#endif
  Click("data.digits");
  QVERIFY(QTest::qWaitFor([this] { return window().document().data() != nullptr; }, kPatience_ms));
  QCOMPARE(Find<QLineEdit>("data.path")->text(), QFileInfo(Digits()).canonicalFilePath());
  Type("field.epochs", QStringLiteral("8"));
  Type("field.threads", QStringLiteral("1"));
  Type("field.seed", QStringLiteral("5"));
  window().ShowPage(Page::kNetwork);
  Type("layer1.neurons", QStringLiteral("32"));
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(window().worker().active());
  QVERIFY(Trained());
  QCOMPARE(window().training().curves().epochs().size(), size_t{8});
  QVERIFY(Notice().contains(QStringLiteral("accuracy")));
  QVERIFY(Find<QPlainTextEdit>("log")->toPlainText().contains(QStringLiteral("epoch 8")));
  QVERIFY(window().isWindowModified());

  const QString path = Path(QStringLiteral("digits.safetensors"));
  QVERIFY(window().files().SaveModelTo(path));
  QVERIFY(!window().isWindowModified());
  const QJsonObject known =
      Program({QStringLiteral("evaluate"), QStringLiteral("--model"), path, QStringLiteral("--data"), Digits()})
          .object();
  QCOMPARE(known[QStringLiteral("samples")].toInt(), 1797);
  QVERIFY(known[QStringLiteral("accuracy")].toDouble() > 0.9);
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(Digits());
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  const ClassificationMetrics& here = *panel.prediction()->answers.evaluation->classification;
  QCOMPARE(here.accuracy, known[QStringLiteral("accuracy")].toDouble());
  const QJsonArray confusion = known[QStringLiteral("confusion")].toArray();
  QCOMPARE(static_cast<size_t>(confusion.size()), here.confusion.size());
  for (size_t i = 0; i < here.confusion.size(); ++i) {
    for (size_t j = 0; j < here.confusion.size(); ++j) {
      QCOMPARE(here.confusion[i][j],
               confusion[static_cast<qsizetype>(i)].toArray()[static_cast<qsizetype>(j)].toInteger());
    }
  }
  QVERIFY(Find<QLabel>("results.summary")->text().contains(QString::number(100 * here.accuracy, 'f', 2)));

  // The command shown repeats the run to the same weights.
  const QString again = Path(QStringLiteral("again.safetensors"));
  QString command = Find<QPlainTextEdit>("model.command")->toPlainText();
  QVERIFY(command.startsWith(QStringLiteral("lamina train --data ")));
  QProcess shell;  // takes it apart as the user's would: paths may have spaces
  shell.start(QStringLiteral("sh"),
              {QStringLiteral("-c"), QStringLiteral("printf '%s\\0' ") + command.replace(path, again)});
  QVERIFY(shell.waitForFinished());
  QStringList arguments = QString::fromUtf8(shell.readAllStandardOutput()).split(QChar(0), Qt::SkipEmptyParts);
  arguments.removeFirst();
  QCOMPARE(Program(arguments).object()[QStringLiteral("network")].toString(), QStringLiteral("64-32-256-256-10"));
  QCOMPARE(Bytes(LoadModel(again.toStdString()).network), Bytes(window().store().model()->network));
}

void TrainingTest::PauseAndResume() {
  QVERIFY(Load(Digits()));
  SmallRun(4000);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(AtEpoch(5));
  Click("run.pause");
  QCOMPARE(window().worker().state(), RunState::kPaused);
  const int64_t at = window().worker().progress()->epoch;
  QTest::qWait(300);                                       // some hundred epochs of a run that goes on
  QVERIFY(window().worker().progress()->epoch <= at + 1);  // the step that was running may have been an epoch's last
  QVERIFY(Find<QPushButton>("run.pause")->text().contains(QStringLiteral("ume")));
  Click("run.pause");
  QVERIFY(AtEpoch(at + 6));
  QCOMPARE(window().worker().state(), RunState::kRunning);
  Click("run.pause");
  Click("run.stop");  // also while paused
  QVERIFY(Trained());
  QVERIFY(Notice().contains(QStringLiteral("Stopped")));
}

void TrainingTest::StopAndGoOnGivesTheSameModel() {
  QVERIFY(Load(Digits()));
  SmallRun(60);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  const QByteArray whole = Bytes(window().store().model()->network);
  QVERIFY(Find<QPushButton>("run.goon")->isHidden());

  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(AtEpoch(3));
  window().worker().Pause();  // holds it, so that it cannot end before it is stopped
  Click("run.stop");
  QVERIFY(Trained());
  if (window().store().history().stop_reason == "interrupted") {
    QVERIFY(window().store().model() != nullptr);
    Click("run.goon");
    QVERIFY(Trained());
  }
  QCOMPARE(window().store().history().epochs.size(), size_t{60});
  QCOMPARE(window().training().curves().epochs().size(), size_t{60});
  QCOMPARE(Bytes(window().store().model()->network), whole);
}

void TrainingTest::ADivergingRunSaysWhatToDo() {
  QVERIFY(Load(Digits()));
  SmallRun(20);
  window().document().Edit([](TrainSettings& settings) {
    settings.optimizer = "sgd";
    settings.loss = "mse";
    settings.output_activation = "identity";
    settings.learning_rate = 1e6;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY2(Notice().contains(QStringLiteral("diverged")), qPrintable(Notice()));
  QVERIFY(Notice().contains(QStringLiteral("smaller learning rate")));
  QVERIFY(window().store().model() == nullptr);
  QVERIFY(Start()->isEnabled());
  Type("field.learning-rate", QStringLiteral("0.01"));
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY(window().store().model() != nullptr);
}

void TrainingTest::ALongRunStaysLive() {
  QVERIFY(Load(Write(QStringLiteral("xor.csv"),
                     "a,b,y\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n0,0.1,no\n0.9,0,yes\n1,0.9,no\n0.1,1,yes\n")));
  window().document().Edit([](TrainSettings& settings) {
    settings.hidden = {2};
    settings.epochs = 100000;
    settings.patience = 0;
    settings.batch = 8;
    settings.threads = 1;
    settings.split = {0.75, 0.25, 0};
  });
  QVERIFY(Settled());
  window().ShowPage(Page::kTraining);
  QTest::mouseClick(Start(), Qt::LeftButton);
  CurvesView& curves = window().training().curves();
  QElapsedTimer total;
  total.start();
  double longest = 0;      // processor time, which a busy machine does not add to
  std::set<size_t> shown;  // how far the run was after a turn: a window that waits for it sees the end alone
  while (window().worker().active()) {
    const double begin = ThreadSeconds();
    QCoreApplication::processEvents();
    longest = std::max(longest, ThreadSeconds() - begin);
    shown.insert(curves.epochs().size());
    QTest::qSleep(2);
  }
  qInfo("100000 epochs in %lld ms, the longest turn of the event loop computed %.0f ms, the window showed %zu moments",
        total.elapsed(), longest * 1e3, shown.size());
  QVERIFY2(longest < 1, "a turn of the event loop computes for a second");
  QVERIFY2(shown.size() > 3, "the window froze");
  QCOMPARE(curves.epochs().size(), size_t{100000});
  QVERIFY(curves.shown_points() <= 1300);
  QVERIFY(Find<QPlainTextEdit>("log")->blockCount() <= 5001);
  for (const char* name : {"curves.png", "curves.svg", "curves.csv"}) {
    QVERIFY(window().files().SaveCurvesTo(curves, Path(QString::fromLatin1(name))));
    QVERIFY(QFileInfo(Path(QString::fromLatin1(name))).size() > 1000);
  }
  QVERIFY(!QImage(Path(QStringLiteral("curves.png"))).isNull());
  QVERIFY(!window().files().SaveCurvesTo(curves, QStringLiteral("/nowhere/at/all.png")));
  QVERIFY2(Notice().contains(QStringLiteral("/nowhere/at: ")), qPrintable(Notice()));
}

void TrainingTest::CloseInTheMiddle() {
  for (const SaveChoice choice : {SaveChoice::kCancel, SaveChoice::kDiscard}) {
    MainWindow& each = NewWindow();
    QVERIFY(Load(Digits()));
    SmallRun(100000);
    QVERIFY(Settled());
    QTest::mouseClick(Start(), Qt::LeftButton);
    QVERIFY(AtEpoch(2));
    int asked = 0;
    each.ask_to_save = [&](const QString& question) {
      ++asked;
      return question.contains(QStringLiteral("being trained")) ? choice : SaveChoice::kDiscard;
    };
    QCOMPARE(each.close(), choice == SaveChoice::kDiscard);
    QCOMPARE(asked, 1);
    QCOMPARE(each.isVisible(), choice == SaveChoice::kCancel);
    QElapsedTimer timer;
    timer.start();
    CloseWindow();
    QVERIFY(timer.elapsed() < kPatience_ms);  // the epochs that were asked for take minutes
  }
  MainWindow& fresh = NewWindow();
  int asked = 0;
  fresh.ask_to_save = [&](const QString&) { return ++asked, SaveChoice::kCancel; };
  QVERIFY(fresh.close());
  QCOMPARE(asked, 0);  // there is nothing to lose
}

void TrainingTest::RegressionShowsPredictedAndTrue() {
  QByteArray text("a,b,y\n");
  for (int i = 0; i < 300; ++i) {
    const double a = (i * 37 % 101) / 101.0;
    const double b = (i * 53 % 89) / 89.0;
    text += QByteArray::number(a) + ',' + QByteArray::number(b) + ',' + QByteArray::number(3 * a - 2 * b + 10.5) + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("line.csv"), text)));
  window().document().Edit([](TrainSettings& settings) {
    settings.recipe = "plain";
    settings.hidden = {0};
    settings.epochs = 60;
    settings.learning_rate = 0.02;
    settings.threads = 1;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  window().ShowPage(Page::kResults);
  QVERIFY(Find<QWidget>("scatter")->isVisible());
  QVERIFY(Find<QLabel>("results.summary")->text().contains(QStringLiteral("RMSE")));
  QVERIFY(Find<QTableWidget>("results.table")->item(0, 4)->text().toDouble() > 0.99);

  window().ShowPage(Page::kModel);
  auto* values = Find<QTableWidget>("typed.values");
  QCOMPARE(values->rowCount(), 2);
  values->item(0, 1)->setText(QStringLiteral("0.5"));
  values->item(1, 1)->setText(QStringLiteral("0.25"));
  const auto* answer = Find<QLabel>("typed.answer");
  QVERIFY(QTest::qWaitFor([&] { return std::abs(answer->text().toDouble() - 11.5) < 0.2; }, kPatience_ms));
  values->item(0, 1)->setText(QStringLiteral("half"));
  const auto* problem = Find<QLabel>("typed.problem");
  QVERIFY(QTest::qWaitFor([&] { return !problem->isHidden(); }, kPatience_ms));
  QVERIFY2(problem->text().contains(QStringLiteral("“a”")), qPrintable(problem->text()));
  QVERIFY(answer->text().isEmpty());
}

void TrainingTest::TheBestTrialsOfASearchAnswerTogether() {
  QVERIFY(Load(Digits()));
  SmallRun(3);
  QVERIFY(Settled());
  window().ShowPage(Page::kSearch);
  const auto values = window().findChildren<QLineEdit*>(QStringLiteral("search.values"));
  for (const auto& [line, text] : {std::pair(values[0], "0.005,0.01"), {values[1], "16|24"}}) {
    line->setText(QString::fromLatin1(text));
    Q_EMIT line->textEdited(line->text());
  }
  auto* ensemble = Find<QLineEdit>("search.ensemble");
  ensemble->setText(QStringLiteral("-1"));
  Q_EMIT ensemble->textEdited(ensemble->text());
  QVERIFY(!Find<QLabel>("search.problem")->text().isEmpty());
  ensemble->setText(QStringLiteral("3"));
  Q_EMIT ensemble->textEdited(ensemble->text());
  Click("search.start");
  QVERIFY(QTest::qWaitFor([this] { return window().store().model() != nullptr; }, kPatience_ms));
  QVERIFY2(Notice().contains(QStringLiteral("together")), qPrintable(Notice()));
  const Model& model = *window().store().model();
  QVERIFY(std::ssize(model.others) + 1 <= 3);
  QVERIFY(model.training.contains("ensemble"));
  const QString command = window().store().Command();
  QVERIFY2(command.startsWith(QStringLiteral("lamina search ")), qPrintable(command));
  for (const char* part : {"--ensemble 3", "--vary learning-rate=0.005,0.01", "--vary 'hidden=16|24'", "--model "}) {
    QVERIFY2(command.contains(QLatin1String(part)), qPrintable(command));
  }
  const QString path = Path(QStringLiteral("together.safetensors"));
  window().store().Save(path);
  QCOMPARE(LoadModel(path.toStdString()).others.size(), model.others.size());
  window().store().Open(path);
  QVERIFY2(window().store().Command().isEmpty(), "the search is not in the file");
}

}  // namespace

std::unique_ptr<QObject> MakeTrainingTest() { return std::make_unique<TrainingTest>(); }

}  // namespace lamina::gui

#include "training_qtest.moc"
