// Ticks and styles of charts.
#include "chart_axes.h"
#include "plain_text.h"

#include <QCategoryAxis>
#include <QGraphicsLayout>
#include <QLegend>
#include <QPalette>
#include <QPen>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

namespace lamina::gui {

double NiceInterval(double range, int count) {
  const double rough = std::max(range, 1e-300) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= rough * 0.999) {
      return step * power;
    }
  }
  return 10 * power;
}

std::vector<double> LogTicks(double low, double high, int count) {
  std::vector<double> ticks;
  const double decades = std::log10(high / low);
  if (decades < 0.7) {  // too narrow for 1, 2, 5: evenly spaced values
    const double step = NiceInterval(high - low, count);
    for (double value = std::ceil(low / step) * step; value <= high * (1 + 1e-12); value += step) {
      ticks.push_back(value);
    }
    return ticks;
  }
  const int every = std::max(1, static_cast<int>(std::ceil(decades / count)));
  const bool between = decades * 3 <= count;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, power) <= high; power += every) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double value = step * std::pow(10.0, power);
      if (value >= low && value <= high && (step == 1.0 || between)) {
        ticks.push_back(value);
      }
    }
  }
  return ticks;
}

QAbstractAxis* MakeAxis(double low, double high, AxisKind kind, const QString& title, int ticks) {
  if (kind == AxisKind::kLogarithmic) {
    auto* axis = new QCategoryAxis;
    axis->setLabelsPosition(QCategoryAxis::AxisLabelsPositionOnValue);
    axis->setRange(low, high);
    axis->setStartValue(low);
    for (const double value : LogTicks(std::pow(10.0, low), std::pow(10.0, high), ticks)) {
      axis->append(QString::number(value, 'g', 4), std::log10(value));
    }
    axis->setTitleText(ChartText(title));
    return axis;
  }
  auto* axis = new QValueAxis;
  const bool whole = kind == AxisKind::kWholeNumbers;
  const double interval = std::max(NiceInterval(high - low, ticks), whole ? 1.0 : 0.0);
  axis->setRange(low, high);
  axis->setTickType(QValueAxis::TicksDynamic);
  axis->setTickAnchor(0);
  axis->setTickInterval(interval);
  axis->setLabelFormat(whole || (interval >= 1 && high < 1e7) ? QStringLiteral("%.0f") : QStringLiteral("%g"));
  axis->setTitleText(ChartText(title));
  return axis;
}

void StyleChart(QChart& chart, const QPalette& palette) {
  chart.setBackgroundBrush(palette.brush(QPalette::Base));
  chart.setBackgroundRoundness(0);
  chart.layout()->setContentsMargins(0, 0, 0, 0);
  chart.setMargins(QMargins(4, 4, 8, 4));
  chart.legend()->setLabelBrush(palette.brush(QPalette::Text));
  chart.setTitleBrush(palette.brush(QPalette::Text));
  QColor grid = palette.color(QPalette::Text);
  grid.setAlpha(40);
  for (QAbstractAxis* axis : chart.axes()) {
    axis->setLabelsBrush(palette.brush(QPalette::Text));
    axis->setTitleBrush(palette.brush(QPalette::Text));
    axis->setGridLineColor(grid);
    axis->setLinePen(QPen(grid));
    QFont bold = axis->titleFont();
    bold.setBold(false);
    axis->setTitleFont(bold);
  }
}

}  // namespace lamina::gui
