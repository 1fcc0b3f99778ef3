// Where a function of one number is least.
#pragma once

#include <cmath>
#include <functional>
#include <utility>

namespace lamina {

/// By golden section (Kiefer 1953), for a function that falls and then grows from `low` to `high`. It is asked twice,
/// and then once a section, each of which leaves 0.62 of the range.
inline double LeastAt(double low, double high, int sections, const std::function<double(double)>& function) {
  const double shrink = (std::sqrt(5.0) - 1) / 2;
  double left = high - shrink * (high - low);
  double right = low + shrink * (high - low);
  double of_left = function(left);
  double of_right = function(right);
  for (int i = 0; i < sections; ++i) {
    if (of_left < of_right) {
      high = std::exchange(right, left);
      of_right = of_left;
      left = high - shrink * (high - low);
      of_left = function(left);
    } else {
      low = std::exchange(left, right);
      of_left = of_right;
      right = low + shrink * (high - low);
      of_right = function(right);
    }
  }
  return (low + high) / 2;
}

}  // namespace lamina
