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

}  // namespace

std::unique_ptr<QObject> MakeProjectsTest() { return std::make_unique<ProjectsTest>(); }

}  // namespace lamina::gui

#include "projects_qtest.moc"
