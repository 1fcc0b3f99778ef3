// Widths of scrolling forms; what gets the focus comes into view.
#include "form_scroll.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QChildEvent>
#include <QComboBox>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>

namespace lamina::gui {
namespace {

constexpr int kLeastWidth = 220;
constexpr int kLeastHeight = 160;
constexpr int kUsualWidth = 340;  // in which short fields look well

// What takes another value when the wheel turns over it.
bool TakesTheWheel(const QObject* object) {
  const auto* slider = qobject_cast<const QAbstractSlider*>(object);
  return qobject_cast<const QComboBox*>(object) != nullptr ||
         qobject_cast<const QAbstractSpinBox*>(object) != nullptr ||
         (slider != nullptr && qobject_cast<const QScrollBar*>(object) == nullptr);
}

}  // namespace

FormScroll::FormScroll(QWidget* form, QWidget* parent) : QScrollArea(parent) {
  setWidget(form);
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Expanding);
  Watch(*form);
}

// Watches fields, and all parts in which fields are made later.
void FormScroll::Watch(QWidget& widget) {
  QList<QWidget*> all = widget.findChildren<QWidget*>();
  all << &widget;
  for (QWidget* each : all) {
    each->installEventFilter(this);
    if (TakesTheWheel(each)) {
      each->setFocusPolicy(Qt::StrongFocus);  // not by the wheel
    }
  }
}

QSize FormScroll::sizeHint() const {
  const int bar = verticalScrollBar()->sizeHint().width();
  return {std::max(kUsualWidth, widget()->minimumSizeHint().width()) + bar, widget()->sizeHint().height()};
}

QSize FormScroll::minimumSizeHint() const { return {std::min(kLeastWidth, sizeHint().width()), kLeastHeight}; }

// A form that has become wider (another layer, a longer name) asks for its room.
bool FormScroll::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::LayoutRequest:
      if (watched == widget()) {
        updateGeometry();
      }
      break;
    case QEvent::ChildAdded:
    case QEvent::ChildPolished:  // added is a child as soon as its making begins, when it is no field yet
      if (QObject* child = static_cast<QChildEvent*>(event)->child(); child->isWidgetType()) {
        Watch(*static_cast<QWidget*>(child));
      }
      break;
    case QEvent::Wheel:
      if (TakesTheWheel(watched)) {
        wheelEvent(static_cast<QWheelEvent*>(event));
        return true;
      }
      break;
    default: break;
  }
  return QScrollArea::eventFilter(watched, event);
}

}  // namespace lamina::gui
