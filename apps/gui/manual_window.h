// ManualWindow: the documentation as shipped with the program, without a network.
#pragma once

#include <QDialog>
#include <QString>

class QMenuBar;
class QTextBrowser;

namespace lamina::gui {

/// A page of the documentation ("desktop.md") beside the installed or freshly built program; "" where it is not.
QString DocumentPath(const QString& name);

class ManualWindow : public QDialog {
  Q_OBJECT
 public:
  explicit ManualWindow(QWidget* parent = nullptr);
  /// Shows one of its pages. Throws Error(kNotFound) where it is not installed.
  void ShowPage(const QString& name);
  /// Shows what the keys of a menu bar do.
  void ShowKeys(const QMenuBar& menus);

 private:
  QTextBrowser* text_;
};

}  // namespace lamina::gui
