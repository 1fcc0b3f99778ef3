// Random clicks and keys, seeded and bounded: LAMINA_MONKEY_EVENTS (4000) from seed LAMINA_MONKEY_SEED (1).
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QFileDialog>
#include <QMessageBox>
#include <random>

#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

class MonkeyTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void SurvivesRandomInput();

 private:
  QWidget* RandomWidget();
  void Act();
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::mt19937 random_;
};

// Visible and in use; nothing that opens a dialog of the system, leaves the program or starts a long read.
QWidget* MonkeyTest::RandomWidget() {
  QList<QWidget*> widgets;
  for (auto* widget : window().findChildren<QWidget*>()) {
    const auto* button = qobject_cast<QAbstractButton*>(widget);
    const bool asks = button != nullptr && button->text().contains(QChar(0x2026));
    if (widget->isVisible() && widget->isEnabled() && !asks && widget->focusPolicy() != Qt::NoFocus) {
      widgets << widget;
    }
  }
  return widgets.isEmpty() ? nullptr : widgets[Below(static_cast<int>(widgets.size()))];
}

void MonkeyTest::Act() {
  if (Below(12) == 0) {
    window().ShowPage(static_cast<Page>(Below(6)));
  }
  QWidget* widget = RandomWidget();
  if (widget == nullptr) {
    return;
  }
  static constexpr const char* kTexts[] = {"0",   "1", "-1",  "12", "1e999",        "nan",
                                           "abc", "",  "0.5", ",",  "999999999999", "[]"};
  static constexpr Qt::Key kKeys[] = {Qt::Key_Tab,   Qt::Key_Backspace, Qt::Key_Delete,   Qt::Key_Up,
                                      Qt::Key_Down,  Qt::Key_Left,      Qt::Key_Right,    Qt::Key_Return,
                                      Qt::Key_Space, Qt::Key_Escape,    Qt::Key_PageDown, Qt::Key_Home};
  auto* target = widget;
  if (auto* area = qobject_cast<QAbstractScrollArea*>(widget)) {
    target = area->viewport();
  }
  const QPoint at(Below(std::max(1, target->width())), Below(std::max(1, target->height())));
  switch (Below(5)) {
    case 0: QTest::mouseClick(target, Qt::LeftButton, {}, at); break;
    case 1: QTest::mouseDClick(target, Qt::LeftButton, {}, at); break;
    case 2: QTest::keyClick(widget, kKeys[Below(std::size(kKeys))]); break;
    case 3:
      widget->setFocus();
      QTest::keyClicks(widget, QString::fromUtf8(kTexts[Below(std::size(kTexts))]));
      break;
    default: QTest::mouseClick(target, Below(4) == 0 ? Qt::RightButton : Qt::LeftButton); break;
  }
  while (QWidget* popup = QApplication::activePopupWidget()) {
    QTest::keyClick(popup, Below(2) == 0 ? Qt::Key_Return : Qt::Key_Escape);
    if (QApplication::activePopupWidget() == popup) {
      popup->close();
    }
  }
  if (QWidget* dialog = QApplication::activeModalWidget()) {
    dialog->close();
  }
}

void MonkeyTest::SurvivesRandomInput() {
  bool given = false;
  const int events = qEnvironmentVariableIntValue("LAMINA_MONKEY_EVENTS", &given);
  const int count = given ? events : 4000;
  random_.seed(static_cast<unsigned>(std::max(1, qEnvironmentVariableIntValue("LAMINA_MONKEY_SEED"))));
  QVERIFY(Load(Digits()));
  SmallRun(30);
  int runs = 0;
  connect(&window().worker(), &TrainWorker::StateChanged, this, [&] { ++runs; });
  QElapsedTimer timer;
  timer.start();
  for (int i = 0; i < count; ++i) {
    Act();
    QCoreApplication::processEvents();
    if (i % 200 == 199) {  // what was typed must not keep the rest from being reached
      window().worker().Stop();
      QVERIFY(Trained());
      window().document().Replace([](TrainSettings& settings) {
        const std::string data = settings.data;
        settings = TrainSettings();
        settings.data = data;
      });
      SmallRun(30);
      QVERIFY(Settled());
      if (Start()->isEnabled()) {
        QTest::mouseClick(Start(), Qt::LeftButton);
      }
    }
  }
  qInfo("%d events in %lld ms, %d changes of state", count, timer.elapsed(), runs);
  QVERIFY(window().isVisible());
  window().worker().Stop();
  QVERIFY(Trained());
  QVERIFY(runs > 0);
}

}  // namespace

std::unique_ptr<QObject> MakeMonkeyTest() { return std::make_unique<MonkeyTest>(); }

}  // namespace lamina::gui

#include "monkey_qtest.moc"
