// The number that stands for "none" and "missing".
#pragma once

#include <limits>

namespace lamina {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace lamina
