// Painting a confusion matrix.
#include "confusion_view.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "problem.h"

namespace lamina::gui {
namespace {

constexpr double kSmallestTextCell = 20;
constexpr double kLargestCell = 64;

}  // namespace

ConfusionView::ConfusionView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("confusion"));
  setAccessibleName(tr("Confusion matrix"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ConfusionView::Set(const ClassificationMetrics& metrics) {
  metrics_ = metrics;
  QStringList parts;
  for (const ClassMetrics& row : metrics.classes) {
    parts << tr("%1: %2 rows, recall %3").arg(FromText(row.name)).arg(row.support).arg(row.recall, 0, 'f', 3);
  }
  setAccessibleDescription(parts.join(QStringLiteral("; ")));
  update();
}

ConfusionView::Grid ConfusionView::Layout(const QFontMetrics& metrics) const {
  const auto classes = static_cast<double>(metrics_.classes.size());
  double names = 0;
  for (const ClassMetrics& row : metrics_.classes) {
    names = std::max<double>(names, metrics.horizontalAdvance(FromText(row.name)));
  }
  const double line = metrics.height();
  const double left = std::min(names, 110.0) + 14 + line;
  const double top = 2 * line + 12;
  const double cell =
      std::clamp(std::min((width() - left - 8) / classes, (height() - top - 8) / classes), 1.0, kLargestCell);
  return {QRectF(left, top, cell * classes, cell * classes), cell};
}

void ConfusionView::PaintCells(QPainter& painter, const Grid& grid) const {
  const bool dark = palette().color(QPalette::Base).lightness() < 128;
  const QColor empty = palette().color(QPalette::Base);
  for (size_t i = 0; i < metrics_.confusion.size(); ++i) {
    const std::vector<int64_t>& row = metrics_.confusion[i];
    const double total = std::max<double>(1, static_cast<double>(metrics_.classes[i].support));
    for (size_t j = 0; j < row.size(); ++j) {
      const double share = std::sqrt(static_cast<double>(row[j]) / total);
      const QColor full(i == j ? 0xff1f6fb4 : 0xffc8440f);
      const auto mix = [&](int from, int to) { return static_cast<int>(from + share * (to - from)); };
      const QColor colour(mix(empty.red(), full.red()), mix(empty.green(), full.green()),
                          mix(empty.blue(), full.blue()));
      const QRectF cell(grid.cells.left() + grid.cell * static_cast<double>(j),
                        grid.cells.top() + grid.cell * static_cast<double>(i), grid.cell, grid.cell);
      painter.fillRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), colour);
      if (grid.cell >= kSmallestTextCell && row[j] > 0) {
        painter.setPen(colour.lightness() < 150 || dark ? Qt::white : Qt::black);
        painter.drawText(cell, Qt::AlignCenter, QString::number(row[j]));
      }
    }
  }
  QColor frame = palette().color(QPalette::Text);
  frame.setAlpha(90);
  painter.setPen(frame);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(grid.cells);
}

void ConfusionView::PaintNames(QPainter& painter, const Grid& grid) const {
  const QFontMetrics metrics = painter.fontMetrics();
  const double line = metrics.height();
  painter.setPen(palette().color(QPalette::Text));
  const bool every = grid.cell >= line * 0.9;
  for (size_t i = 0; every && i < metrics_.classes.size(); ++i) {
    const QString name = FromText(metrics_.classes[i].name);
    const double at = grid.cell * static_cast<double>(i);
    painter.drawText(QRectF(line + 4, grid.cells.top() + at, grid.cells.left() - line - 12, grid.cell),
                     Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(name, Qt::ElideRight, static_cast<int>(grid.cells.left() - line - 12)));
    painter.drawText(QRectF(grid.cells.left() + at, line + 4, grid.cell, line), Qt::AlignCenter,
                     metrics.elidedText(name, Qt::ElideRight, static_cast<int>(grid.cell)));
  }
  painter.drawText(QRectF(grid.cells.left(), 0, std::max(grid.cells.width(), 120.0), line), Qt::AlignCenter,
                   tr("predicted"));
  painter.save();
  painter.translate(0, grid.cells.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-100, 0, 200, line), Qt::AlignCenter, tr("true"));
  painter.restore();
}

void ConfusionView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), palette().brush(QPalette::Base));
  if (metrics_.classes.empty()) {
    return;
  }
  const Grid grid = Layout(painter.fontMetrics());
  PaintCells(painter, grid);
  PaintNames(painter, grid);
}

bool ConfusionView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && !metrics_.classes.empty()) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const Grid grid = Layout(fontMetrics());
    const QPointF at = (QPointF(help->pos()) - grid.cells.topLeft()) / grid.cell;
    const auto row = static_cast<size_t>(std::max(0.0, at.y()));
    const auto column = static_cast<size_t>(std::max(0.0, at.x()));
    if (grid.cells.contains(help->pos()) && row < metrics_.classes.size() && column < metrics_.classes.size()) {
      QToolTip::showText(help->globalPos(),
                         tr("%1 rows of “%2” predicted as “%3”")
                             .arg(metrics_.confusion[row][column])
                             .arg(FromText(metrics_.classes[row].name), FromText(metrics_.classes[column].name)));
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace lamina::gui
