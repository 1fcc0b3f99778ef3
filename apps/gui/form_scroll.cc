// Widths of scrolling forms; what gets the focus comes into view.
#include "form_scroll.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>

namespace lamina::gui {
namespace {

constexpr int kLeastWidth = 220;
constexpr int kLeastHeight = 160;
constexpr int kUsualWidth = 340;  // in which short fields look well

}  // namespace

FormScroll::FormScroll(QWidget* form, QWidget* parent) : QScrollArea(parent) {
  setWidget(form);
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Expanding);
  form->installEventFilter(this);
}

QSize FormScroll::sizeHint() const {
  const int bar = verticalScrollBar()->sizeHint().width();
  return {std::max(kUsualWidth, widget()->minimumSizeHint().width()) + bar, widget()->sizeHint().height()};
}

QSize FormScroll::minimumSizeHint() const { return {std::min(kLeastWidth, sizeHint().width()), kLeastHeight}; }

// A form that has become wider (another layer, a longer name) asks for its room.
bool FormScroll::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::LayoutRequest) {
    updateGeometry();
  }
  return QScrollArea::eventFilter(watched, event);
}

}  // namespace lamina::gui
