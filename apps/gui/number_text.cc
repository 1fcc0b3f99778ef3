// Rounding and thousands.
#include "number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/text.h"
#include "problem.h"

namespace lamina::gui {
namespace {

constexpr int kDigits = 6;
constexpr double kLargest = 1e15;  // with all its digits
constexpr double kSmallest = 1e-5;

}  // namespace

QString NumberText(double value) {
  if (std::isnan(value)) {
    return QStringLiteral("–");
  }
  const double size = std::abs(value);
  if (size >= kLargest || (size < kSmallest && size > 0)) {
    return QString::number(value, 'g', kDigits);
  }
  const int whole = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  const int leading = size < 1 && size > 0 ? -static_cast<int>(std::floor(std::log10(size))) - 1 : 0;
  QString text = QString::number(value, 'f', std::max(0, kDigits - whole + leading + (size < 1 ? 1 : 0)));
  if (text.contains(QLatin1Char('.'))) {
    while (text.endsWith(QLatin1Char('0'))) {
      text.chop(1);
    }
    if (text.endsWith(QLatin1Char('.'))) {
      text.chop(1);
    }
  }
  const qsizetype point = text.indexOf(QLatin1Char('.'));
  const qsizetype first = text.startsWith(QLatin1Char('-')) ? 1 : 0;
  for (qsizetype at = (point < 0 ? text.size() : point) - 3; at > first; at -= 3) {
    text.insert(at, QLatin1Char(','));
  }
  return text == QStringLiteral("-0") ? QStringLiteral("0") : text;
}

QString PercentText(double share) {
  return std::isnan(share) ? QStringLiteral("–") : FromText(fmt::format("{:.2f} %", 100 * share));
}

QString CountText(int64_t count, const QString& one, const QString& many) {
  return QStringLiteral("%1 %2").arg(FromText(WithThousands(count)), count == 1 ? one : many);
}

}  // namespace lamina::gui
