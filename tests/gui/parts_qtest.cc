// The parts without a window: shares, decimation, ticks, layers.
#include <fmt/format.h>

#include <QComboBox>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QPushButton>
#include <cmath>

#include "chart_axes.h"
#include "curves_view.h"
#include "derive_dialog.h"
#include "labels.h"
#include "lamina/data/encode/derive.h"
#include "lamina/data/files/csv.h"
#include "lamina/settings/settings_text.h"
#include "layer_rows.h"
#include "number_text.h"
#include "pictures.h"
#include "prediction.h"
#include "presets.h"
#include "problem.h"
#include "split_editor.h"
#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

class PartsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void SharesAlwaysSumToOne();
  void DecimationKeepsTheExtremes();
  void TicksAreFewAndInside();
  void LayersGoThroughTheSettings();
  void WrongLayersAreNamed();
  void PresetsAreValid();
  void MessagesUseTheLabels();
  void ColumnsArePutTogether();
  void NumbersAreReadable();
  void PicturesAreRecognised();
};

void PartsTest::SharesAlwaysSumToOne() {
  for (int train = 1; train <= 1000; train += 37) {
    for (int validation = 0; validation <= 1000 - train; validation += 41) {
      const Shares start{train, validation, 1000 - train - validation};
      for (int changed = 0; changed < 3; ++changed) {
        for (const int value : {-5, 0, 1, 250, 999, 1000, 1200}) {
          const Shares shares = LinkShares(start, changed, value);
          QCOMPARE(shares[0] + shares[1] + shares[2], 1000);
          QVERIFY(shares[0] >= 1 && shares[1] >= 0 && shares[2] >= 0);
          const int low = changed == 0 ? 1 : 0;
          QCOMPARE(shares[static_cast<size_t>(changed)], std::clamp(value, low, changed == 0 ? 1000 : 999));
        }
      }
    }
  }
  QCOMPARE(LinkShares({600, 200, 200}, 1, 300), (Shares{500, 300, 200}));
  QCOMPARE(LinkShares({600, 300, 100}, 0, 800), (Shares{800, 150, 50}));
}

void PartsTest::DecimationKeepsTheExtremes() {
  std::vector<QPointF> points;
  for (int i = 0; i < 100000; ++i) {
    points.emplace_back(i, std::sin(i * 0.001));
  }
  points[43211].setY(7);
  points[65432].setY(-9);
  const std::vector<QPointF> shown = Decimate(points, 600);
  QVERIFY(shown.size() <= 1201);
  QVERIFY(std::find(shown.begin(), shown.end(), points[43211]) != shown.end());
  QVERIFY(std::find(shown.begin(), shown.end(), points[65432]) != shown.end());
  QCOMPARE(shown.back(), points.back());
  QVERIFY(std::is_sorted(shown.begin(), shown.end(), [](const QPointF& a, const QPointF& b) { return a.x() < b.x(); }));
  QCOMPARE(Decimate({{1, 2}, {2, 3}}, 600).size(), size_t{2});
}

void PartsTest::TicksAreFewAndInside() {
  QCOMPARE(NiceInterval(20, 8), 5.0);
  QCOMPARE(NiceInterval(1, 6), 0.2);
  for (const auto& [low, high] : {std::pair(0.001, 1000.0), {0.5, 0.6}, {0.9, 2.5}, {1e-12, 1e12}, {3.0, 40.0}}) {
    const std::vector<double> ticks = LogTicks(low, high, 6);
    QVERIFY2(ticks.size() >= 2 && ticks.size() <= 10, qPrintable(QString::number(static_cast<int>(ticks.size()))));
    for (const double tick : ticks) {
      QVERIFY(tick >= low * 0.999999 && tick <= high * 1.000001);
    }
  }
}

void PartsTest::LayersGoThroughTheSettings() {
  TrainSettings settings;
  settings.data = "-";
  const std::vector<LayerRow> same{{"64", "dot", "tanh", false}, {"32", "dot", "tanh", false}};
  RowsToSettings(same, settings);
  QCOMPARE(settings.hidden, (std::vector<int64_t>{64, 32}));
  QCOMPARE(settings.activation, std::string("tanh"));
  QVERIFY(settings.layers.empty());
  QVERIFY(RowsFromSettings(settings) == same);

  const std::vector<LayerRow> mixed{{"64", "l1", "triangle(radius=12)", true},
                                    {"32", "dot", "bipolar_sigmoid(gain=2,threshold=0.5)", false}};
  RowsToSettings(mixed, settings);
  QCOMPARE(settings.layers,
           std::string("l1-triangle(radius=12)-radius:64,dot-bipolar_sigmoid(gain=2,threshold=0.5):32,auto"));
  QVERIFY(RowsFromSettings(settings) == mixed);
  QVERIFY(CheckSettings(settings).empty());

  settings = TrainSettings();
  settings.gain = 3;
  settings.threshold = 1;
  RowsToSettings({{"8", "dot", "bipolar_sigmoid", false}, {"8", "dot", "relu", false}}, settings);
  QCOMPARE(settings.layers, std::string("dot-bipolar_sigmoid(gain=3,threshold=1):8,dot-relu:8,auto"));
  QVERIFY(!settings.gain);

  RowsToSettings({}, settings);
  QCOMPARE(settings.hidden, std::vector<int64_t>{0});
  QVERIFY(RowsFromSettings(settings).empty());
  settings.layers = "rbf(radius=2):8,dot-softmax:3";
  QCOMPARE(RowsFromSettings(settings).size(), size_t{1});
}

void PartsTest::WrongLayersAreNamed() {
  QVERIFY(ProblemOfRow({"64", "dot", "relu", false}).empty());
  QVERIFY(ProblemOfRow({"64", "l2", "gaussian(radius=2)", true}).empty());
  for (const LayerRow& row :
       {LayerRow{"0", "dot", "relu", false}, LayerRow{"", "dot", "relu", false}, LayerRow{"1e3", "dot", "relu", false},
        LayerRow{"8", "dot", "rellu", false}, LayerRow{"8", "l1", "triangle(radius=-1)", false},
        LayerRow{"8", "dot", "relu", true}, LayerRow{"8", "dot", "softmax", false},
        LayerRow{"-8", "dot", "relu", false}, LayerRow{"9999999999999999", "dot", "relu", false}}) {
    QVERIFY2(!ProblemOfRow(row).empty(), row.activation.c_str());
  }
  QVERIFY(ProblemOfRow({"8", "dot", "rellu", false}).find("relu") != std::string::npos);
}

void PartsTest::PresetsAreValid() {
  QVERIFY(Presets().size() >= 6);
  for (const Preset& preset : Presets()) {
    TrainSettings settings;
    settings.data = "kept";
    settings.seed = 7;
    settings.gain = 5;  // of another preset
    settings.schedule = "step";
    ApplyPreset(preset, settings);
    QCOMPARE(settings.schedule, TrainSettings().schedule);
    QCOMPARE(settings.seed, uint64_t{7});
    QCOMPARE(settings.data, std::string("kept"));
    QVERIFY2(CheckSettings(settings).empty(), preset.name);
  }
}

void PartsTest::MessagesUseTheLabels() {
  QCOMPARE(WithLabels(QStringLiteral("--learning-rate must be positive")),
           QStringLiteral("Learning rate must be positive"));
  QCOMPARE(WithLabels(QStringLiteral("Use --loss mse, or --unknown-thing.")),
           QStringLiteral("Use “Loss” mse, or “Unknown thing”."));
  for (const auto& row : SettingRows<TrainSettings>()) {
    const QString label = PlainLabelOf(row.name);
    QVERIFY2(label[0].isUpper() && label != FromText(row.name), qPrintable(label));
  }
}

void PartsTest::ColumnsArePutTogether() {
  Table table = ReadCsv("when,size,debt\n2024-01-01,3,1\n2024-02-01,4,2\n", "t.csv", {});
  DeriveDialog dialog(table);
  auto* functions = dialog.findChild<QComboBox*>(QStringLiteral("derive.function"));
  const auto* ok = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
  for (const DeriveFunction& function : DeriveFunctions()) {  // what is offered can be computed
    functions->setCurrentIndex(functions->findData(FromText(function.name)));
    QVERIFY2(ok->isEnabled(), function.name.data());
    Table computed = table;
    DeriveColumns(computed, {.columns = {dialog.Text()}});
    QCOMPARE(computed.columns.size(), table.columns.size() + 1);
  }
  dialog.findChild<QLineEdit*>(QStringLiteral("derive.name"))->setFocus();
  QTest::keyClicks(dialog.findChild<QLineEdit*>(QStringLiteral("derive.name")), QStringLiteral("size"));
  QVERIFY(!ok->isEnabled());  // there is such a column
  table.columns.erase(table.columns.begin());
  DeriveDialog without_dates(table);
  functions = without_dates.findChild<QComboBox*>(QStringLiteral("derive.function"));
  functions->setCurrentIndex(functions->findData(QStringLiteral("month")));
  QVERIFY(!without_dates.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->isEnabled());
}

void PartsTest::NumbersAreReadable() {
  const std::pair<double, const char*> rows[] = {
      {57322.9, "57,322.9"}, {16338312, "16,338,312"}, {0, "0"},           {-0.0, "0"},     {1234567.891, "1,234,568"},
      {-1500, "-1,500"},     {0.0123457, "0.0123457"}, {1e20, "1e+20"},    {2e-7, "2e-07"}, {999999.5, "1,000,000"},
      {std::nan(""), "–"},   {-123456, "-123,456"},    {0.1 + 0.2, "0.3"}, {12.5, "12.5"}};
  for (const auto& [value, text] : rows) {
    QCOMPARE(NumberText(value), QString::fromUtf8(text));
  }
  QCOMPARE(PercentText(0.85625), QStringLiteral("85.62 %"));
  QCOMPARE(CountText(1, QStringLiteral("row"), QStringLiteral("rows")), QStringLiteral("1 row"));
}

void PartsTest::PicturesAreRecognised() {
  std::string header;
  std::string row;
  for (int i = 0; i < 64; ++i) {
    header += fmt::format("p{},", i);
    row += fmt::format("{},", i % 17);
  }
  const Table table = ReadCsv(header + "label\n" + row + "1\n" + row + "2\n", "", {});
  const auto form = PicturesIn(table, std::vector<int64_t>{64});
  QVERIFY(form);
  QCOMPARE(form->width, 8);
  QCOMPARE(form->white, 16.0);
  const QImage picture = PictureOf(table, *form, 1);
  QCOMPARE(int{picture.constScanLine(2)[0]}, 255);       // number 16
  QCOMPARE(int{picture.constScanLine(2)[1]}, 0);         // number 17 is 0 again
  QVERIFY(!PicturesIn(table, std::vector<int64_t>{0}));  // 64 columns, one of them not called like a pixel
}

}  // namespace

std::unique_ptr<QObject> MakePartsTest() { return std::make_unique<PartsTest>(); }

}  // namespace lamina::gui

#include "parts_qtest.moc"
