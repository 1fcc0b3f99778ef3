// Files under the window that change, vanish, are huge, damaged or a stranger's. The window says what happened, keeps
// what is open, and neither ends nor hangs.
#include <sys/resource.h>
#include <sys/stat.h>

#include <QElapsedTimer>
#include <csignal>
#include <nlohmann/json.hpp>

#include "curves_view.h"
#include "lamina/base/file.h"
#include "model_page.h"
#include "predict_panel.h"
#include "prediction.h"
#include "tests/gui/window_test.h"
#include "training_page.h"

namespace lamina::gui {
namespace {

constexpr int kSoon_ms = 20000;  // of what has to be refused, on a busy machine

class HostileTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void DataThatVanish();
  void DataThatChange();
  void AModelThatVanishesOrChanges();
  void DamagedProjectsAndModels();
  void HugeProjects();
  void AProjectOfAStrangerNamesNoDevice();
  void EveryNumberOfAProjectAtItsEnds();
  void WhatIsGoneIsSaid();
  void AModelOfAStrangerDecidesNothingOfWriting();
  void FullDisksLeaveTheOlderFile();
  void NamesAreText();

 private:
  QString WriteTable(const QString& name, const QByteArray& header = "a,b,y") const;
  void TrainTable();
  nlohmann::json Project();
  QString WriteProject(const QString& name, const nlohmann::json& project) const;
  void OpenSoon(const QString& path);
};

QString HostileTest::WriteTable(const QString& name, const QByteArray& header) const {
  QByteArray text = header + '\n';
  for (int i = 0; i < 60; ++i) {
    text += QByteArray::number(i % 13) + ',' + QByteArray::number(i % 7) + ',' + (i % 2 == 0 ? "yes" : "no") + '\n';
  }
  return Write(name, text);
}

void HostileTest::TrainTable() {
  SmallRun(2);
  QVERIFY(Settled());
  Start()->click();
  QVERIFY(Trained());
}

// The project of a small run on t.csv, without its checksum, so that a stranger may change it.
nlohmann::json HostileTest::Project() {
  NewWindow();
  if (!Load(WriteTable(QStringLiteral("t.csv")))) {
    qFatal("a table could not be opened");
  }
  TrainTable();
  if (!window().files().SaveProjectTo(Path(QStringLiteral("p.lamina")))) {
    qFatal("a project could not be saved");
  }
  nlohmann::json project = nlohmann::json::parse(ReadFile(Path(QStringLiteral("p.lamina")).toStdString()));
  project.erase("crc32");
  return project;
}

QString HostileTest::WriteProject(const QString& name, const nlohmann::json& project) const {
  return Write(name, QByteArray::fromStdString(project.dump()));
}

void HostileTest::OpenSoon(const QString& path) {
  QElapsedTimer since;
  since.start();
  QVERIFY(Load(path));
  QVERIFY2(since.elapsed() < kSoon_ms, qPrintable(path));
}

void HostileTest::DataThatVanish() {
  const QString path = WriteTable(QStringLiteral("t.csv"));
  QVERIFY(Load(path));
  QVERIFY(QFile::remove(path));
  TrainTable();  // on the rows that are open
  QVERIFY(window().store().model() != nullptr);
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(path);
  QVERIFY(QTest::qWaitFor([this] { return Notice().contains(QStringLiteral("t.csv")); }, kPatience_ms));
  QVERIFY(Load(path));  // again
  QVERIFY2(Notice().contains(QStringLiteral("t.csv")), qPrintable(Notice()));
  QVERIFY(window().document().data() != nullptr);
}

void HostileTest::DataThatChange() {
  const QString path = WriteTable(QStringLiteral("changing.csv"));
  QVERIFY(Load(path));
  Write(QStringLiteral("changing.csv"), "q\n1\n2\n");
  TrainTable();
  const auto model = window().store().model();
  QVERIFY(model != nullptr);
  QCOMPARE(model->preprocessor.inputs().columns().front().name, std::string("a"));  // what the window showed
  Type("field.text-columns", QStringLiteral("a"));                                  // reads the file again
  const auto said = [this] { return !window().document().loading() && !Start()->isEnabled() && Settled(); };
  QVERIFY2(QTest::qWaitFor(said, kPatience_ms), qPrintable(Notice()));
  QVERIFY(QFile::remove(path));
  QVERIFY(QDir().mkdir(path));
  QVERIFY(Load(path));
  QVERIFY2(Notice().contains(QStringLiteral("changing.csv")), qPrintable(Notice()));
}

void HostileTest::AModelThatVanishesOrChanges() {
  const QString data = WriteTable(QStringLiteral("t.csv"));
  QVERIFY(Load(data));
  TrainTable();
  const QString path = Path(QStringLiteral("m.safetensors"));
  QVERIFY(window().files().SaveModelTo(path));
  NewWindow();
  QVERIFY(Load(path));
  Write(QStringLiteral("m.safetensors"), "changed");
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(data);  // by the model that is open
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  QVERIFY(Load(path));
  QVERIFY2(Notice().contains(QStringLiteral("m.safetensors")), qPrintable(Notice()));
  QVERIFY(window().store().model() != nullptr);
  QVERIFY(QFile::remove(path));
  QVERIFY(window().files().SaveModelTo(path));
  QVERIFY(QFileInfo::exists(path));
}

// Cut at many places, and with single bytes changed: said, and what is open stays.
void HostileTest::DamagedProjectsAndModels() {
  Project();
  const auto model = window().store().model();
  const QString saved = window().store().path();
  for (const QString& whole : {Path(QStringLiteral("p.lamina")), saved}) {
    const QByteArray content = QByteArray::fromStdString(ReadFile(whole.toStdString()));
    const QString name = QStringLiteral("damaged.") + QFileInfo(whole).suffix();
    const auto refused = [&](const QByteArray& damaged, qsizetype at) {
      OpenSoon(Write(name, damaged));
      QVERIFY2(Notice().contains(name), qPrintable(QStringLiteral("%1 %2: %3").arg(name).arg(at).arg(Notice())));
      QVERIFY(window().store().model() == model);
    };
    for (qsizetype part = 0; part < 16; ++part) {
      const qsizetype at = content.size() * part / 16;
      refused(content.left(at), at);
      QByteArray flipped = content;
      flipped[at] = static_cast<char>(flipped[at] ^ 0x11);
      refused(flipped, at);
    }
  }
}

void HostileTest::HugeProjects() {
  nlohmann::json project = Project();
  const QByteArray deep = QByteArray(5'000'000, '[') + QByteArray(5'000'000, ']');
  OpenSoon(Write(QStringLiteral("deep.lamina"), "{\"lamina_project\":1,\"settings\":" + deep + "}"));
  QVERIFY2(Notice().contains(QStringLiteral("deep.lamina")), qPrintable(Notice()));
  project["settings"]["hidden"] = std::vector<int64_t>(1'000'000, 1'000'000'000);
  OpenSoon(WriteProject(QStringLiteral("wide.lamina"), project));
  QVERIFY2(Notice().contains(QStringLiteral("too long to be shown")), qPrintable(Notice()));
  project["settings"]["hidden"] = {int64_t{1} << 62, int64_t{1} << 62};
  OpenSoon(WriteProject(QStringLiteral("huge.lamina"), project));
  QVERIFY(Settled());
  QVERIFY(!Start()->isEnabled());
  project["settings"]["hidden"] = {4};
  project["settings"]["target"] = {std::string(10'000'000, 'n')};
  OpenSoon(WriteProject(QStringLiteral("long.lamina"), project));
  QVERIFY2(Notice().contains(QStringLiteral("too long to be shown")), qPrintable(Notice()));
}

void HostileTest::AProjectOfAStrangerNamesNoDevice() {
  const nlohmann::json project = Project();
  const QString pipe = Path(QStringLiteral("pipe"));
  QCOMPARE(mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
  for (const QString& device : {pipe, QStringLiteral("pipe"), QStringLiteral("/dev/zero")}) {
    for (const char* where : {"model", "data", "test", "start-from"}) {
      nlohmann::json theirs = project;
      (where == std::string("model") ? theirs[where] : theirs["settings"][where]) = device.toStdString();
      OpenSoon(WriteProject(QStringLiteral("theirs.lamina"), theirs));
      QVERIFY2(Notice().contains(QStringLiteral("theirs.lamina")), qPrintable(Notice()));
      QVERIFY2(Notice().contains(QStringLiteral("neither a file nor a folder")), qPrintable(Notice()));
    }
  }
}

// What a project says of a run's numbers is as untrusted as the rest. Whatever it is, the window says why it cannot
// start, or it can start.
void HostileTest::EveryNumberOfAProjectAtItsEnds() {
  const nlohmann::json project = Project();
  for (const auto& row : SettingRows<TrainSettings>()) {
    constexpr SettingKind kNumbers[] = {SettingKind::kInteger, SettingKind::kMaybeInteger, SettingKind::kCount,
                                        SettingKind::kNumber, SettingKind::kMaybeNumber};
    if (std::find(std::begin(kNumbers), std::end(kNumbers), row.kind()) == std::end(kNumbers)) {
      continue;
    }
    for (const nlohmann::json& value : {nlohmann::json(INT64_MAX), nlohmann::json(INT64_MIN), nlohmann::json(1e308),
                                        nlohmann::json(-1e308), nlohmann::json(5e-324)}) {
      nlohmann::json theirs = project;
      theirs["settings"][row.name] = value;
      OpenSoon(WriteProject(QStringLiteral("theirs.lamina"), theirs));
      QVERIFY2(Settled(), qPrintable(FromText(row.name)));
      QCOMPARE(Start()->isEnabled(), window().document().StartBlocker().isEmpty());
    }
    std::string text = project.dump();  // infinite, and no number at all
    const std::string key = "\"" + std::string(row.name) + "\":";
    const size_t at = text.find(key, text.find("\"settings\""));
    if (at == std::string::npos) {
      continue;
    }
    const size_t begin = at + key.size();
    const size_t end = text.find_first_of(",}", begin);
    for (const char* number : {"1e999", "NaN", "Infinity"}) {
      OpenSoon(Write(QStringLiteral("theirs.lamina"),
                     QByteArray::fromStdString(text.substr(0, begin) + number + text.substr(end))));
      QVERIFY2(Notice().contains(QStringLiteral("theirs.lamina")), qPrintable(Notice()));
    }
  }
}

void HostileTest::WhatIsGoneIsSaid() {
  nlohmann::json project = Project();
  const auto model = window().store().model();
  project["settings"]["sync-steps"] = 4;
  OpenSoon(WriteProject(QStringLiteral("older.lamina"), project));
  QVERIFY2(Notice().contains(QStringLiteral("--sync-steps was removed")), qPrintable(Notice()));
  Model older = *model;
  older.training["settings"]["sync-steps"] = 4;
  SaveModel(Path(QStringLiteral("older.safetensors")).toStdString(), older);
  OpenSoon(Path(QStringLiteral("older.safetensors")));
  QVERIFY2(Notice().contains(QStringLiteral("--sync-steps was removed")), qPrintable(Notice()));
  OpenSoon(Path(QStringLiteral("p.safetensors")));
  QVERIFY2(!Notice().contains(QStringLiteral("sync-steps")), qPrintable(Notice()));
}

void HostileTest::AModelOfAStrangerDecidesNothingOfWriting() {
  Project();
  Model theirs = *window().store().model();
  nlohmann::json& settings = theirs.training["settings"];
  for (const auto& row : SettingRows<TrainSettings>()) {
    if (row.DecidesWriting()) {
      settings[row.name] = row.kind() == SettingKind::kText ? nlohmann::json("theirs.out") : nlohmann::json(true);
    }
  }
  SaveModel(Path(QStringLiteral("theirs.safetensors")).toStdString(), theirs);
  OpenSoon(Path(QStringLiteral("theirs.safetensors")));
  QCOMPARE(window().store().settings().hidden, std::vector<int64_t>{16});
  VisitSettings(window().store().settings(), [](const auto& row, const auto& field) {
    const TrainSettings defaults;
    if (row.DecidesWriting()) {
      WithField(defaults, row, [&](const auto& given) { QCOMPARE(FieldText(&field), FieldText(&given)); });
    }
  });
  QVERIFY2(!window().store().Command().contains(QStringLiteral("theirs.out")), qPrintable(window().store().Command()));
}

// While it exists no file may become larger.
class SmallFiles {
 public:
  SmallFiles() : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{16, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

void HostileTest::FullDisksLeaveTheOlderFile() {
  Project();
  PredictPanel& panel = window().model_page().predict();
  panel.Predict(Path(QStringLiteral("t.csv")));
  QVERIFY(QTest::qWaitFor([&] { return panel.prediction() != nullptr; }, kPatience_ms));
  CurvesView& curves = window().training().curves();
  FileActions& files = window().files();
  files.ask_where_to_save = [this](const QString&, const QString&, const QString&) {
    return Path(QStringLiteral("older.csv"));
  };
  const std::pair<const char*, std::function<void(const QString&)>> writers[] = {
      {"older.safetensors", [&](const QString& path) { QVERIFY(!files.SaveModelTo(path)); }},
      {"older.lamina", [&](const QString& path) { QVERIFY(!files.SaveProjectTo(path)); }},
      {"older.onnx", [&](const QString& path) { QVERIFY(!files.ExportTo(path)); }},
      {"older.json", [&](const QString& path) { QVERIFY(!files.SaveHistoryTo(path)); }},
      {"older.png", [&](const QString& path) { QVERIFY(!files.SaveCurvesTo(curves, path)); }},
      {"older.svg", [&](const QString& path) { QVERIFY(!files.SaveCurvesTo(curves, path)); }},
      {"older.csv", [&](const QString&) { files.AskSavePredictions(panel); }}};
  for (const auto& [name, write] : writers) {
    const QString path = Write(QString::fromLatin1(name), "older");
    const QStringList before = QDir(Path(QString())).entryList(QDir::AllEntries | QDir::Hidden);
    {
      const SmallFiles full;
      write(path);
    }
    QVERIFY2(Notice().contains(QString::fromLatin1(name)), qPrintable(Notice()));
    QCOMPARE(ReadFile(path.toStdString()), std::string("older"));
    QCOMPARE(QDir(Path(QString())).entryList(QDir::AllEntries | QDir::Hidden), before);
  }
}

// In names of columns and classes, markup, percent signs and turns of direction are shown and drawn as text.
void HostileTest::NamesAreText() {
  QVERIFY(Load(WriteTable(QStringLiteral("names.csv"), "humidity (%d%n),<img src=x>,\"y%s \xE2\x80\xAE\"")));
  TrainTable();
  QVERIFY(window().store().model() != nullptr);
  for (auto* label : window().findChildren<QLabel*>()) {
    const bool shows = label->text().contains(QStringLiteral("<img src=x>"));
    QVERIFY2(!shows || label->textFormat() == Qt::PlainText || !Qt::mightBeRichText(label->text()),
             qPrintable(label->objectName() + label->text()));
  }
  QVERIFY(window().files().SaveCurvesTo(window().training().curves(), Path(QStringLiteral("c.svg"))));
  QVERIFY(!QByteArray::fromStdString(ReadFile(Path(QStringLiteral("c.svg")).toStdString())).contains("<img"));
}

}  // namespace

std::unique_ptr<QObject> MakeHostileTest() { return std::make_unique<HostileTest>(); }

}  // namespace lamina::gui

#include "hostile_qtest.moc"
