// What the window says aside: notices, marked cells, dialogs, letters of buttons.
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTableView>

#include "lamina/data/files/reader.h"
#include "model_page.h"
#include "predict_panel.h"
#include "prediction.h"
#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

class NotesTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void NoticesFitTheirText();
  void AnswersEndTheErrorBefore();
  void CellsThatAreNoNumbersAreMarked();
  void DialogsListEveryFormat();
  void EveryButtonHasALetter();
};

// Two lines and less move nothing; more are seen whole, and very many scroll.
void NotesTest::NoticesFitTheirText() {
  auto* pages = Find<QStackedWidget>("pages");
  QTest::qWait(20);
  const QRect before = pages->geometry();
  const auto* label = Find<QLabel>("notice.text");
  const auto* scroll = Find<QScrollArea>("notice.scroll");
  const auto show = [&](const QString& text) {
    window().notice().ShowProblem({text, QStringLiteral("Do something else.")});
    QTest::qWait(20);
    QVERIFY(Notice().endsWith(QStringLiteral("else.")));
  };
  show(QStringLiteral("What happened."));
  QCOMPARE(pages->geometry(), before);
  show(QStringLiteral("words ").repeated(100));
  QVERIFY(pages->geometry().top() > before.top());
  QVERIFY(scroll->viewport()->height() >= label->heightForWidth(label->width()));
  show(QStringLiteral("words ").repeated(3000));
  QVERIFY(pages->height() > window().height() / 2);
  QVERIFY(scroll->verticalScrollBar()->maximum() > 0);
  window().notice().Clear();
  QTest::qWait(20);
  QCOMPARE(pages->geometry(), before);
  QVERIFY(Notice().isEmpty());
}

void NotesTest::AnswersEndTheErrorBefore() {
  const QString good = Write(QStringLiteral("good.csv"), "a,b,y\n1,2,3\n2,3,4\n3,1,5\n4,6,6\n5,9,1\n6,2,2\n");
  QVERIFY(Load(good));
  window().document().Edit([](TrainSettings& settings) { settings.epochs = 1; });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(Write(QStringLiteral("bad.csv"), "c,d\n1,2\n"));
  QVERIFY(QTest::qWaitFor([this] { return Notice().contains(QStringLiteral("bad.csv")); }, kPatience_ms));
  panel.Predict(good);
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
}

void NotesTest::CellsThatAreNoNumbersAreMarked() {
  QByteArray text("a,y\n");
  for (int i = 0; i < 100; ++i) {
    text += (i == 7   ? QByteArray("error")
             : i == 9 ? QByteArray()
                      : QByteArray::number(i)) +
            ',' + QByteArray::number(i) + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("odd.csv"), text)));
  const QAbstractItemModel& shown = *Find<QTableView>("preview")->model();
  const auto mark = [&](int row) { return shown.index(row, 0).data(Qt::BackgroundRole); };
  QCOMPARE(shown.index(7, 0).data().toString(), QStringLiteral("error"));
  QVERIFY(mark(7).isValid());
  QVERIFY(shown.index(7, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("counts as missing")));
  for (const int row : {6, 8, 9}) {  // 9 is empty
    QVERIFY(!mark(row).isValid());
    QVERIFY(!shown.index(row, 0).data(Qt::ToolTipRole).isValid());
  }
  QVERIFY(Find<QLabel>("data.summary")->text().contains(QStringLiteral("1 of them is not empty")));
}

void NotesTest::DialogsListEveryFormat() {
  const QString all = FileActions::DataFilter().section(QStringLiteral(";;"), 0, 0);
  for (const FormatRow& format : FormatTable()) {
    const QStringList endings = FromText(format.endings).split(QLatin1Char(' '), Qt::SkipEmptyParts);
    QVERIFY2(!endings.isEmpty(), format.name.data());
    for (const QString& ending : endings) {
      QVERIFY(all.contains(QLatin1Char('*') + ending));
      QVERIFY(FileActions::DataFilter().count(QLatin1Char('*') + ending + QStringLiteral(".gz")) >= 2);
    }
  }
}

// Buttons with words on them, wherever a page has some; letters are used once (NoUnderlinedLetterIsUsedTwice).
void NotesTest::EveryButtonHasALetter() {
  int buttons = 0;
  for (const auto* button : window().findChildren<QPushButton*>()) {
    if (button->text().isEmpty() || button->window() != &window()) {
      continue;
    }
    ++buttons;
    QVERIFY2(button->text().contains(QLatin1Char('&')), qPrintable(button->text()));
    QVERIFY2(button->shortcut() == QKeySequence::mnemonic(button->text()), qPrintable(button->text()));
  }
  QVERIFY(buttons > 18);
}

}  // namespace

std::unique_ptr<QObject> MakeNotesTest() { return std::make_unique<NotesTest>(); }

}  // namespace lamina::gui

#include "notes_qtest.moc"
