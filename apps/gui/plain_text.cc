// Names as Qt shows them.
#include "plain_text.h"

#include <QApplication>
#include <QEvent>
#include <QLabel>

namespace lamina::gui {

PlainText::PlainText(QObject* parent) : QObject(parent) { QCoreApplication::instance()->installEventFilter(this); }

// Every label is polished before it is shown first, a tooltip before it gets its text.
bool PlainText::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Polish) {
    if (auto* label = qobject_cast<QLabel*>(watched); label != nullptr && label->textFormat() == Qt::AutoText) {
      label->setTextFormat(Qt::PlainText);
    }
  }
  return QObject::eventFilter(watched, event);
}

QString ActionText(QString name) {
  return name.replace(QLatin1Char('&'), QStringLiteral("&&")).replace(QLatin1Char('\t'), QLatin1Char(' '));
}

QString ChartText(const QString& name) { return name.toHtmlEscaped(); }

QString TitleText(QString name) { return name.replace(QStringLiteral("[*]"), QStringLiteral("[*][*]")); }

}  // namespace lamina::gui
