// Numbers as the window shows them.
#pragma once

#include <QString>

namespace lamina::gui {

/// Six digits with thousands: "57,322.9", "0.0123457", "16,338,312"; powers of ten beyond a quintillion and below a
/// hundred-thousandth; "–" for NaN.
QString NumberText(double value);
/// A share as "97.22 %", rounded as the program does; "–" for NaN.
QString PercentText(double share);
/// "1 row", "1,024 rows".
QString CountText(int64_t count, const QString& one, const QString& many);

}  // namespace lamina::gui
