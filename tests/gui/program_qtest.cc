// The program as it is started: version, help, wrong arguments, without a display.
#include <QProcess>

#include "tests/gui/window_test.h"

namespace lamina::gui {
namespace {

class ProgramTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void VersionAndHelpNeedNoDisplay();
  void WrongArguments();
};

struct Result {
  int code;
  QString out;
  QString err;
};

Result RunProgram(const QStringList& arguments) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.remove(QStringLiteral("DISPLAY"));
  environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("xcb"));
  if (!arguments.isEmpty() && !arguments[0].startsWith(QStringLiteral("--"))) {
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
  }
  process.setProcessEnvironment(environment);
  process.start(qEnvironmentVariable("LAMINA_GUI_PROGRAM"), arguments);
  process.waitForFinished(30000);
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          QString::fromUtf8(process.readAllStandardOutput()), QString::fromUtf8(process.readAllStandardError())};
}

void ProgramTest::VersionAndHelpNeedNoDisplay() {
  const Result version = RunProgram({QStringLiteral("--version")});
  QCOMPARE(version.code, 0);
  QVERIFY(version.out.startsWith(QStringLiteral("lamina-gui 0.")) && version.out.contains(QStringLiteral("Qt 6")));
  const Result help = RunProgram({QStringLiteral("--help")});
  QCOMPARE(help.code, 0);
  QVERIFY(help.out.contains(QStringLiteral("FILE")));
}

void ProgramTest::WrongArguments() {
  const Result two = RunProgram({QStringLiteral("a.csv"), QStringLiteral("b.csv")});
  QCOMPARE(two.code, 2);
  QVERIFY(two.err.contains(QStringLiteral("lamina-gui [FILE]")));
}

}  // namespace

std::unique_ptr<QObject> MakeProgramTest() { return std::make_unique<ProgramTest>(); }

}  // namespace lamina::gui

#include "program_qtest.moc"
