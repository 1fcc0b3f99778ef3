// What the window shows: whole at every size, numbers and pictures that can be read, lists instead of typing.
#include <QAbstractScrollArea>
#include <QChartView>
#include <QCheckBox>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QTableWidget>
#include <QTextBrowser>
#include <QValueAxis>

#include "chart_axes.h"
#include "curves_view.h"
#include "draw_pad.h"
#include "model_page.h"
#include "predict_panel.h"
#include "prediction.h"
#include "search_form.h"
#include "search_page.h"
#include "tests/gui/window_test.h"
#include "theme.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

class ShownTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void NothingIsCut_data();
  void NothingIsCut();
  void EpochsAreWholeAndPointsInside();
  void ColumnsAreChosenFromLists();
  void WrongAnswersAreFoundWithTheirInputs();
  void InputsFarFromTheTrainingAreNoted();
  void PicturesAreShownAndDrawn();
  void PoorResultsAreNoSuccess();
  void ASearchFindsAndUsesTheBest();
  void WeightsAndDerivedColumnsAreUsed();
  void TheManualIsThere();
  void ThemesAreKept();
};

void ShownTest::NothingIsCut_data() {
  QTest::addColumn<QSize>("size");
  QTest::addRow("1366x768 at 150 %%") << QSize(910, 480);
  QTest::addRow("1024x640") << QSize(1024, 640);
  QTest::addRow("1280x800") << QSize(1280, 800);
}

// Every control is wide enough for its text, and lies inside the page or of a part of it that scrolls.
void ShownTest::NothingIsCut() {
  QFETCH(QSize, size);
  window().resize(size);
  QVERIFY(Load(Digits()));
  QVERIFY(Settled());
  window().document().Edit([](TrainSettings& settings) { settings.hidden = {1024, 256, 64}; });
  QVERIFY(Settled());
  QTest::qWait(50);
  QCOMPARE(window().size(), size);
  auto* pages = Find<QStackedWidget>("pages");
  int looked_at = 0;
  for (int page = 0; page < pages->count(); ++page) {
    window().ShowPage(static_cast<Page>(page));
    QTest::qWait(20);
    for (auto* widget : window().findChildren<QWidget*>()) {
      const auto* label = qobject_cast<QLabel*>(widget);
      const bool control =
          qobject_cast<QAbstractButton*>(widget) != nullptr || qobject_cast<QComboBox*>(widget) != nullptr ||
          qobject_cast<QAbstractSpinBox*>(widget) != nullptr || (label != nullptr && !label->wordWrap());
      if (!control || !widget->isVisible() || widget->objectName().startsWith(QStringLiteral("qt_")) ||
          qobject_cast<QLineEdit*>(widget->parentWidget()) != nullptr) {
        continue;
      }
      ++looked_at;
      const QByteArray name = widget->objectName().toUtf8() + ' ' + widget->metaObject()->className() + " on page " +
                              QByteArray::number(page + 1);
      QVERIFY2(widget->width() >= widget->minimumSizeHint().width(), name.constData());
      const QWidget* scrolls = widget->parentWidget();
      while (scrolls != nullptr && qobject_cast<const QAbstractScrollArea*>(scrolls) == nullptr) {
        scrolls = scrolls->parentWidget();
      }
      if (scrolls == nullptr) {
        QVERIFY2(window().rect().contains(QRect(widget->mapTo(&window(), QPoint(0, 0)), widget->size())),
                 name.constData());
      }
    }
  }
  QVERIFY(looked_at > 100);
}

void ShownTest::EpochsAreWholeAndPointsInside() {
  const auto* chart = window().training().curves().findChild<QChartView*>()->chart();
  QVERIFY2(!chart->axes(Qt::Horizontal).front()->isVisible(), "there is nothing to measure yet");
  for (const int count : {1, 2, 3, 7, 40}) {
    History history;
    for (int i = 1; i <= count; ++i) {
      history.epochs.push_back({.epoch = i, .train_loss = 1.0 / i, .validation_loss = 1.1 / i});
    }
    history.best_epoch = count;
    window().training().curves().Set(history);
    const auto* axis = qobject_cast<QValueAxis*>(chart->axes(Qt::Horizontal).front());
    QVERIFY(axis != nullptr);
    QCOMPARE(axis->tickInterval(), std::round(axis->tickInterval()));
    QVERIFY(axis->tickInterval() >= 1);
    QVERIFY(axis->min() > 0 && axis->min() < 1 && axis->max() > count);
  }
}

void ShownTest::ColumnsAreChosenFromLists() {
  QVERIFY(
      Load(Write(QStringLiteral("t.csv"), "when,size,kind,y\n1,2,u,3\n2,3,v,4\n3,1,u,5\n4,6,v,6\n5,9,u,1\n6,2,v,2\n")));
  auto* list = Find<QComboBox>("field.split-by");
  QStringList names;
  for (int i = 0; i < list->count(); ++i) {
    names << list->itemText(i);
  }
  QCOMPARE(names, (QStringList{QString(), QStringLiteral("when"), QStringLiteral("size"), QStringLiteral("kind"),
                               QStringLiteral("y")}));
  list->setCurrentIndex(1);
  QCOMPARE(window().document().settings().split_by, std::string("when"));
  window().document().Undo();
  QVERIFY(list->currentText().isEmpty());

  bool offered = false;  // by a menu that Alt+Down opens
  QTimer::singleShot(0, this, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu == nullptr) {
      return;
    }
    offered = menu->actions().size() == 4;
    menu->setActiveAction(menu->actions()[1]);
    QTest::keyClick(menu, Qt::Key_Return);
  });
  auto* line = Find<QLineEdit>("field.text-columns");
  line->actions().front()->trigger();
  QVERIFY(offered);
  QCOMPARE(window().document().settings().text_columns, std::vector<std::string>{"size"});
}

void ShownTest::WrongAnswersAreFoundWithTheirInputs() {
  QByteArray text("a,b,y\n");
  for (int i = 0; i < 300; ++i) {
    text += QByteArray::number(i % 10) + ',' + QByteArray::number(i % 7) + ',' + (i % 10 < 5 ? "low" : "high") + '\n';
  }
  const QString path = Write(QStringLiteral("levels.csv"), text);
  QVERIFY(Load(path));
  window().document().Edit([](TrainSettings& settings) {
    settings.epochs = 1;
    settings.hidden = {0};
    settings.learning_rate = 1e-6;  // so that some are wrong
    settings.threads = 1;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(path);
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  const QAbstractItemModel& shown = *Find<QTableView>("predict.table")->model();
  QCOMPARE(shown.rowCount(), 300);
  QCOMPARE(shown.headerData(1, Qt::Horizontal).toString(), QStringLiteral("probability"));
  const QString said = Find<QLabel>("predict.summary")->text();
  QVERIFY2(said.contains(QStringLiteral("was trained on rows of")), qPrintable(said));
  Find<QCheckBox>("predict.wrong")->setChecked(true);
  const Evaluation& evaluation = *panel.prediction()->answers.evaluation;
  QCOMPARE(shown.rowCount(), qRound(300 * (1 - evaluation.classification->accuracy)));
  QVERIFY(shown.rowCount() > 0);
  for (int row = 0; row < shown.rowCount(); ++row) {
    QVERIFY(shown.index(row, 0).data().toString() != shown.index(row, 2).data().toString());
    const int line = shown.headerData(row, Qt::Vertical).toInt() - 1;  // of the file
    QCOMPARE(shown.index(row, 3).data().toString(), QString::number(line % 10));
    QCOMPARE(shown.index(row, 4).data().toString(), QString::number(line % 7));
  }
}

void ShownTest::InputsFarFromTheTrainingAreNoted() {
  QByteArray text("height,y\n");
  for (int i = 0; i < 100; ++i) {
    text += QByteArray::number(150 + i % 40) + ',' + (i % 40 < 20 ? "short" : "tall") + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("people.csv"), text)));
  window().document().Edit([](TrainSettings& settings) {
    settings.epochs = 1;
    settings.threads = 1;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  window().ShowPage(Page::kModel);
  auto* values = Find<QTableWidget>("typed.values");
  const auto* note = Find<QLabel>("typed.problem");
  const auto* answer = Find<QLabel>("typed.answer");
  values->item(0, 1)->setText(QStringLiteral("175"));
  QVERIFY(QTest::qWaitFor([&] { return !answer->text().isEmpty(); }, kPatience_ms));
  QVERIFY2(note->text().isEmpty(), qPrintable(note->text()));
  values->item(0, 1)->setText(QStringLiteral("51000"));
  QVERIFY(QTest::qWaitFor([&] { return note->text().contains(QStringLiteral("51,000")); }, kPatience_ms));
  QVERIFY(!answer->text().isEmpty());
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(Write(QStringLiteral("giants.csv"), "height\n160\n51000\n170\n"));
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  const QString summary = Find<QLabel>("predict.summary")->text();
  QVERIFY2(summary.contains(QStringLiteral("1 row far")) && summary.contains(QStringLiteral("row 2")),
           qPrintable(summary));
  panel.Predict(Write(QStringLiteral("odd.csv"), "height\n160\ntall\n170\n"));
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction()->path.endsWith(QStringLiteral("odd.csv")); }, kPatience_ms));
  const QString odd = Find<QLabel>("predict.summary")->text();
  QVERIFY2(odd.contains(QStringLiteral("1 cell among numbers read as missing, like 'tall'")), qPrintable(odd));
  QVERIFY2(odd.contains(QStringLiteral("1 missing value filled in")), qPrintable(odd));
}

void ShownTest::PicturesAreShownAndDrawn() {
  QVERIFY(Load(Digits()));
  auto* pictures = Find<QListWidget>("preview.pictures");
  QVERIFY(pictures->count() > 50);
  QCOMPARE(pictures->item(3)->text(), QStringLiteral("3"));
  QCOMPARE(Find<QTabWidget>("samples")->count(), 2);
  SmallRun(20);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  window().ShowPage(Page::kModel);
  Find<QTabWidget>("model.tabs")->setCurrentIndex(1);
  auto* pad = Find<DrawPad>("draw.pad");
  QVERIFY(pad->isVisible());
  const auto* values = Find<QTableWidget>("typed.values");
  QCOMPARE(values->item(27, 1)->text(), QStringLiteral("0"));
  const QPoint middle = pad->rect().center();
  QTest::mousePress(pad, Qt::LeftButton, {}, middle - QPoint(0, 30));
  QTest::mouseMove(pad, middle + QPoint(0, 30));
  QTest::mouseRelease(pad, Qt::LeftButton, {}, middle + QPoint(0, 30));
  int inked = 0;
  for (int i = 0; i < values->rowCount(); ++i) {
    inked += values->item(i, 1)->text().toDouble() > 0 ? 1 : 0;
  }
  QVERIFY(inked > 0 && inked < 64);
  QVERIFY(QTest::qWaitFor([this] { return !Find<QLabel>("typed.answer")->text().isEmpty(); }, kPatience_ms));
  QTest::keyClick(pad, Qt::Key_Delete);
  QCOMPARE(values->item(27, 1)->text(), QStringLiteral("0"));
  Click("typed.take");  // a row of the data is its picture
  QVERIFY(pad->picture().pixelColor(3, 0).value() > 0);
  QVERIFY(Load(Write(QStringLiteral("t.csv"), "x,y\n1,2\n2,3\n3,1\n4,6\n")));
  QCOMPARE(Find<QTabWidget>("samples")->count(), 1);
}

// No better than always the same answer: said, and not in green.
void ShownTest::PoorResultsAreNoSuccess() {
  QByteArray text("a,y\n");
  for (int i = 0; i < 300; ++i) {
    text += QByteArray::number(i * 7919 % 300) + ',' + (i * 31 % 10 < 9 ? "no" : "yes") + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("noise.csv"), text)));
  window().document().Edit([](TrainSettings& settings) {
    settings.epochs = 2;
    settings.threads = 1;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY2(Notice().contains(QStringLiteral("No better than always")), qPrintable(Notice()));
  QVERIFY(!window().notice().is_success());
  QVERIFY(Find<QLabel>("results.summary")->text().contains(QStringLiteral("No better than always")));
}

void ShownTest::ASearchFindsAndUsesTheBest() {
  QVERIFY(Load(Digits()));
  SmallRun(3);
  window().document().Edit([](TrainSettings& settings) {
    settings.epochs = 4;
    settings.recipe = "plain";
  });
  QVERIFY(Settled());
  window().ShowPage(Page::kSearch);
  const auto values = window().findChildren<QLineEdit*>(QStringLiteral("search.values"));
  QCOMPARE(values.size(), 2);
  values[0]->setText(QStringLiteral("fast"));
  Q_EMIT values[0]->textEdited(values[0]->text());
  QVERIFY(!Find<QPushButton>("search.start")->isEnabled());
  QVERIFY(!Find<QLabel>("search.problem")->text().isEmpty());
  values[0]->setText(QStringLiteral("0.0001,0.01"));
  Q_EMIT values[0]->textEdited(values[0]->text());
  values[1]->setText(QStringLiteral("8|16"));
  Q_EMIT values[1]->textEdited(values[1]->text());
  Click("search.start");
  SearchWorker& worker = window().search().worker();
  QVERIFY(worker.active());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY2(Notice().contains(QStringLiteral("search")), "one at a time");
  QVERIFY(QTest::qWaitFor([&] { return !worker.active(); }, kPatience_ms));
  const QAbstractItemModel& trials = *Find<QTableView>("search.trials")->model();
  QCOMPARE(trials.rowCount(), 5);
  QCOMPARE(trials.headerData(0, Qt::Horizontal).toString(), QStringLiteral("Learning rate"));
  const auto accuracy = [&](int row) {
    return trials.index(row, 4).data().toString().section(QLatin1Char(' '), 0, 0).toDouble();
  };
  QVERIFY(accuracy(0) >= accuracy(1));
  QCOMPARE(trials.index(0, 0).data().toString(), QStringLiteral("0.01"));
  Click("search.use");
  QCOMPARE(window().document().settings().learning_rate, std::optional(0.01));
  QVERIFY(window().document().can_undo());
  QVERIFY(Settled());
  Click("search.train");
  QVERIFY(QTest::qWaitFor([this] { return window().store().model() != nullptr; }, kPatience_ms));
}

void ShownTest::WeightsAndDerivedColumnsAreUsed() {
  QByteArray text("day,symbol,close,kind\n");
  for (int i = 0; i < 60; ++i) {
    text += QByteArray::number(i) + (i % 2 == 0 ? ",A," : ",B,") + QByteArray::number(10 + i % 9) +
            (i % 6 == 0 ? ",rare\n" : ",common\n");
  }
  QVERIFY(Load(Write(QStringLiteral("days.csv"), text)));
  QCOMPARE(Find<QTableView>("columns")->model()->rowCount(), 4);
  window().document().Edit([](TrainSettings& settings) { settings.target = {"kind"}; });
  Type("field.derive", QStringLiteral("size=log:close"));
  QVERIFY2(
      QTest::qWaitFor([this] { return window().document().data()->raw.main.train.columns.size() == 5; }, kPatience_ms),
      qPrintable(window().document().StartBlocker() + Notice()));
  QCOMPARE(Find<QTableView>("columns")->model()->index(4, 0).data().toString(), QStringLiteral("size"));
  Type("field.class-weights", QStringLiteral("balanced"));
  QVERIFY(Settled());
  QVERIFY2(Start()->isEnabled(), qPrintable(window().document().StartBlocker()));
  QCOMPARE(window().document().settings().class_weights, std::vector<std::string>{"balanced"});
  Type("field.cost-matrix", Write(QStringLiteral("costs.csv"), "true,common,rare\ncommon,0,1\nrare,5,0\n"));
  SmallRun(2);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY2(Find<QLabel>("results.summary")->text().contains(QStringLiteral("cost of a row")), qPrintable(Notice()));
}

void ShownTest::TheManualIsThere() {
  const auto trigger = [this](const QString& menu, int index) {
    for (const QAction* each : window().menuBar()->actions()) {
      if (each->text().contains(menu)) {
        each->menu()->actions()[index]->trigger();
      }
    }
  };
  trigger(QStringLiteral("Help"), 0);
  auto* text = Find<QTextBrowser>("manual.text");
  QVERIFY2(Notice().isEmpty(), qPrintable(Notice()));
  QVERIFY(text->toPlainText().contains(QStringLiteral("trains a model on a table or on images")));
  QVERIFY(text->isVisible());
  trigger(QStringLiteral("Help"), 2);
  QVERIFY(text->toPlainText().contains(QStringLiteral("Ctrl+Shift+S")));
}

void ShownTest::ThemesAreKept() {
  const QPalette before = QApplication::palette();
  SetTheme(Theme::kDark);
  QVERIFY(QApplication::palette().color(QPalette::Window).lightness() < 100);
  QVERIFY(QApplication::palette().color(QPalette::WindowText).lightness() > 150);
  QCOMPARE(StoredTheme(), Theme::kDark);
  SetTheme(Theme::kLight);
  QVERIFY(QApplication::palette().color(QPalette::Window).lightness() > 200);
  SetTheme(Theme::kSystem);
  QCOMPARE(QApplication::palette().color(QPalette::Window), before.color(QPalette::Window));
}

}  // namespace

std::unique_ptr<QObject> MakeShownTest() { return std::make_unique<ShownTest>(); }

}  // namespace lamina::gui

#include "shown_qtest.moc"
