// Projects: from a stranger they decide nothing of what is written, damaged ones are refused, and saving one replaces
// no file of somebody else's.
#include <nlohmann/json.hpp>

#include "lamina/base/file.h"
#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

class ProjectsTest : public WindowTest {
  Q_OBJECT
 private Q_SLOTS:
  void ADamagedProjectIsRefused();
  void TheModelBesideAProjectReplacesNoOther();
  void WhatAProjectDoesNotDecideIsSaid();

 private:
  void TrainSmall();
  nlohmann::json Saved(const QString& name);
};

void ProjectsTest::TrainSmall() {
  NewWindow();
  QVERIFY(Load(Digits()));
  SmallRun(2);
  QVERIFY(Settled());
  QTest::mouseClick(Start(), Qt::LeftButton);
  QVERIFY(Trained());
  QVERIFY(window().store().unsaved());
}

// A project of the small run, as the window saves it.
nlohmann::json ProjectsTest::Saved(const QString& name) {
  TrainSmall();
  if (!window().files().SaveProjectTo(Path(name))) {
    qFatal("a project could not be saved");
  }
  return nlohmann::json::parse(ReadFile(Path(name).toStdString()));
}

void ProjectsTest::ADamagedProjectIsRefused() {
  nlohmann::json project = Saved(QStringLiteral("whole.lamina"));
  project["settings"]["hidden"] = {17};
  NewWindow();
  const QString path = Write(QStringLiteral("damaged.lamina"), QByteArray::fromStdString(project.dump()));
  QVERIFY(Load(path));
  QVERIFY2(Notice().contains(QStringLiteral("damaged")), qPrintable(Notice()));
}

void ProjectsTest::TheModelBesideAProjectReplacesNoOther() {
  const QString other = Write(QStringLiteral("mine.safetensors"), "a person's");
  Saved(QStringLiteral("mine.lamina"));
  QCOMPARE(ReadFile(other.toStdString()), std::string("a person's"));
  QCOMPARE(window().store().path(), Path(QStringLiteral("mine-2.safetensors")));
  Saved(QStringLiteral("mine.lamina"));  // that of the project itself is replaced
  QCOMPARE(window().store().path(), Path(QStringLiteral("mine-2.safetensors")));
  QVERIFY(!QFileInfo::exists(Path(QStringLiteral("mine-3.safetensors"))));
}

void ProjectsTest::WhatAProjectDoesNotDecideIsSaid() {
  nlohmann::json project = Saved(QStringLiteral("whole.lamina"));
  project.erase("crc32");
  project["settings"]["history"] = Path(QStringLiteral("theirs.csv")).toStdString();
  project["settings"]["overwrite"] = true;
  const QString path = Write(QStringLiteral("stranger.lamina"), QByteArray::fromStdString(project.dump()));
  NewWindow();
  QVERIFY(Load(path));
  for (const char* word : {"stranger.lamina", "--history", "theirs.csv", "--overwrite"}) {
    QVERIFY2(Notice().contains(QLatin1String(word)), qPrintable(Notice()));
  }
  QVERIFY(window().document().settings().history.empty());

  // Said once: of a project whose data cannot be read that is said, and other data are not the project's.
  project["settings"]["data"] = Path(QStringLiteral("gone.csv")).toStdString();
  NewWindow();
  QVERIFY(Load(Write(QStringLiteral("lost.lamina"), QByteArray::fromStdString(project.dump()))));
  QVERIFY2(Notice().contains(QStringLiteral("gone.csv")), qPrintable(Notice()));
  QVERIFY(Load(Write(QStringLiteral("other.csv"), "a,y\n1,2.5\n2,3.5\n3,4.5\n4,5.25\n5,6.5\n6,7.25\n")));
  QVERIFY2(!Notice().contains(QStringLiteral("lost.lamina")), qPrintable(Notice()));
}

}  // namespace

std::unique_ptr<QObject> MakeProjectsTest() { return std::make_unique<ProjectsTest>(); }

}  // namespace lamina::gui

#include "projects_qtest.moc"
