// HelpMenu: the manual, the keys, and what this program is.
#pragma once

#include <QMenu>
#include <functional>

class QMainWindow;

namespace lamina::gui {

class ManualWindow;
class NoticeBar;

class HelpMenu : public QMenu {
  Q_OBJECT
 public:
  /// `window` has the menu bar; what goes wrong is said in `notice`.
  HelpMenu(NoticeBar& notice, QMainWindow* window);

 private:
  void Show(const std::function<void(ManualWindow&)>& show);

  NoticeBar& notice_;
  ManualWindow* manual_ = nullptr;  // made when it is first asked for
};

}  // namespace lamina::gui
