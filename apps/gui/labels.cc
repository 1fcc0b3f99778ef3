// The labels of the library, for Qt.
#include "labels.h"

#include <QRegularExpression>

#include "lamina/settings/setting_labels.h"

namespace lamina::gui {

QString LabelOf(std::string_view setting) { return QString::fromStdString(SettingLabel(setting)); }

QString PlainLabelOf(std::string_view setting) { return QString::fromStdString(PlainSettingLabel(setting)); }

QString WithLabels(QString text) {
  static const QRegularExpression flag(QStringLiteral("--([a-z][a-z0-9-]*[a-z0-9])"));
  qsizetype from = 0;
  for (QRegularExpressionMatch match = flag.match(text); match.hasMatch(); match = flag.match(text, from)) {
    const QString label = PlainLabelOf(match.captured(1).toStdString());
    const bool begins = match.capturedStart() == 0;
    text.replace(match.capturedStart(), match.capturedLength(), begins ? label : QStringLiteral("“%1”").arg(label));
    from = match.capturedStart() + label.size();
  }
  return text;
}

}  // namespace lamina::gui
