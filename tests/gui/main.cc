// lamina_gui_tests [SUITE [QTest's arguments]]: one suite, or all but the slow one.
#include <QApplication>
#include <algorithm>
#include <cstdio>

#include "tests/gui/window_test.h"

namespace {

using namespace lamina::gui;

struct Suite {
  const char* name;
  std::unique_ptr<QObject> (*make)();
};
constexpr Suite kSuites[] = {
    {"parts", MakePartsTest},       {"files", MakeFilesTest},       {"settings", MakeSettingsTest},
    {"training", MakeTrainingTest}, {"lost", MakeLostTest},         {"projects", MakeProjectsTest},
    {"shown", MakeShownTest},       {"forms", MakeFormsTest},       {"runs", MakeRunsTest},
    {"notes", MakeNotesTest},       {"names", MakeNamesTest},       {"tables", MakeTablesTest},
    {"hostile", MakeHostileTest},   {"pictures", MakePicturesTest}, {"program", MakeProgramTest},
    {"monkey", MakeMonkeyTest}};

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("lamina-gui"));
  QApplication::setOrganizationName(QStringLiteral("lamina-test"));
  QStringList arguments = QApplication::arguments();
  const QString wanted = arguments.size() > 1 ? arguments.takeAt(1) : QString();
  int failed = 0;
  bool found = false;
  for (const Suite& suite : kSuites) {
    if (wanted == QLatin1String(suite.name) ||
        (wanted.isEmpty() && QLatin1String(suite.name) != QLatin1String("monkey"))) {
      found = true;
      failed += QTest::qExec(suite.make().get(), arguments) == 0 ? 0 : 1;
    }
  }
  if (!found) {
    std::fprintf(stderr, "unknown suite\n");
    return 2;
  }
  return std::min(failed, 1);
}
