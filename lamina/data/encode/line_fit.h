// Lines by least squares: targets as sums of columns, each times a weight, and a constant.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/buffer.h"

namespace lamina {

class LineFit {
 public:
  /// By the rows begin, begin + step, ... of `x` (rows × columns, f64, of about variance 1) and `y` (rows × targets,
  /// f64). A ridge of 1e-6 a row lets columns be sums of others.
  LineFit(const Matrix& x, const Matrix& y, int64_t begin = 0, int64_t step = 1);

  /// The answer to a row: `y` has a number a target.
  void Answer(const double* x, double* y) const;
  /// targets × (columns + 1), f64; the constant comes last.
  const Matrix& weights() const { return weights_; }

 private:
  Matrix weights_;
};

/// The squared error of each target, summed over the rows. Every second row makes a half; each half is answered by the
/// line of the other.
std::vector<double> SquaredErrorsOfHalves(const Matrix& x, const Matrix& y);

}  // namespace lamina
