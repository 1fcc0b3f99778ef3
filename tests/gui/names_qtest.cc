// Names of columns, classes and files that look like markup or like mnemonics are shown as they are.
#include <QAbstractAxis>
#include <QChart>
#include <QChartView>
#include <QGraphicsTextItem>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QTextDocument>
#include <QToolTip>
#include <algorithm>

#include "chart_axes.h"
#include "curves_view.h"
#include "lamina/base/text.h"
#include "plain_text.h"
#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

const QString kName = QStringLiteral("<b>a & b</b> [*] %1 <img src=x>");

class NamesTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void LabelsAndTips();
  void Charts();
  void MenusAndTitle();
  void EveryPage();
  void AnyLocaleAndManyThreads();

 private:
  QString Hostile(const char* target);
};

// The texts of a chart as they are drawn.
QStringList DrawnTexts(const QChart& chart) {
  QStringList texts;
  for (QGraphicsItem* item : chart.scene()->items()) {
    if (auto* text = qgraphicsitem_cast<QGraphicsTextItem*>(item); text != nullptr) {
      texts << text->document()->toPlainText();
    }
  }
  return texts;
}

QString NamesTest::Hostile(const char* target) {
  std::string text = CsvField(kName.toStdString()) + ",x,class\n";
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
            (i % 2 == 0 ? CsvField(kName.toStdString()) : std::string("&other")) + "\n";
  }
  QString path = Write(QStringLiteral("<b>a & b [*].csv"), QByteArray::fromStdString(text));
  if (!Load(path)) {
    return {};
  }
  window().document().SetText("target", QString::fromUtf8(target));
  SmallRun(2);
  return path;
}

void NamesTest::LabelsAndTips() {
  QLabel label(kName, &window());
  label.show();
  QCOMPARE(label.textFormat(), Qt::PlainText);
  QLabel rich(QStringLiteral("<b>own</b>"), &window());
  rich.setTextFormat(Qt::RichText);
  rich.show();
  QCOMPARE(rich.textFormat(), Qt::RichText);
  QToolTip::showText(window().mapToGlobal(QPoint(5, 5)), kName, &window());
  QLabel* tip = nullptr;
  for (QWidget* widget : QApplication::topLevelWidgets()) {
    if (widget->inherits("QTipLabel")) {
      tip = qobject_cast<QLabel*>(widget);
    }
  }
  QVERIFY(tip != nullptr);
  QCOMPARE(tip->text(), kName);
  QCOMPARE(tip->textFormat(), Qt::PlainText);
  QToolTip::hideText();
}

void NamesTest::Charts() {
  QVERIFY(!Hostile(kName.toUtf8().constData()).isEmpty());
  window().document().Edit([](TrainSettings& settings) { settings.task = "regression"; });
  QVERIFY(Settled());
  Click("run.start");
  QVERIFY2(Trained() && Notice().contains(QStringLiteral("epoch")), qPrintable(Notice()));
  window().ShowPage(Page::kResults);
  auto* scatter = Find<QChartView>("scatter");
  QVERIFY(QTest::qWaitFor([&] { return scatter->isVisible(); }, kPatience_ms));
  scatter->grab();
  const QString texts = DrawnTexts(*scatter->chart()).join(QLatin1Char('\n'));
  QVERIFY2(texts.contains(QStringLiteral("predicted <b>a & b</b> ")), qPrintable(texts));  // its end may have no room
  CurvesView curves;
  EpochRecord record;
  record.epoch = 1;
  record.train_loss = record.validation_loss = 0.5;
  curves.SetOthers({{kName, {record}}});
  curves.resize(900, 600);
  curves.show();
  QVERIFY(QTest::qWaitForWindowExposed(&curves));
  curves.grab();
  const QString legend = DrawnTexts(*curves.findChild<QChartView*>()->chart()).join(QLatin1Char('\n'));
  QVERIFY2(legend.contains(QStringLiteral("<b>a & b</b> ")), qPrintable(legend));
}

void NamesTest::MenusAndTitle() {
  const QString path = Hostile("class");
  QVERIFY(!path.isEmpty());
  QVERIFY2(window().windowTitle().startsWith(QStringLiteral("<b>a & b [*][*].csv")),
           qPrintable(window().windowTitle()));
  QMenu recent;
  window().files().FillRecent(recent);
  QCOMPARE(recent.actions().front()->text(), QString(path).replace(QStringLiteral("&"), QStringLiteral("&&")));
  QCOMPARE(ActionText(QStringLiteral("a\t&b")), QStringLiteral("a &&b"));
}

// No label of any page guesses what its text is.
void NamesTest::EveryPage() {
  QVERIFY(!Hostile("class").isEmpty());
  QVERIFY(Settled());
  Click("run.start");
  QVERIFY2(Trained() && Notice().contains(QStringLiteral("epoch")), qPrintable(Notice()));
  auto* pages = Find<QListWidget>("navigation");
  int seen = 0;
  for (int page = 0; page < pages->count(); ++page) {
    pages->setCurrentRow(page);
    QCoreApplication::processEvents();
    for (const QLabel* label : window().findChildren<QLabel*>()) {
      QVERIFY2(!label->isVisible() || label->textFormat() != Qt::AutoText, qPrintable(label->text()));
      seen += label->isVisible() ? 1 : 0;
    }
  }
  QVERIFY(seen > 0);
}

// Run in German and Turkish, too (CMakeLists.txt): decimal points stay, and "ID" is the name of an identifier.
void NamesTest::AnyLocaleAndManyThreads() {
  QByteArray text("ID,x,y\n");
  for (int i = 0; i < 60; ++i) {
    text +=
        QByteArray::number(1000 + i) + ',' + QByteArray::number(i % 7 + 0.25) + ',' + QByteArray::number(i % 7) + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("id.csv"), text)));
  SmallRun(3);
  window().document().Edit([](TrainSettings& settings) { settings.threads = 64; });
  Type("field.learning-rate", QStringLiteral("0.015"));
  QVERIFY(Settled());
  QCOMPARE(window().document().settings().learning_rate, std::optional<double>(0.015));
  const auto plan = window().document().plan();
  QVERIFY(plan != nullptr);
  QVERIFY(std::any_of(plan->data.decisions.begin(), plan->data.decisions.end(),
                      [](const ColumnDecision& decision) { return decision.column == "ID"; }));
  Click("run.start");
  QVERIFY2(Trained() && Notice().contains(QStringLiteral("epoch")), qPrintable(Notice()));
}

}  // namespace

std::unique_ptr<QObject> MakeNamesTest() { return std::make_unique<NamesTest>(); }

}  // namespace lamina::gui

#include "names_qtest.moc"
