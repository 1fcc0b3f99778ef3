// Every ordinary table of tests/first_hour opens in the window and trains, with the task and the target that its list
// names.
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStandardPaths>
#include <algorithm>

#include "curves_view.h"
#include "lamina/data/files/reader.h"
#include "tests/gui/window_test.h"
#include "tests/source_folder.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

class TablesTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void EveryTableOpensAndTrains_data();
  void EveryTableOpensAndTrains();

 private:
  QTemporaryDir made_;
  QJsonArray list_;
};

// The tables are made by the script that the program's tests use.
void TablesTest::initTestCase() {
#ifdef __SANITIZE_THREAD__
  QSKIP("QProcess starts programs in a way after which ThreadSanitizer sees no locks any more");
#endif
  const QString python = QStandardPaths::findExecutable(QStringLiteral("python3"));
  if (python.isEmpty()) {
    QSKIP("there is no python3 to make the tables");
  }
  QProcess process;
  process.start(python, {QStringLiteral("-B"), QString::fromStdString(SourceFolder() + "/tests/first_hour/tables.py"),
                         made_.path()});
  QVERIFY(process.waitForFinished(kPatience_ms));
  QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
  QFile file(made_.filePath(QStringLiteral("tables.json")));
  QVERIFY(file.open(QIODevice::ReadOnly));
  list_ = QJsonDocument::fromJson(file.readAll()).array();
  QVERIFY(list_.size() > 50);
}

void TablesTest::EveryTableOpensAndTrains_data() {
  QTest::addColumn<QJsonObject>("table");
  for (const QJsonValue& each : list_) {
    QTest::addRow("%s", qPrintable(each[QStringLiteral("file")].toString())) << each.toObject();
  }
}

void TablesTest::EveryTableOpensAndTrains() {
  QFETCH(QJsonObject, table);
  const QString file = table[QStringLiteral("file")].toString();
  const auto formats = FormatTable();
  const bool known = std::any_of(formats.begin(), formats.end(), [&](const FormatRow& format) {
    const QStringList endings = FromText(format.endings).split(QLatin1Char(' '));
    return std::any_of(endings.begin(), endings.end(), [&](const QString& ending) {
      return file.endsWith(ending) || file.endsWith(ending + QStringLiteral(".gz"));
    });
  });
  if (!known) {
    QSKIP("no reader of this format yet");
  }
  QVERIFY(Load(made_.filePath(file)));
  RunDocument& document = window().document();
  QVERIFY2(document.data() != nullptr, qPrintable(Notice()));
  const QJsonArray flags = table[QStringLiteral("flags")].toArray();
  for (qsizetype i = 0; i + 1 < flags.size(); i += 2) {  // typed as fields
    document.SetText(flags[i].toString().mid(2).toStdString(), flags[i + 1].toString());
  }
  document.SetText("recipe", QStringLiteral("plain"));
  document.SetText("epochs", QStringLiteral("3"));
  document.SetText("threads", QStringLiteral("1"));
  // What decides how the file is read reads it again.
  QVERIFY(QTest::qWaitFor(
      [&] { return !document.loading() && SourcesFrom(document.settings()) == SourcesFrom(document.data()->settings); },
      kPatience_ms));
  QVERIFY(Settled());
  QVERIFY2(Start()->isEnabled(), qPrintable(document.StartBlocker()));
  const auto names = document.data()->raw.main.train.ColumnNames();
  for (const QJsonValue& column : table[QStringLiteral("columns")].toArray()) {
    const std::string name = column[QStringLiteral("name")].toString().toStdString();
    QVERIFY2(name.empty() || std::find(names.begin(), names.end(), name) != names.end(), name.c_str());
  }
  const auto plan = document.plan();
  QCOMPARE(plan->train_rows + plan->validation_rows + plan->test_rows, table[QStringLiteral("rows")].toInteger());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  const auto model = window().store().model();
  QVERIFY2(model != nullptr, qPrintable(Notice()));
  const TargetEncoder& targets = model->preprocessor.targets();
  QCOMPARE(targets.names().size(), size_t{1});
  QCOMPARE(FromText(targets.names().front()), table[QStringLiteral("target")].toString());
  QCOMPARE(targets.task() == Task::kClassification ? QStringLiteral("classification") : QStringLiteral("regression"),
           table[QStringLiteral("task")].toString());
  QCOMPARE(window().training().curves().epochs().size(), size_t{3});
  QVERIFY(Find<QLabel>("results.summary")->text().contains(QStringLiteral("rows")));
}

}  // namespace

std::unique_ptr<QObject> MakeTablesTest() { return std::make_unique<TablesTest>(); }

}  // namespace lamina::gui

#include "tables_qtest.moc"
