// Names of columns, classes and files are shown as they are: "<b>" and "&" in one are letters.
#pragma once

#include <QObject>
#include <QString>

namespace lamina::gui {

/// While it lives, labels, tooltips and message boxes take their text as it is, unless they ask for rich text: Qt would
/// guess from a "<".
class PlainText : public QObject {
 public:
  explicit PlainText(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

/// A name as the text of a menu's action, where "&" would underline a letter and a tab begin a shortcut.
QString ActionText(QString name);
/// A name in a chart, whose titles and legend are HTML.
QString ChartText(const QString& name);
/// A name in the title of a window, where "[*]" would be the mark of a change.
QString TitleText(QString name);

}  // namespace lamina::gui
