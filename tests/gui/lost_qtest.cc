// Nothing is lost: models that are not saved, settings, shares of rows; and what a run will be is said before it
// starts.
#include <QDoubleSpinBox>
#include <QMenu>
#include <QPlainTextEdit>
#include <QTableView>
#include <nlohmann/json.hpp>

#include "curves_view.h"
#include "project.h"
#include "tests/gui/window_test.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

class LostTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void AModelThatIsNotSavedIsAskedAboutOnce();
  void ClosingWhileTrainingSavesWithoutAskingAgain();
  void OtherDataStartAfresh();
  void EditsAreUndone();
  void DefaultsOfAPageAndOfAll();
  void AProjectComesBack();
  void WhatIsNoProjectSaysSo();
  void ReadyCountsTheRowsThatAreUsed();
  void ReadyFindsWhatWouldEndTheRun();
  void ReadyNotesWhatIsOdd();
  void ReadySaysWhatAutoBecame();
  void WhatWasDecidedStandsBesideTheColumns();
  void StartIsNotLostWhileSettingsAreChecked();
  void SharesCanBeTakenBack();
  void ATypedPathOpens();

 private:
  void TrainSmall();
  /// A table of `rows` lines with columns a, city and y; `special` stands in the last rows.
  QString WriteCities(const QByteArray& special, int count);
};

void LostTest::TrainSmall() {
  QVERIFY(Load(Digits()));
  SmallRun(2);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY(window().store().unsaved());
}

void LostTest::AModelThatIsNotSavedIsAskedAboutOnce() {
  TrainSmall();
  const auto model = window().store().model();
  const QString other = Path(QStringLiteral("other.safetensors"));
  SaveModel(other.toStdString(), *model);
  int asked = 0;
  SaveChoice choice = SaveChoice::kCancel;
  window().ask_to_save = [&](const QString&) { return ++asked, choice; };
  window().files().Open(other);
  QCOMPARE(asked, 1);
  QVERIFY2(window().store().model() == model, "canceled: nothing has changed");

  choice = SaveChoice::kSave;
  const QString saved = Path(QStringLiteral("kept.safetensors"));
  window().files().ask_where_to_save = [&](const QString&, const QString&, const QString&) { return saved; };
  window().files().Open(other);
  QCOMPARE(asked, 2);
  QVERIFY(QFileInfo::exists(saved));
  QCOMPARE(window().store().path(), other);
  for (int i = 0; i < 2; ++i) {
    QTest::mouseClick(Start(), Qt::LeftButton);
    QVERIFY(Trained());
  }
  QCOMPARE(asked, 2);  // the one that was open was saved, and the list of runs keeps the model of the one before
  QCOMPARE(window().runs().runs().size(), size_t{3});
  QVERIFY(window().runs().runs()[1].outcome->model != nullptr);

  choice = SaveChoice::kDiscard;
  QVERIFY(Load(Write(QStringLiteral("t.csv"), "x,y\n1,2\n2,3\n3,1\n4,6\n5,9\n6,2\n7,1\n")));
  window().document().Edit([](TrainSettings& settings) { settings.epochs = 2; });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QCOMPARE(asked, 3);  // other data
}

void LostTest::ClosingWhileTrainingSavesWithoutAskingAgain() {
  QVERIFY(Load(Digits()));
  SmallRun(100000);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(QTest::qWaitFor([this] { return !window().training().curves().epochs().empty(); }, kPatience_ms));
  int asked = 0;
  window().ask_to_save = [&](const QString&) { return ++asked, SaveChoice::kSave; };
  const QString saved = Path(QStringLiteral("closing.safetensors"));
  window().files().ask_where_to_save = [&](const QString&, const QString&, const QString&) { return saved; };
  QVERIFY(!window().close());
  QVERIFY(QTest::qWaitFor([this] { return !window().isVisible(); }, kPatience_ms));
  QCOMPARE(asked, 1);
  QVERIFY(QFileInfo::exists(saved));
}

void LostTest::OtherDataStartAfresh() {
  QVERIFY(Load(Digits()));
  window().document().Edit([](TrainSettings& settings) {
    settings.hidden = {1024, 1024};
    settings.scale = "minmax";
    settings.threads = 1;
    settings.drop = {"p3"};
  });
  QVERIFY(Load(Write(QStringLiteral("t.csv"), "x,y\n1,2\n2,3\n3,1\n4,6\n5,9\n6,2\n7,1\n")));
  const TrainSettings& settings = window().document().settings();
  QCOMPARE(settings.hidden, TrainSettings().hidden);
  QCOMPARE(settings.scale, TrainSettings().scale);
  QCOMPARE(settings.threads, int64_t{1});  // the machine is the same
  QVERIFY2(Notice().contains(QStringLiteral("Undo")), qPrintable(Notice()));
  window().document().Undo();
  QCOMPARE(settings.hidden, (std::vector<int64_t>{1024, 1024}));
  QVERIFY(settings.drop.empty());  // a column of the other data
  QVERIFY(QString::fromStdString(settings.data).endsWith(QStringLiteral("t.csv")));
  QVERIFY(Load(Path(QStringLiteral("t.csv"))));
  QCOMPARE(settings.hidden, (std::vector<int64_t>{1024, 1024}));  // the same data again
}

void LostTest::EditsAreUndone() {
  QVERIFY(Load(Digits()));
  RunDocument& document = window().document();
  QVERIFY(!document.can_undo());
  Type("field.learning-rate", QStringLiteral("0.25"));
  Choose("field.optimizer", QStringLiteral("nesterov"));
  Type("field.batch", QStringLiteral("none"));
  QVERIFY(!document.ProblemOf("batch").isEmpty());
  document.Undo();  // of the optimizer: what was typed wrongly is no setting, and is gone
  QCOMPARE(document.settings().optimizer, TrainSettings().optimizer);
  QVERIFY(document.ProblemOf("batch").isEmpty());
  document.Undo();  // four letters, one edit
  QVERIFY(!document.settings().learning_rate);
  QVERIFY(Find<QLineEdit>("field.learning-rate")->text().isEmpty());
  QVERIFY(!document.can_undo());
  document.Redo();
  document.Redo();
  QCOMPARE(document.settings().optimizer, std::string("nesterov"));
  QCOMPARE(Find<QLineEdit>("field.learning-rate")->text(), QStringLiteral("0.25"));
  document.Undo();
  Type("field.seed", QStringLiteral("7"));
  QVERIFY(!document.can_redo());
}

void LostTest::DefaultsOfAPageAndOfAll() {
  QVERIFY(Load(Digits()));
  window().document().Edit([](TrainSettings& settings) {
    settings.hidden = {7};
    settings.learning_rate = 0.5;
    settings.target = {"p5"};
    settings.split = {0.5, 0.25, 0.25};
  });
  const auto reset = [this](Page page) {
    window().ShowPage(page);
    const auto buttons = window().findChildren<QPushButton*>(QStringLiteral("page.reset"));
    const auto shown = std::find_if(buttons.begin(), buttons.end(), [](const auto* each) { return each->isVisible(); });
    QVERIFY(shown != buttons.end());
    (*shown)->click();
  };
  const TrainSettings& settings = window().document().settings();
  reset(Page::kNetwork);
  QCOMPARE(settings.hidden, TrainSettings().hidden);
  QCOMPARE(settings.learning_rate, std::optional(0.5));
  reset(Page::kData);
  QVERIFY(settings.target.empty() && settings.split.empty());
  QCOMPARE(QString::fromStdString(settings.data), Digits());
  QCOMPARE(settings.learning_rate, std::optional(0.5));
  window().document().ResetAll();
  QVERIFY(!settings.learning_rate);
  QCOMPARE(QString::fromStdString(settings.data), Digits());
  window().document().Undo();
  QCOMPARE(settings.learning_rate, std::optional(0.5));
}

void LostTest::AProjectComesBack() {
  const QString data = Write(QStringLiteral("mine.csv"), [] {
    QByteArray text("a,b,y\n");
    for (int i = 0; i < 60; ++i) {
      text += QByteArray::number(i % 13) + ',' + QByteArray::number(i % 7) + ',' + (i % 2 == 0 ? "yes" : "no") + '\n';
    }
    return text;
  }());
  QVERIFY(Load(data));
  window().document().Edit([](TrainSettings& settings) {
    settings.hidden = {5};
    settings.drop = {"b"};
    settings.epochs = 3;
    settings.threads = 1;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  const QString path = Path(QStringLiteral("mine.lamina"));
  QVERIFY(window().files().SaveProjectTo(path));
  QVERIFY(!window().store().unsaved());
  QVERIFY(QFileInfo::exists(Path(QStringLiteral("mine.safetensors"))));
  const nlohmann::json before = ToJson(window().document().settings());
  NewWindow();
  QVERIFY(Load(path));
  QCOMPARE(window().document().data()->path, data);
  QVERIFY(ToJson(window().document().settings()) == before);
  QCOMPARE(window().store().path(), Path(QStringLiteral("mine.safetensors")));
  QCOMPARE(window().training().curves().epochs().size(), size_t{3});
  QVERIFY(Settled());
  QVERIFY2(Start()->isEnabled(), qPrintable(window().document().StartBlocker()));

  // The folder can move: files are named as seen from it.
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QVERIFY(!file.readAll().contains(QFileInfo(path).absolutePath().toUtf8()));
}

void LostTest::WhatIsNoProjectSaysSo() {
  for (const char* content : {"", "{}", "[1]", "{\"lamina_project\": 99}", "{\"lamina_project\": 1}"}) {
    QVERIFY(Load(Write(QStringLiteral("bad.lamina"), content)));
    QVERIFY2(Notice().contains(QStringLiteral("bad.lamina")), qPrintable(Notice()));
  }
}

QString LostTest::WriteCities(const QByteArray& special, int count) {
  QByteArray text("a,city,y\n");
  for (int i = 0; i < 100; ++i) {
    const bool last = i >= 100 - count;
    text += QByteArray::number(i + 0.5) + ',' + (last ? special : QByteArray(i % 2 == 0 ? "Oslo" : "Rome")) + ',' +
            QByteArray::number(i * 0.5) + '\n';
  }
  return Write(QStringLiteral("cities.csv"), text);
}

void LostTest::ReadyCountsTheRowsThatAreUsed() {
  QByteArray text("a,b,y\n");
  for (int i = 0; i < 200; ++i) {
    text += (i % 10 == 0 ? QByteArray() : QByteArray::number(i + 0.5)) + ',' + QByteArray::number(i % 7) + ',' +
            QByteArray::number(i * 0.5) + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("gaps.csv"), text)));
  window().document().Edit([](TrainSettings& settings) {
    settings.missing = "drop";
    settings.epochs = 1;
    settings.threads = 1;
  });
  QVERIFY(Settled());
  const auto plan = window().document().plan();
  QVERIFY2(plan != nullptr, qPrintable(window().document().StartBlocker()));
  QCOMPARE(plan->train_rows + plan->validation_rows + plan->test_rows, int64_t{180});
  QCOMPARE(plan->left_out_rows, int64_t{20});
  const QString said = Find<QLabel>("run.text")->text();
  QVERIFY2(said.contains(QStringLiteral("20 left out")), qPrintable(said));
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  const QString log = Find<QPlainTextEdit>("log")->toPlainText();
  QVERIFY2(log.contains(QStringLiteral("on %1 training rows").arg(plan->train_rows)), qPrintable(log));
  QVERIFY2(Notice().contains(QStringLiteral("%1 rows").arg(plan->test_rows)), qPrintable(Notice()));
}

// A category that only test rows have.
void LostTest::ReadyFindsWhatWouldEndTheRun() {
  QVERIFY(Load(WriteCities("Reykjavik", 3)));
  const auto with = [this](const char* unseen) {
    window().document().Edit([&](TrainSettings& settings) {
      settings.split_by = "a";
      settings.unseen = unseen;
    });
    return Settled();
  };
  QVERIFY(with("error"));
  QVERIFY(!Start()->isEnabled());
  QVERIFY2(Find<QLabel>("run.text")->text().contains(QStringLiteral("Reykjavik")),
           qPrintable(Find<QLabel>("run.text")->text()));
  QVERIFY(with("zero"));
  QVERIFY(Start()->isEnabled());
  QCOMPARE(window().document().plan()->rows->report.unseen_values, int64_t{3});
  QVERIFY2(Find<QLabel>("run.text")->toolTip().contains(QStringLiteral("3 values")),
           qPrintable(Find<QLabel>("run.text")->toolTip()));
}

void LostTest::ReadyNotesWhatIsOdd() {
  QByteArray text("a,b,fraud\n");
  for (int i = 0; i < 500; ++i) {
    text += QByteArray::number(i + 0.5) + ',' + QByteArray::number(i % 7) + ',' + (i % 50 == 0 ? "yes" : "no") + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("fraud.csv"), text)));
  QVERIFY(Settled());
  QVERIFY(window().document().plan() != nullptr);
  QString notes = window().document().plan()->Notes().join(QLatin1Char('\n'));
  QVERIFY2(notes.contains(QStringLiteral("“yes”")), qPrintable(notes));
  QVERIFY(!notes.contains(QStringLiteral("parameters")));
  window().document().Edit([](TrainSettings& settings) {
    settings.hidden = {1024, 1024};
    settings.split = {1, 0, 0};
  });
  QVERIFY(Settled());
  notes = window().document().plan()->Notes().join(QLatin1Char('\n'));
  QVERIFY2(notes.contains(QStringLiteral("parameters")), qPrintable(notes));
  QVERIFY2(notes.contains(QStringLiteral("No test rows")), qPrintable(notes));

  text = "a,rooms\n";
  for (int i = 0; i < 400; ++i) {
    text += QByteArray::number(i + 0.5) + ',' + QByteArray::number(i % 20) + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("rooms.csv"), text)));
  QVERIFY(Settled());
  notes = window().document().plan()->Notes().join(QLatin1Char('\n'));
  QVERIFY2(notes.contains(QStringLiteral("regression")), qPrintable(notes));
}

void LostTest::ReadySaysWhatAutoBecame() {
  QVERIFY(Load(Digits()));
  QVERIFY(Settled());
  auto* task = Find<QComboBox>("field.task");
  QCOMPARE(task->currentText(), QStringLiteral("auto: classification"));
  QCOMPARE(Find<QLineEdit>("field.learning-rate")->placeholderText(), QStringLiteral("automatic: 0.04"));
  task->setCurrentIndex(task->findData(QStringLiteral("regression")));
  QVERIFY(Settled());
  QCOMPARE(task->itemText(task->findData(QStringLiteral("auto"))), QStringLiteral("auto"));
  QCOMPARE(window().document().settings().task, std::string("regression"));
}

void LostTest::WhatWasDecidedStandsBesideTheColumns() {
  QByteArray text("id,size,always,y\n");
  for (int i = 0; i < 60; ++i) {
    text += QByteArray::number(100 + i) + ',' + (i % 10 == 0 ? QByteArray() : QByteArray::number(i % 7 + 0.5)) + ",1," +
            (i % 7 < 3 ? "low\n" : "high\n");
  }
  QVERIFY(Load(Write(QStringLiteral("ids.csv"), text)));
  QVERIFY(Settled());
  const QAbstractItemModel& columns = *Find<QTableView>("columns")->model();
  const auto decided = [&](int row) { return columns.index(row, 5).data().toString(); };
  QVERIFY2(decided(0).contains(QStringLiteral("left out")), qPrintable(decided(0)));
  QVERIFY2(decided(1).contains(QStringLiteral("filled in")), qPrintable(decided(1)));
  QVERIFY2(decided(2).contains(QStringLiteral("left out")), qPrintable(decided(2)));
  QVERIFY(decided(3).isEmpty());
  const auto use = [&](int row) { return columns.index(row, 4).data().toString(); };
  QCOMPARE(use(0), QStringLiteral("left out"));
  QCOMPARE(use(1), QStringLiteral("input"));
  QCOMPARE(use(3), QStringLiteral("target"));
  QVERIFY(columns.index(0, 5).data(Qt::ToolTipRole).toString().contains(QStringLiteral("Columns used all the same")));
  QCOMPARE(window().document().plan()->data.preprocessor.inputs().count(), int64_t{1});
  Type("field.use", QStringLiteral("id"));
  QVERIFY(Settled());
  QVERIFY(decided(0).isEmpty());
  QCOMPARE(use(0), QStringLiteral("input"));
  QCOMPARE(window().document().plan()->data.preprocessor.inputs().count(), int64_t{2});
}

void LostTest::StartIsNotLostWhileSettingsAreChecked() {
  QVERIFY(Load(Digits()));
  SmallRun(1);
  QVERIFY(Settled());
  Type("field.seed", QStringLiteral("9"));
  QVERIFY(window().document().checking());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(!window().worker().active());
  QVERIFY(QTest::qWaitFor([this] { return window().store().model() != nullptr; }, kPatience_ms));
  QCOMPARE(window().store().settings().seed, uint64_t{9});
}

void LostTest::SharesCanBeTakenBack() {
  QVERIFY(Load(Digits()));
  auto* train = Find<QDoubleSpinBox>("split.0");
  for (const char* typed : {"1", "0.6"}) {
    train->setFocus();
    train->selectAll();
    QTest::keyClicks(train, QString::fromLatin1(typed));
    QTest::keyClick(train, Qt::Key_Return);
  }
  QCOMPARE(window().document().settings().split, (std::vector<double>{0.6, 0.2, 0.2}));
}

void LostTest::ATypedPathOpens() {
  Type("data.path", Digits());
  QTest::keyClick(Find<QLineEdit>("data.path"), Qt::Key_Return);
  QVERIFY(QTest::qWaitFor([this] { return window().document().data() != nullptr; }, kPatience_ms));
  QCOMPARE(window().document().data()->path, Digits());
}

}  // namespace

std::unique_ptr<QObject> MakeLostTest() { return std::make_unique<LostTest>(); }

}  // namespace lamina::gui

#include "lost_qtest.moc"
