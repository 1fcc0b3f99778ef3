// Drawing with a soft pen of the thickness of handwriting.
#include "draw_pad.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace lamina::gui {
namespace {

constexpr double kPenShare = 0.055;  // radius of the pen, of the picture's width
constexpr double kSoftEdge = 0.7;    // pixels over which the pen fades

}  // namespace

DrawPad::DrawPad(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("draw.pad"));
  setAccessibleName(tr("Picture to draw; Delete empties it"));
  setToolTip(tr("Draw with the mouse, erase with its right button; Delete empties the picture"));
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::CrossCursor);
}

void DrawPad::SetSize(int width, int height) {
  picture_ = QImage(width, height, QImage::Format_Grayscale8);
  picture_.fill(Qt::black);
  update();
}

void DrawPad::SetPicture(const QImage& grey) {
  picture_ = grey.convertToFormat(QImage::Format_Grayscale8);
  update();
}

void DrawPad::Clear() {
  picture_.fill(Qt::black);
  update();
  Q_EMIT Drawn();
}

QRectF DrawPad::Place() const {
  const double scale = std::min((width() - 2.0) / picture_.width(), (height() - 2.0) / picture_.height());
  return {1, 1, scale * picture_.width(), scale * picture_.height()};
}

void DrawPad::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (picture_.isNull()) {
    return;
  }
  painter.drawImage(Place(), picture_);
  painter.setPen(hasFocus() ? palette().color(QPalette::Highlight) : palette().color(QPalette::Mid));
  painter.drawRect(Place());
}

// Every pixel near the stroke gets at least the shade that the pen has at its distance.
void DrawPad::DrawTo(const QPointF& at, bool erase) {
  if (picture_.isNull()) {
    return;
  }
  const QRectF place = Place();
  const auto to_pixels = [&](const QPointF& point) {
    return QPointF((point.x() - place.left()) / place.width() * picture_.width(),
                   (point.y() - place.top()) / place.height() * picture_.height());
  };
  const QPointF from = to_pixels(last_);
  const QPointF to = to_pixels(at);
  const double radius = std::max(0.5, kPenShare * picture_.width());
  const QPointF along = to - from;
  const double length = QPointF::dotProduct(along, along);
  for (int y = 0; y < picture_.height(); ++y) {
    uchar* line = picture_.scanLine(y);
    for (int x = 0; x < picture_.width(); ++x) {
      const QPointF centre(x + 0.5, y + 0.5);
      const double share = length > 0 ? std::clamp(QPointF::dotProduct(centre - from, along) / length, 0.0, 1.0) : 0;
      const QPointF off = centre - (from + share * along);
      const double shade = std::clamp((radius + kSoftEdge - std::hypot(off.x(), off.y())) / kSoftEdge, 0.0, 1.0);
      const auto value = static_cast<uchar>(std::lround(255 * shade));
      line[x] = erase ? std::min<uchar>(line[x], static_cast<uchar>(255 - value)) : std::max(line[x], value);
    }
  }
  last_ = at;
  update();
  Q_EMIT Drawn();
}

void DrawPad::mousePressEvent(QMouseEvent* event) {
  last_ = event->position();
  DrawTo(event->position(), event->button() == Qt::RightButton);
}

void DrawPad::mouseMoveEvent(QMouseEvent* event) {
  DrawTo(event->position(), (event->buttons() & Qt::RightButton) != 0);
}

void DrawPad::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace) {
    Clear();
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace lamina::gui
