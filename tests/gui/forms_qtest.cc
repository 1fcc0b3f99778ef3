// Forms: the wheel scrolls them, the few fields that most people set stand alone, the network shown is the one trained.
#include <QAbstractSpinBox>
#include <QGroupBox>
#include <QPlainTextEdit>
#include <QRadioButton>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "form_scroll.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings_text.h"
#include "network_picture.h"
#include "setting_field.h"
#include "tests/gui/window_test.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

class FormsTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void TheWheelScrollsAndSetsNothing();
  void TheNetworkShownIsTheOneTrained_data();
  void TheNetworkShownIsTheOneTrained();
  void AKernelMachineIsSaid();
  void APresetIsNamedAsItRuns();
  void BasicShowsFewFields();
  void WhatDiffersIsSeenInBasic();

 private:
  void Turn(QWidget* field, int down) {
    const QPointF at = field->rect().center();
    QWheelEvent event(at, field->mapToGlobal(at), QPoint(), QPoint(0, -120 * down), Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(field, &event);
  }
};

// Over every field of every page, also of those that are made later, and whether or not the field has the focus.
void FormsTest::TheWheelScrollsAndSetsNothing() {
  window().resize(910, 480);
  QVERIFY(Load(Digits()));
  window().ShowPage(Page::kNetwork);
  Click("layers.add");
  window().ShowPage(Page::kSearch);
  Click("search.add");
  QVERIFY(Settled());
  const nlohmann::json before = ToJson(window().document().settings());
  const auto value = [](const QWidget* field) {
    const auto* list = qobject_cast<const QComboBox*>(field);
    return list != nullptr ? list->currentText() : qobject_cast<const QAbstractSpinBox*>(field)->text();
  };
  int fields = 0;
  int scrolled = 0;
  for (int page = 0; page < 6; ++page) {
    window().ShowPage(static_cast<Page>(page));
    QTest::qWait(50);
    for (auto* form : window().findChildren<FormScroll*>()) {
      if (!form->isVisible()) {
        continue;
      }
      QList<QWidget*> all;
      for (auto* each : form->findChildren<QComboBox*>()) {
        all << each;
      }
      for (auto* each : form->findChildren<QAbstractSpinBox*>()) {
        all << each;
      }
      for (QWidget* field : all) {
        QVERIFY2(field->focusPolicy() == Qt::StrongFocus, qPrintable(field->objectName()));
        for (const bool focused : {false, true}) {
          window().setFocus();
          if (focused) {
            field->setFocus();
          }
          const QString was = value(field);
          for (const int down : {1, -1}) {
            form->verticalScrollBar()->setValue(form->verticalScrollBar()->maximum() / 2);
            const int from = form->verticalScrollBar()->value();
            Turn(field, down);
            scrolled += (form->verticalScrollBar()->value() - from) * down > 0 ? 1 : 0;
            QVERIFY2(value(field) == was, qPrintable(field->objectName()));
          }
        }
        ++fields;
      }
    }
  }
  QVERIFY(ToJson(window().document().settings()) == before);
  QVERIFY2(fields > 40, qPrintable(QString::number(fields)));
  QCOMPARE(scrolled, 4 * fields);
}

void FormsTest::TheNetworkShownIsTheOneTrained_data() {
  QTest::addColumn<QString>("task");
  QTest::addColumn<QString>("recipe");
  for (const char* task : {"classification", "regression"}) {
    for (const std::string& recipe : RecipeNames()) {
      QTest::addRow("%s %s", task, recipe.c_str()) << QString::fromLatin1(task) << FromText(recipe);
    }
  }
}

// Rows, picture and preset agree with the plan of the run; an edit of one row changes that row, and no recipe.
void FormsTest::TheNetworkShownIsTheOneTrained() {
  QFETCH(QString, task);
  QFETCH(QString, recipe);
  QByteArray text("a,b,y\n");
  for (int i = 0; i < 13000; ++i) {  // fewer have a kernel machine
    text += QByteArray::number(i * 37 % 101) + ',' + QByteArray::number(i % 13) + ',' +
            (task == QStringLiteral("regression") ? QByteArray::number(i * 0.37) : QByteArray(i % 2 == 0 ? "u" : "v")) +
            '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("shown.csv"), text)));
  if (recipe != QStringLiteral("auto")) {
    Choose("field.recipe", recipe);
  }
  const auto shown = [this] {
    const std::vector<LayerSpec>& layers = window().document().plan()->network.layers;
    const auto& views = window().findChild<NetworkPicture*>()->layers();
    QCOMPARE(views.size(), layers.size() + 1);
    for (size_t i = 0; i + 1 < layers.size(); ++i) {
      const QByteArray row = "layer" + QByteArray::number(i + 1);
      const QString activation = FromText(layers[i].activation.Text());
      QCOMPARE(Find<QLineEdit>((row + ".neurons").constData())->text(), QString::number(layers[i].outputs));
      QCOMPARE(Find<QComboBox>((row + ".activation").constData())->currentText(), activation);
      QCOMPARE(views[i + 1].neurons, QString::number(layers[i].outputs));
      QVERIFY2(views[i + 1].neuron.endsWith(activation), qPrintable(views[i + 1].neuron));
    }
    const auto next = "layer" + QByteArray::number(layers.size()) + ".neurons";
    QVERIFY(window().findChild<QLineEdit*>(QString::fromLatin1(next)) == nullptr);
  };
  QVERIFY(Settled());
  shown();
  const RunPreview before = *window().document().plan();
  window().ShowPage(Page::kNetwork);
  Type("layer1.neurons", QStringLiteral("31"));
  QVERIFY(Settled());
  shown();
  const RunPreview& after = *window().document().plan();
  QCOMPARE(after.recipe, before.recipe);
  QCOMPARE(after.network.layers.size(), before.network.layers.size());
  QCOMPARE(after.network.layers[0].outputs, int64_t{31});
  for (size_t i = 0; i < after.network.layers.size(); ++i) {
    QCOMPARE(after.network.layers[i].activation.Text(), before.network.layers[i].activation.Text());
    QVERIFY(i == 0 || after.network.layers[i].outputs == before.network.layers[i].outputs);
  }
  QCOMPARE(FromText(window().document().settings().recipe), recipe);
  QCOMPARE(window().document().settings().activation, std::string("auto"));
  Type("layer1.neurons", QString::number(before.network.layers[0].outputs));
  QVERIFY2(window().document().settings().hidden.empty(), "as the recipe has it: open again");
}

// A small table has a kernel machine, which the page says; an edited layer is a network's.
void FormsTest::AKernelMachineIsSaid() {
  QByteArray text("a,y\n");
  for (int i = 0; i < 90; ++i) {
    text += QByteArray::number(i * 7 % 31) + ',' + (i % 2 == 0 ? "u" : "v") + '\n';
  }
  QVERIFY(Load(Write(QStringLiteral("small.csv"), text)));
  QVERIFY(Settled());
  window().ShowPage(Page::kNetwork);
  const auto* summary = Find<QLabel>("network.summary");
  QCOMPARE(window().document().plan()->method, std::string("rfm"));
  QVERIFY2(summary->text().contains(QStringLiteral("rfm")), qPrintable(summary->text()));
  QCOMPARE(window().findChild<NetworkPicture*>()->layers().size(),
           window().document().plan()->network.layers.size() + 1);
  const QString neurons = Find<QLineEdit>("layer1.neurons")->text();
  Type("layer1.neurons", QStringLiteral("31"));
  QVERIFY(Settled());
  QCOMPARE(window().document().plan()->network.layers[0].outputs, int64_t{31});
  QVERIFY2(!summary->text().contains(QStringLiteral("rfm")), qPrintable(summary->text()));
  Type("layer1.neurons", neurons);
  QVERIFY(Settled());
  QCOMPARE(window().document().plan()->method, std::string("rfm"));
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  const QString log = Find<QPlainTextEdit>("log")->toPlainText();
  for (const char* said : {"Trained by method rfm in ", "chosen among ", "each row answered by all others"}) {
    QVERIFY2(log.contains(QLatin1String(said)), qPrintable(log));
  }
  window().document().Edit([](TrainSettings& settings) {
    settings.method = "rfm";
    settings.folds = 3;
    settings.bag = true;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY2(Notice().startsWith(QStringLiteral("The networks of 3 folds answer together")), qPrintable(Notice()));
}

void FormsTest::APresetIsNamedAsItRuns() {
  auto* presets = Find<QComboBox>("presets");
  const auto others = presets->count();
  for (const auto& [file, answers] : {std::pair("classes.csv", "u,v"), {"numbers.csv", "0.25,1.5"}}) {
    QByteArray text("a,y\n");
    const QList<QByteArray> values = QByteArray(answers).split(',');
    for (int i = 0; i < 2200; ++i) {
      text += QByteArray::number(i * 7 % 31) + ',' +
              (values[0] == "u" ? values[i % 2] : QByteArray::number(values[i % 2].toDouble() * i)) + '\n';
    }
    QVERIFY(Load(Write(QLatin1String(file), text)));
    QVERIFY(Settled());
    const LayerSpec& layer = window().document().plan()->network.layers.front();
    const QString name = presets->currentText();
    QVERIFY2(name.contains(QString::number(layer.outputs)) && name.endsWith(FromText(layer.activation.Text())),
             qPrintable(name));
    QCOMPARE(presets->currentIndex(), 0);
  }
  window().ShowPage(Page::kNetwork);
  for (int i = 0; i < others; ++i) {  // each is the one that is shown once it is used
    presets->setCurrentIndex(i);
    Click("presets.use");
    QVERIFY(Settled());
    QCOMPARE(presets->currentIndex(), i);
  }
  Type("layer1.neurons", QStringLiteral("77"));
  QVERIFY(Settled());
  QCOMPARE(presets->currentIndex(), -1);
  QVERIFY(!presets->placeholderText().isEmpty());
}

// At most five things to set on a page, whatever is needed among them; the choice comes back at the next start.
void FormsTest::BasicShowsFewFields() {
  QSettings().clear();
  NewWindow();
  QVERIFY2(Find<QRadioButton>("level.basic")->isChecked(), "of a new user");
  for (const bool all : {false, true}) {
    window().ShowPage(Page::kTraining);
    auto* form = window().training().findChild<FormScroll*>();
    form->findChild<QRadioButton*>(all ? QStringLiteral("level.all") : QStringLiteral("level.basic"))->click();
    std::set<std::string> seen;
    for (const Page page : {Page::kData, Page::kNetwork, Page::kTraining, Page::kSearch}) {
      window().ShowPage(page);
      QTest::qWait(20);
      int fields = 0;
      for (auto* scroll : window().findChildren<FormScroll*>()) {
        if (!scroll->isVisible()) {
          continue;
        }
        QCOMPARE(scroll->findChild<QRadioButton*>(QStringLiteral("level.all"))->isChecked(), all);
        for (auto* each : scroll->findChildren<QWidget*>()) {
          const auto* field = qobject_cast<SettingField*>(each);
          const QString name = each->objectName();
          const bool other = each->property("settings").isValid() || name == QStringLiteral("presets") ||
                             name == QStringLiteral("search.values") ||
                             (name.startsWith(QStringLiteral("search.")) && each->inherits("QLineEdit")) ||
                             name == QStringLiteral("search.metric");
          if (each->isVisible() && (field != nullptr || other)) {
            ++fields;
            if (field != nullptr) {
              seen.insert(field->name());
              QVERIFY(all || field->is_basic());
            }
          }
        }
        for (auto* box : scroll->findChildren<QGroupBox*>()) {  // no title over nothing
          if (box->isVisible()) {
            const QList<QWidget*> inside = box->findChildren<QWidget*>();
            QVERIFY2(std::any_of(inside.begin(), inside.end(), [](QWidget* each) { return each->isVisible(); }),
                     qPrintable(box->title()));
          }
        }
      }
      QVERIFY2(all ? fields > 5 : fields >= 2 && fields <= 5, qPrintable(QString::number(fields)));
    }
    for (const char* name : {"task", "folds", "recipe", "learning-rate", "epochs"}) {
      QVERIFY2(seen.contains(name), name);
    }
    QVERIFY(all == seen.contains("momentum"));
    NewWindow();
    QCOMPARE(window().document().shows_all(), all);
  }
}

// Every field that is not basic comes into view with another value, or with a wrong one, and goes with its default.
void FormsTest::WhatDiffersIsSeenInBasic() {
  window().document().ShowAll(false);
  int looked_at = 0;
  for (auto* field : window().findChildren<SettingField*>()) {
    const std::string& name = field->name();
    QCOMPARE(field->isHidden(), !field->is_basic());
    const QString was = FromText(SettingText(window().document().settings(), name));
    const std::vector<std::string> choices = SettingChoices(name);
    const QString other = was == QStringLiteral("yes")  ? QStringLiteral("no")
                          : was == QStringLiteral("no") ? QStringLiteral("yes")
                          : choices.empty()
                              ? QStringLiteral("7")
                              : FromText(choices.back() == was.toStdString() ? choices.front() : choices.back());
    window().document().SetText(name, other);
    QVERIFY2(!field->isHidden(), name.c_str());
    window().document().Reset({name});
    QCOMPARE(field->isHidden(), !field->is_basic());
    ++looked_at;
  }
  QVERIFY(looked_at > 60);
  window().ShowPage(Page::kTraining);
  window().document().SetText("dropout", QStringLiteral("0.5"));
  auto* dropout = Find<QLineEdit>("field.dropout");
  QVERIFY(dropout->isVisible());
  Type("field.dropout", QString::number(TrainSettings().dropout));
  QVERIFY2(dropout->isVisible(), "it is being typed");
}

}  // namespace

std::unique_ptr<QObject> MakeFormsTest() { return std::make_unique<FormsTest>(); }

}  // namespace lamina::gui

#include "forms_qtest.moc"
