// Painting a network.
#include "network_picture.h"

#include <QPaintEvent>
#include <QPainter>
#include <algorithm>

namespace lamina::gui {
namespace {

constexpr int kMostDots = 9;  // neurons drawn for a larger layer, with a gap in the middle
constexpr QRgb kInputColour = 0xff8a94a0;
constexpr QRgb kHiddenColour = 0xff1f6fb4;
constexpr QRgb kOutputColour = 0xffd1600a;

// Heights of a layer's dots between 0 and 1; the middle of a large one is left out.
std::vector<double> DotsOf(int64_t count) {
  std::vector<double> dots;
  const auto shown = static_cast<int>(std::clamp<int64_t>(count, 1, kMostDots));
  for (int i = 0; i < shown; ++i) {
    if (count > kMostDots && i == kMostDots / 2) {
      continue;
    }
    dots.push_back((i + 0.5) / shown);
  }
  return dots;
}

}  // namespace

NetworkPicture::NetworkPicture(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Picture of the network"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void NetworkPicture::Set(std::vector<LayerView> layers) {
  layers_ = std::move(layers);
  QString text;
  for (const LayerView& layer : layers_) {
    text += (text.isEmpty() ? QString() : QStringLiteral("; ")) + layer.title + QStringLiteral(": ") + layer.neurons +
            QLatin1Char(' ') + layer.neuron;
  }
  setAccessibleDescription(text);
  update();
}

void NetworkPicture::PaintEdges(QPainter& painter, const std::vector<std::vector<QPointF>>& columns) const {
  QColor colour = palette().color(QPalette::Text);
  colour.setAlpha(38);
  painter.setPen(QPen(colour, 1));
  for (size_t l = 0; l + 1 < columns.size(); ++l) {
    for (const QPointF& from : columns[l]) {
      for (const QPointF& to : columns[l + 1]) {
        painter.drawLine(from, to);
      }
    }
  }
}

void NetworkPicture::PaintText(QPainter& painter, const LayerView& layer, const QRectF& place) const {
  const double line = painter.fontMetrics().height();
  painter.setPen(palette().color(QPalette::Text));
  QFont bold = painter.font();
  const QFont plain = bold;
  bold.setBold(true);
  painter.setFont(bold);
  const auto draw = [&](int row, const QString& text) {
    const QRectF cell(place.left(), place.top() + row * line, place.width(), line);
    painter.drawText(cell, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(cell.width())));
  };
  draw(0, layer.neurons);
  painter.setFont(plain);
  const bool fits = painter.fontMetrics().horizontalAdvance(layer.title) <= place.width();
  const QString number = layer.title.section(QLatin1Char(' '), -1);  // of a hidden layer: what tells it from others
  draw(1, fits ? layer.title : number);
  const QStringList parts = layer.neuron.split(QStringLiteral(" · "));
  for (qsizetype i = 0; i < parts.size(); ++i) {
    draw(2 + static_cast<int>(i), parts[i]);
  }
}

void NetworkPicture::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), palette().brush(QPalette::Base));
  if (layers_.empty()) {
    return;
  }
  const double text_height = painter.fontMetrics().height() * 4.0;
  const QRectF area = QRectF(rect()).adjusted(10, 12, -10, -text_height - 16);
  const double column_width = area.width() / static_cast<double>(layers_.size());
  const double radius = std::clamp(std::min(area.height() / kMostDots * 0.34, column_width * 0.16), 3.0, 14.0);
  std::vector<std::vector<QPointF>> columns;
  for (size_t l = 0; l < layers_.size(); ++l) {
    std::vector<QPointF>& column = columns.emplace_back();
    const double share = std::min<double>(1.0, static_cast<double>(std::max<int64_t>(layers_[l].count, 1)) / kMostDots);
    const double height = area.height() * share;
    for (const double dot : DotsOf(layers_[l].count)) {
      column.emplace_back(area.left() + column_width * (static_cast<double>(l) + 0.5),
                          area.center().y() + height * (dot - 0.5));
    }
  }
  PaintEdges(painter, columns);
  for (size_t l = 0; l < columns.size(); ++l) {
    const QRgb colour = l == 0 ? kInputColour : l + 1 == columns.size() ? kOutputColour : kHiddenColour;
    painter.setBrush(QColor(colour));
    painter.setPen(QPen(palette().color(QPalette::Base), 1.5));
    for (const QPointF& dot : columns[l]) {
      painter.drawEllipse(dot, radius, radius);
    }
    if (layers_[l].count > kMostDots) {  // what is not drawn
      painter.setPen(Qt::NoPen);
      const double x = columns[l].front().x();
      for (const int i : {-1, 0, 1}) {
        painter.drawEllipse(QPointF(x, area.center().y() + i * radius * 0.75), radius * 0.18, radius * 0.18);
      }
    }
    PaintText(painter, layers_[l],
              {area.left() + column_width * static_cast<double>(l), area.bottom() + 8, column_width, text_height});
  }
}

}  // namespace lamina::gui
