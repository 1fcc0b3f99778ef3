// Pictures of the window for the documentation and to look at. "lamina_gui_tests pictures" writes a PNG file a page and
// size into the folder LAMINA_PICTURES; where that is not set, nothing is done. QT_SCALE_FACTOR=1.5 before it: as on a
// screen that is scaled.
#include <QCheckBox>
#include <QFileInfo>
#include <QHash>
#include <QMap>
#include <QPainter>
#include <QPlainTextEdit>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>

#include "model_page.h"
#include "predict_panel.h"
#include "search_page.h"
#include "tests/gui/window_test.h"
#include "theme.h"

namespace lamina::gui {
namespace {

constexpr QSize kSizes[] = {{1280, 800}, {1024, 640}, {910, 480}};

class PicturesTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void EveryPage();

 private:
  void Save(const QString& name);
  void HidePaths();
  void Model();
  void Regression();
  QString folder_;
  QMap<QString, QList<QImage>> sheets_;
};

// In its 256 most frequent colors, which is a quarter of the size and looks the same.
QImage Reduced(const QImage& picture) {
  QHash<QRgb, int> counts;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      ++counts[picture.pixel(x, y) | 0xff000000];
    }
  }
  QList<QRgb> colours = counts.keys();
  std::sort(colours.begin(), colours.end(), [&](QRgb a, QRgb b) { return counts[a] > counts[b]; });
  colours.resize(std::min<qsizetype>(colours.size(), 256));
  return picture.convertToFormat(QImage::Format_Indexed8, colours, Qt::ThresholdDither | Qt::AvoidDither);
}

// A picture is of no machine: files stand without the folders that they are in here.
void PicturesTest::HidePaths() {
  const QString here = QFileInfo(Digits()).canonicalPath() + QLatin1Char('/');
  const auto without = [&](QString text) { return text.remove(here); };
  for (auto* line : window().findChildren<QLineEdit*>()) {
    if (line->text().contains(here)) {
      line->setText(without(line->text()));
    }
  }
  for (auto* text : window().findChildren<QPlainTextEdit*>()) {
    if (text->toPlainText().contains(here)) {
      text->setPlainText(without(text->toPlainText()));
    }
  }
  for (auto* label : window().findChildren<QLabel*>()) {
    if (label->text().contains(here)) {
      label->setText(without(label->text()));
    }
    QVERIFY2(!label->isVisible() || !label->text().contains(here.chopped(1)), qPrintable(label->text()));
  }
}

void PicturesTest::Save(const QString& name) {
  HidePaths();
  for (const QSize& size : kSizes) {
    window().resize(size);
    QTest::qWait(150);
    QImage picture = window().grab().toImage();
    picture.setDevicePixelRatio(1);
    const QString where = QStringLiteral("%1x%2").arg(size.width()).arg(size.height());
    QVERIFY(Reduced(picture).save(QStringLiteral("%1/gui-%2-%3.png").arg(folder_, name, where), "PNG", 0));
    sheets_[where] << picture;
  }
}

void PicturesTest::EveryPage() {
  folder_ = qEnvironmentVariable("LAMINA_PICTURES");
  if (folder_.isEmpty()) {
    QSKIP("LAMINA_PICTURES is not set");
  }
  SetTheme(Theme::kLight);
  window().document().ShowAll(false);  // as a new user sees it
  Click("data.digits");
  QVERIFY(QTest::qWaitFor([this] { return window().document().data() != nullptr; }, kPatience_ms));
  window().document().Edit([](TrainSettings& settings) { settings.threads = 1; });
  QVERIFY(Settled());
  Save(QStringLiteral("data"));
  window().ShowPage(Page::kNetwork);
  Save(QStringLiteral("network"));
  window().document().Edit([](TrainSettings& settings) {
    settings.recipe = "plain";
    settings.epochs = 30;
  });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  window().document().Undo();
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  Save(QStringLiteral("training"));
  window().document().ShowAll(true);
  Save(QStringLiteral("training-all"));
  window().document().ShowAll(false);
  window().notice().Clear();
  window().ShowPage(Page::kSearch);
  Click("search.start");
  QVERIFY(QTest::qWaitFor([this] { return !window().search().worker().active(); }, kPatience_ms));
  Save(QStringLiteral("search"));
  window().notice().Clear();
  window().ShowPage(Page::kResults);
  Save(QStringLiteral("results"));
  window().runs().Overlay(0, true);
  Find<QTabWidget>("results.tabs")->setCurrentIndex(2);
  Save(QStringLiteral("runs"));
  window().runs().Overlay(0, false);
  Find<QTabWidget>("results.tabs")->setCurrentIndex(0);
  Model();
  Regression();
  SetTheme(Theme::kDark);
  window().ShowPage(Page::kTraining);
  Save(QStringLiteral("dark"));
  SetTheme(Theme::kSystem);
  for (auto sheet = sheets_.begin(); sheet != sheets_.end(); ++sheet) {  // all pages of a size in one picture
    const QSize cell = sheet.value().front().size() / 2;
    QImage all(cell.width() * 2, cell.height() * static_cast<int>((sheet.value().size() + 1) / 2),
               QImage::Format_RGB32);
    all.fill(Qt::white);
    QPainter painter(&all);
    for (int i = 0; i < sheet.value().size(); ++i) {
      painter.drawImage(QPoint(i % 2 * cell.width(), i / 2 * cell.height()),
                        sheet.value()[i].scaled(cell, Qt::KeepAspectRatio, Qt::SmoothTransformation));
    }
    painter.end();
    QVERIFY(Reduced(all).save(QStringLiteral("%1/sheet-%2.png").arg(folder_, sheet.key()), "PNG", 0));
  }
}

void PicturesTest::Model() {
  window().ShowPage(Page::kModel);
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(window().document().data()->path);
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  Find<QCheckBox>("predict.wrong")->setChecked(true);
  Save(QStringLiteral("model"));
  Find<QTabWidget>("model.tabs")->setCurrentIndex(1);
  Click("typed.take");
  QTest::qWait(600);
  Save(QStringLiteral("drawn"));
}

void PicturesTest::Regression() {
  Click("data.stocks");
  QVERIFY(QTest::qWaitFor([this] { return !window().document().loading(); }, kPatience_ms));
  QVERIFY(Settled());
  window().ShowPage(Page::kData);
  Save(QStringLiteral("stocks"));
  window().document().Edit([](TrainSettings& settings) { settings.threads = 1; });
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  window().ShowPage(Page::kResults);
  Save(QStringLiteral("regression"));
  Find<QTabWidget>("results.tabs")->setCurrentIndex(1);
  Save(QStringLiteral("columns"));
}

}  // namespace

std::unique_ptr<QObject> MakePicturesTest() { return std::make_unique<PicturesTest>(); }

}  // namespace lamina::gui

#include "pictures_qtest.moc"
