// Fields: every wrong one says so beside it and keeps the run from starting; all can be reached and have names.
#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QMenuBar>
#include <QStackedWidget>
#include <QTableView>
#include <map>
#include <set>

#include "lamina/settings/settings_text.h"
#include "split_editor.h"
#include "table_models.h"
#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

class SettingsTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void EveryWrongFieldSaysSo_data();
  void EveryWrongFieldSaysSo();
  void FieldsWithoutEffectAreOutOfUse();
  void NothingCanStartWithoutData();
  void SplitFieldsAreLinked();
  void ColumnsAreUsedAsChosen();
  void PresetsFillTheForm();
  void LayersAreEdited();
  void EveryEditorHasANameAndCanBeReached();
  void NoUnderlinedLetterIsUsedTwice();
  void BackendsAreListedWithReasons();
  void OnlyTheMachinesSettingsComeBack();
};

void SettingsTest::EveryWrongFieldSaysSo_data() {
  QTest::addColumn<QString>("wrong");
  QTest::addColumn<QString>("right");
  const char* const rows[][3] = {{"learning-rate", "-1", "0.1"},
                                 {"learning-rate", "fast", ""},
                                 {"learning-rate", "nan", "1e-3"},
                                 {"momentum", "1", "0.9"},
                                 {"momentum", "", "0"},
                                 {"weight-decay", "-0.1", "0"},
                                 {"batch", "0", "32"},
                                 {"batch", "1.5", "16"},
                                 {"epochs", "0", "2"},
                                 {"epochs", "99999999999999999999", "3"},
                                 {"patience", "-1", "0"},
                                 {"min-improvement", "x", "0"},
                                 {"schedule-factor", "0", "0.5"},
                                 {"schedule-epochs", "0", "5"},
                                 {"schedule-patience", "0", "5"},
                                 {"threads", "-1", "1"},
                                 {"threads", "5000", "0"},
                                 {"seed", "-1", "7"},
                                 {"samples", "-1", "0"},
                                 {"samples", "many", "500"},
                                 {"gain", "0", "1"},
                                 {"threshold", "inf", "0"}};
  for (const auto& [name, wrong, right] : rows) {
    QTest::addRow("%s '%s'", name, wrong) << QString::fromLatin1(wrong) << QString::fromLatin1(right);
  }
}

void SettingsTest::EveryWrongFieldSaysSo() {
  const QByteArray name = QByteArray(QTest::currentDataTag()).split(' ').front();
  QFETCH(QString, wrong);
  QFETCH(QString, right);
  QVERIFY(Load(Write(QStringLiteral("t.csv"), "x,y\n1,2\n2,3\n3,1\n4,6\n5,9\n6,2\n7,1\n")));
  window().document().Edit([](TrainSettings& settings) {  // so that every field is in use
    settings.optimizer = "sgd";
    settings.activation = "bipolar_sigmoid";
    settings.schedule = "step";
  });
  QVERIFY(Settled());
  QVERIFY(Start()->isEnabled());
  const QByteArray field = "field." + name;
  const auto* problem = Find<QLabel>(("problem." + name).constData());
  QVERIFY(problem->isHidden());
  if (!Find<QLineEdit>(field.constData())->isEnabled()) {
    window().document().Edit([](TrainSettings& settings) { settings.schedule = "plateau"; });
  }
  Type(field.constData(), wrong);
  QVERIFY2(!problem->isHidden() && !problem->text().isEmpty(), qPrintable(Find<QLineEdit>(field.constData())->text()));
  QVERIFY(!Start()->isEnabled());
  QVERIFY(!Find<QLabel>("run.text")->text().isEmpty());
  QVERIFY(Start()->toolTip().contains(problem->text()));
  Type(field.constData(), right);
  QVERIFY2(problem->isHidden(), qPrintable(problem->text()));
  QVERIFY(Settled());
  QVERIFY2(Start()->isEnabled(), qPrintable(window().document().StartBlocker()));
}

void SettingsTest::FieldsWithoutEffectAreOutOfUse() {
  int in_use = 0;
  int out_of_use = 0;
  for (const char* schedule : {"constant", "step", "cosine", "plateau"}) {
    for (const char* task : {"auto", "classification", "regression"}) {
      window().document().Edit([&](TrainSettings& settings) {
        settings.schedule = schedule;
        settings.task = task;
        settings.optimizer = settings.optimizer == "sgd" ? "adam" : "sgd";
      });
      for (const auto& row : SettingRows<TrainSettings>()) {
        const auto* field = window().findChild<QWidget*>(QStringLiteral("field.") + FromText(row.name));
        if (field != nullptr && row.effect != nullptr) {
          const bool effect = row.HasEffect(window().document().settings());
          QVERIFY2(field->isEnabledTo(field->parentWidget()) == effect, row.help.c_str());
          QVERIFY(!field->toolTip().isEmpty());
          ++(effect ? in_use : out_of_use);
        }
      }
    }
  }
  QVERIFY(in_use > 20 && out_of_use > 20);
}

void SettingsTest::NothingCanStartWithoutData() {
  QVERIFY(!Start()->isEnabled());
  QVERIFY(Start()->toolTip().contains(QStringLiteral("data")));
}

void SettingsTest::SplitFieldsAreLinked() {
  auto* train = Find<QDoubleSpinBox>("split.0");
  auto* validation = Find<QDoubleSpinBox>("split.1");
  auto* test = Find<QDoubleSpinBox>("split.2");
  QCOMPARE(train->value() + validation->value() + test->value(), 1.0);
  QVERIFY(Load(Digits()));
  for (const auto& [box, value] :
       {std::pair(validation, 0.1), {test, 0.35}, {train, 0.9}, {validation, 0.0}, {test, 0.999}}) {
    box->setFocus();
    box->selectAll();
    QTest::keyClicks(box, QString::number(value));
    QTest::keyClick(box, Qt::Key_Return);
    QCOMPARE(box->value(), value);
    const std::vector<double>& split = window().document().settings().split;
    QCOMPARE(split.size(), size_t{3});
    QCOMPARE(qRound(1000 * (train->value() + validation->value() + test->value())), 1000);
    QCOMPARE(split[0], train->value());
    QVERIFY(window().document().ProblemOf("split").isEmpty());
  }
}

void SettingsTest::ColumnsAreUsedAsChosen() {
  QVERIFY(Load(
      Write(QStringLiteral("t.csv"), "id,\"a, b\",x,kind\n1,2,3,u\n2,,4,v\n3,4,5,u\n4,9,6,v\n5,1,2,u\n6,2,8,v\n")));
  auto* view = Find<QTableView>("columns");
  const auto cell = [&](int row, int column) { return view->model()->index(row, column).data().toString(); };
  QCOMPARE(view->model()->rowCount(), 4);
  QCOMPARE(cell(1, 0), QStringLiteral("a, b"));
  QCOMPARE(cell(1, 2), QStringLiteral("1"));
  QCOMPARE(cell(2, 3), QStringLiteral("2 to 8"));
  QCOMPARE(cell(3, 1), QStringLiteral("text"));
  QCOMPARE(cell(3, 4), QStringLiteral("target"));
  Choose("field.missing", QStringLiteral("error"));
  QVERIFY(Settled());
  QVERIFY(!Start()->isEnabled());  // a value is missing
  QVERIFY(window().document().StartBlocker().contains(QStringLiteral("line 3")));
  view->selectRow(1);
  Click("columns.use2");
  QCOMPARE(cell(1, 4), QStringLiteral("dropped"));
  QCOMPARE(window().document().settings().drop, std::vector<std::string>{"1"});  // its name has a comma
  QVERIFY(Settled());
  QVERIFY2(Start()->isEnabled(), qPrintable(window().document().StartBlocker()));
  view->selectRow(2);
  Click("columns.use1");
  QCOMPARE(cell(2, 4), QStringLiteral("target"));
  QCOMPARE(cell(3, 4), QStringLiteral("input"));
  QCOMPARE(window().document().settings().target, std::vector<std::string>{"x"});
  Click("columns.use2");  // the only target cannot be dropped
  QCOMPARE(cell(2, 4), QStringLiteral("target"));
}

void SettingsTest::PresetsFillTheForm() {
  auto* list = Find<QComboBox>("presets");
  list->setCurrentIndex(list->count() - 1);
  window().ShowPage(Page::kNetwork);
  Click("presets.use");
  const TrainSettings& settings = window().document().settings();
  QCOMPARE(settings.activation, std::string("bipolar_sigmoid"));
  QCOMPARE(Find<QLineEdit>("field.gain")->text(), QStringLiteral("1"));
  QVERIFY(Find<QLineEdit>("field.gain")->isEnabled());
  QCOMPARE(Find<QLineEdit>("field.momentum")->text(), QString::number(settings.momentum));
  QCOMPARE(Find<QLineEdit>("layer1.neurons")->text(), QStringLiteral("10"));
}

void SettingsTest::LayersAreEdited() {
  QVERIFY(Load(Digits()));
  window().ShowPage(Page::kNetwork);
  Type("layer1.neurons", QStringLiteral("20"));
  QCOMPARE(window().document().settings().hidden, (std::vector<int64_t>{20, 256, 256}));
  QCOMPARE(window().document().settings().recipe, std::string("auto"));  // as it was
  window().document().Edit([](TrainSettings& settings) {
    settings.hidden.clear();
    settings.activation = "auto";
    settings.recipe = "plain";
  });
  Type("layer1.neurons", QStringLiteral("24"));
  QCOMPARE(window().document().settings().hidden, std::vector<int64_t>{24});
  Click("layers.add");
  Choose("layer2.synapse", QStringLiteral("l1"));
  Choose("layer2.activation", QStringLiteral("triangle(radius=3)"));
  QCOMPARE(window().document().settings().layers, std::string("dot-relu:24,l1-triangle(radius=3):24,auto"));
  QVERIFY(Settled());
  QVERIFY2(Start()->isEnabled(), qPrintable(window().document().StartBlocker()));
  QCOMPARE(window().document().plan()->network.layers.size(), size_t{3});
  Type("layer2.neurons", QStringLiteral("0"));
  QVERIFY(!Start()->isEnabled());
  int shown = 0;
  for (const auto* problem : window().findChildren<QLabel*>(QStringLiteral("problem.layer"))) {
    shown += problem->isHidden() ? 0 : 1;
  }
  QCOMPARE(shown, 1);
  Type("layer2.neurons", QStringLiteral("5"));
  QVERIFY(Settled());
  QVERIFY(Start()->isEnabled());
}

void SettingsTest::EveryEditorHasANameAndCanBeReached() {
  QVERIFY(Load(Digits()));
  for (int page = 0; page < 6; ++page) {
    window().ShowPage(static_cast<Page>(page));
    QTest::qWait(20);
    std::set<QWidget*> reached;
    for (QWidget* at = window().nextInFocusChain(); reached.insert(at).second; at = at->nextInFocusChain()) {
    }
    for (auto* widget : window().findChildren<QWidget*>()) {
      const bool editor = qobject_cast<QLineEdit*>(widget) != nullptr || qobject_cast<QComboBox*>(widget) != nullptr ||
                          qobject_cast<QAbstractButton*>(widget) != nullptr ||
                          qobject_cast<QAbstractSpinBox*>(widget) != nullptr ||
                          qobject_cast<QTableView*>(widget) != nullptr;
      if (!editor || !widget->isVisible() || !widget->isEnabled() ||
          widget->objectName().startsWith(QStringLiteral("qt_"))) {
        continue;
      }
      if ((widget->focusPolicy() & Qt::TabFocus) == 0 || qobject_cast<QComboBox*>(widget->parentWidget()) != nullptr) {
        continue;
      }
      QVERIFY2(reached.contains(widget), qPrintable(widget->objectName()));
      const auto* button = qobject_cast<QAbstractButton*>(widget);
      QVERIFY2(!widget->accessibleName().isEmpty() || (button != nullptr && !button->text().isEmpty()),
               qPrintable(widget->objectName() + QStringLiteral(" ") +
                          QString::fromLatin1(widget->metaObject()->className())));
    }
  }
}

// Alt and a letter that two widgets of a page share only moves the focus about.
void SettingsTest::NoUnderlinedLetterIsUsedTwice() {
  const auto letter = [](const QString& text) {
    const qsizetype at = text.indexOf(QLatin1Char('&'));
    return at < 0 || at + 1 >= text.size() ? QChar() : text[at + 1].toUpper();
  };
  const auto collect = [&](const QWidget& root, std::map<QChar, QString>& letters) {
    const auto add = [&](const QString& text) {
      const QChar used = letter(text);
      if (!used.isNull()) {
        const auto [other, added] = letters.emplace(used, text);
        QVERIFY2(added, qPrintable(QStringLiteral("%1 and %2").arg(other->second, text)));
      }
    };
    for (const QAbstractButton* button : root.findChildren<QAbstractButton*>()) {
      add(button->text());
    }
    for (const QLabel* label : root.findChildren<QLabel*>()) {
      if (label->buddy() != nullptr) {
        add(label->text());
      }
    }
  };
  std::map<QChar, QString> everywhere;
  for (const QAction* menu : window().menuBar()->actions()) {
    everywhere.emplace(letter(menu->text()), menu->text());
  }
  collect(*Find<QFrame>("run.bar"), everywhere);
  QVERIFY(everywhere.size() >= 7);
  auto* pages = Find<QStackedWidget>("pages");
  for (int i = 0; i < pages->count(); ++i) {
    std::map<QChar, QString> letters = everywhere;
    collect(*pages->widget(i), letters);
  }
}

void SettingsTest::BackendsAreListedWithReasons() {
  const QString text = Find<QLabel>("backends")->text();
  const auto* list = Find<QComboBox>("field.backend");
  for (const std::string& name : SettingChoices("backend")) {
    QVERIFY(list->findData(QString::fromStdString(name)) >= 0);
    QVERIFY(name == "auto" || text.contains(QString::fromStdString(name) + QStringLiteral(":")));
  }
}

// The machine is the same the next time; data and network are not.
void SettingsTest::OnlyTheMachinesSettingsComeBack() {
  Type("field.threads", QStringLiteral("3"));
  Choose("field.backend", QStringLiteral("serial"));
  Type("field.learning-rate", QStringLiteral("0.25"));
  Find<QCheckBox>("field.shuffle")->setChecked(false);
  QVERIFY(window().close());
  NewWindow();
  QCOMPARE(Find<QLineEdit>("field.threads")->text(), QStringLiteral("3"));
  QCOMPARE(window().document().settings().backend, std::string("serial"));
  QVERIFY(Find<QLineEdit>("field.learning-rate")->text().isEmpty());
  QVERIFY(Find<QCheckBox>("field.shuffle")->isChecked());
  QVERIFY(window().document().settings().data.empty());
}

}  // namespace

std::unique_ptr<QObject> MakeSettingsTest() { return std::make_unique<SettingsTest>(); }

}  // namespace lamina::gui

#include "settings_qtest.moc"
