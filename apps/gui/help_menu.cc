// Help.
#include "help_menu.h"

#include <QMainWindow>
#include <QMenuBar>

#include "lamina/base/version.h"
#include "manual_window.h"
#include "notice_bar.h"

namespace lamina::gui {

HelpMenu::HelpMenu(NoticeBar& notice, QMainWindow* window) : QMenu(tr("&Help"), window), notice_(notice) {
  addAction(tr("&Manual of the window"), QKeySequence(Qt::Key_F1), this,
            [this] { Show([](ManualWindow& manual) { manual.ShowPage(QStringLiteral("desktop.md")); }); });
  addAction(tr("Manual of the &program"), this,
            [this] { Show([](ManualWindow& manual) { manual.ShowPage(QStringLiteral("command-line.md")); }); });
  addAction(tr("&Keys"), this,
            [this, window] { Show([window](ManualWindow& manual) { manual.ShowKeys(*window->menuBar()); }); });
  addSeparator();
  addAction(tr("&About lamina"), this, [this] {
    QString text = tr("lamina %1: neural layers at the speed of the hardware.").arg(FromText(Version()));
    for (const std::string& line : BuildOptions()) {
      text += QLatin1Char('\n') + FromText(line);
    }
    notice_.ShowNote(text);
  });
}

void HelpMenu::Show(const std::function<void(ManualWindow&)>& show) {
  if (manual_ == nullptr) {
    manual_ = new ManualWindow(parentWidget());
  }
  if (const auto problem = Attempt([&] { show(*manual_); })) {
    notice_.ShowProblem(*problem);
  }
}

}  // namespace lamina::gui
