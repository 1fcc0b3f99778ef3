// Names of columns, classes and files that look like markup or like mnemonics are shown as they are.
#include <QAbstractAxis>
#include <QChart>
#include <QChartView>
#include <QGraphicsTextItem>
#include <QMenu>
#include <QMenuBar>
#include <QTextDocument>
#include <QToolTip>

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
  const QString path = Write(QStringLiteral("<b>a & b [*].csv"), QByteArray::fromStdString(text));
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
  QVERIFY(Trained());
  auto* scatter = Find<QChartView>("scatter");
  const QStringList texts = DrawnTexts(*scatter->chart());
  QVERIFY2(texts.contains(QStringLiteral("true ") + kName), qPrintable(texts.join(QLatin1Char('\n'))));
  CurvesView curves;
  curves.SetOthers({{kName, {}}});
  curves.resize(900, 600);
  curves.show();
  QVERIFY(QTest::qWaitForWindowExposed(&curves));
  EpochRecord record;
  record.epoch = 1;
  record.train_loss = record.validation_loss = 0.5;
  curves.SetOthers({{kName, {record}}});
  const QStringList legend = DrawnTexts(*curves.findChild<QChartView*>()->chart());
  QVERIFY2(legend.contains(kName), qPrintable(legend.join(QLatin1Char('\n'))));
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

// Every label that holds the name after a run shows it as plain text.
void NamesTest::EveryPage() {
  QVERIFY(!Hostile("class").isEmpty());
  QVERIFY(Settled());
  Click("run.start");
  QVERIFY(Trained());
  auto* pages = Find<QListWidget>("navigation");
  int holding = 0;
  for (int page = 0; page < pages->count(); ++page) {
    pages->setCurrentRow(page);
    QCoreApplication::processEvents();
    for (const QLabel* label : window().findChildren<QLabel*>()) {
      if (label->isVisible() && label->text().contains(QLatin1Char('<')) &&
          label->objectName() != QStringLiteral("data.empty")) {
        QVERIFY2(label->textFormat() == Qt::PlainText, qPrintable(label->text()));
        ++holding;
      }
    }
  }
  QVERIFY(holding > 0);
}

}  // namespace

std::unique_ptr<QObject> MakeNamesTest() { return std::make_unique<NamesTest>(); }

}  // namespace lamina::gui

#include "names_qtest.moc"
