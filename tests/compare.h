// Comparing matrices with the oracle: exactly, or within a bound per element. Never with one tolerance for
// all.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "lamina/base/matrix_view.h"
#include "tests/oracle.h"

namespace lamina {

/// Bounds c (n + 1) eps Σ|terms| for sums of n terms rounded to the type with `eps`.
inline oracle::Dense SumBounds(double c, int64_t n, double eps, const oracle::Dense& magnitude) {
  oracle::Dense bounds = magnitude;
  for (double& bound : bounds.values) {
    bound *= c * static_cast<double>(n + 1) * eps;
  }
  return bounds;
}

/// Whether `got` may stand for `want`: NaN only for NaN, an infinity only for the same one.
inline bool Matches(double got, double want, double bound) {
  if (std::isnan(want) || std::isnan(got)) {
    return std::isnan(want) && std::isnan(got);
  }
  if (std::isinf(want) || std::isinf(got)) {
    return got == want;
  }
  return std::abs(got - want) <= bound;  // false for a NaN bound
}

/// Every element of `got` against `want`, within `bounds` (null: exactly).
template <class T>
testing::AssertionResult MatchesOracle(const ConstMatrixView& got, const oracle::Dense& want,
                                       const oracle::Dense* bounds = nullptr) {
  if (got.rows != want.rows || got.cols != want.cols || got.dtype != DTypeOf<T>() ||
      (bounds != nullptr && (bounds->rows != want.rows || bounds->cols != want.cols))) {
    return testing::AssertionFailure() << "shape or type: " << got.rows << "x" << got.cols << " for " << want.rows
                                       << "x" << want.cols;
  }
  int64_t wrong = 0;
  testing::AssertionResult result = testing::AssertionFailure();
  for (int64_t i = 0; i < want.rows; ++i) {
    for (int64_t j = 0; j < want.cols; ++j) {
      const double value = static_cast<double>(got.Row<T>(i)[j]);
      const double bound = bounds == nullptr ? 0 : bounds->at(i, j);
      if (!Matches(value, want.at(i, j), bound) && wrong++ < 3) {
        result << "[" << i << "," << j << "] is " << value << ", not " << want.at(i, j) << " (off by "
               << value - want.at(i, j) << ", allowed " << bound << "); ";
      }
    }
  }
  return wrong == 0 ? testing::AssertionSuccess() : result << wrong << " wrong";
}

}  // namespace lamina
