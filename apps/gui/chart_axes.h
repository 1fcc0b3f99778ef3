// Axes with readable ticks: 1, 2 and 5 times powers of ten, linear or logarithmic.
#pragma once

#include <QAbstractAxis>
#include <QChart>
#include <QString>
#include <vector>

namespace lamina::gui {

/// The distance between ticks, 1, 2 or 5 times a power of ten, that gives about `count` of them.
double NiceInterval(double range, int count);

/// Positions of the ticks of a logarithmic axis from `low` to `high` (both positive), at most about `count`.
std::vector<double> LogTicks(double low, double high, int count);

enum class AxisKind { kNumbers, kWholeNumbers, kLogarithmic };

/// An axis from low to high. Logarithmic ones are for points that are drawn at log10 of their value, as are low and
/// high; whole numbers have no ticks between them.
QAbstractAxis* MakeAxis(double low, double high, AxisKind kind, const QString& title, int ticks);

/// Fonts and colors of a chart that follow the window's palette.
void StyleChart(QChart& chart, const QPalette& palette);

}  // namespace lamina::gui
