// Lines by least squares: targets as sums of columns, each times a weight, and a constant.
#pragma once

#include <cstdint>
#include <optional>

#include "lamina/base/buffer.h"

namespace lamina {

class LineFit {
 public:
  /// By the rows begin, begin + step, ... of `x` (rows × columns, f64, of about variance 1) and `y` (rows × targets,
  /// f64). `ridge` (above 0) times the squared weights, but for the constant, is added to the squared error. Not given,
  /// it is a millionth of the rows, which lets columns be sums of others.
  LineFit(const Matrix& x, const Matrix& y, int64_t begin = 0, int64_t step = 1, std::optional<double> ridge = {});

  /// The answer to a row: `y` has a number a target.
  void Answer(const double* x, double* y) const;
  /// targets × (columns + 1), f64; the constant comes last.
  const Matrix& weights() const { return weights_; }

 private:
  Matrix weights_;
};

/// The squared errors (rows × targets, f64). Every second row makes a half; each half is answered by the line of the
/// other.
Matrix SquaredErrorsOfHalves(const Matrix& x, const Matrix& y, std::optional<double> ridge = {});

}  // namespace lamina
