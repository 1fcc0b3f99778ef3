// The program "lamina-gui".
#include <QApplication>
#include <QFontDatabase>
#include <QIcon>
#include <QTimer>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "apps/limit_spinning.h"
#include "lamina/base/version.h"
#include "lamina/platform/process.h"
#include "main_window.h"
#include "theme.h"

namespace {

constexpr const char* kHelp =
    "lamina-gui [FILE]\n"
    "Opens the window of lamina, with FILE (CSV, CSV.gz, .xlsx, .ods, IDX or npy data, a folder of IDX files, or a "
    "model\n"
    "*.safetensors, or a project *.lamina) if one is given.\n\n"
    "  -h, --help     Print this help\n"
    "      --version  Print the version and the build options\n"
    "Qt's own options, such as -platform offscreen or -style fusion, come before FILE.\n";

// A bare system has no fonts, or no list of them; packages that carry their libraries carry some (scripts/package).
std::filesystem::path CarriedFonts() {
  const std::filesystem::path program = lamina::platform::ProgramFile();
  return program.parent_path().parent_path() / "share/lamina/fonts";
}

void UseCarriedFontList() {
  const auto list = CarriedFonts() / "fonts.conf";
  std::error_code failed;
  if (!std::filesystem::exists("/etc/fonts/fonts.conf", failed) && std::filesystem::exists(list, failed)) {
    lamina::platform::SetVariable("FONTCONFIG_FILE", list.c_str(), /*replace=*/false);
  }
}

void UseCarriedFonts() {
  if (!QFontDatabase::families().isEmpty()) {
    return;
  }
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator(CarriedFonts(), failed)) {
    if (file.path().extension() == ".ttf") {
      QFontDatabase::addApplicationFont(QString::fromStdString(file.path().string()));
    }
  }
}

int PrintVersion() {
  std::printf("lamina-gui %s\n", lamina::Version().c_str());
  for (const std::string& line : lamina::BuildOptions()) {
    std::printf("  %s\n", line.c_str());
  }
  std::printf("  Qt %s\n", qVersion());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {  // before Qt asks for a display
    const std::string_view argument = argv[i];
    if (argument == "--version") {
      return PrintVersion();
    }
    if (argument == "--help" || argument == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
  }
  lamina::LimitSpinning();
  UseCarriedFontList();
  QApplication application(argc, argv);  // takes Qt's own options out of argv
  UseCarriedFonts();
  QApplication::setApplicationName(QStringLiteral("lamina-gui"));
  QApplication::setOrganizationName(QStringLiteral("lamina"));
  QApplication::setApplicationVersion(QString::fromStdString(lamina::Version()));
  QApplication::setDesktopFileName(QStringLiteral("lamina-gui"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/lamina.svg")));
  const QStringList arguments = QApplication::arguments();
  if (arguments.size() > 2 || (arguments.size() == 2 && arguments[1].startsWith(QLatin1Char('-')))) {
    std::fprintf(stderr, "lamina-gui: error: unknown arguments\n%s", kHelp);
    return 2;
  }
  lamina::gui::SetTheme(lamina::gui::StoredTheme());
  lamina::gui::MainWindow window;
  window.show();
  if (arguments.size() == 2) {
    window.files().Open(arguments[1]);
  }
  return QApplication::exec();
}
