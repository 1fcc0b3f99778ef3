// Symmetric systems of ridge regression: Cholesky on the backends' own products, and the choice of the ridge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"

namespace lamina {

/// Columns [begin, begin + count) of a view.
template <bool kConst>
BasicMatrixView<kConst> Columns(BasicMatrixView<kConst> matrix, int64_t begin, int64_t count) {
  using Byte = std::conditional_t<kConst, const std::byte, std::byte>;
  matrix.data = static_cast<Byte*>(matrix.data) + begin * DTypeSize_bytes(matrix.dtype);
  matrix.cols = count;
  return matrix;
}

/// out = x w', all f64: `out` is rows of x × rows of w.
void MultiplyTransposed(ConstMatrixView x, ConstMatrixView w, MatrixView out, const Backend& backend);

/// How far a factorization came.
struct Factorisation {
  bool complete = false;
  int64_t failed_at = -1;  // the first pivot that is not positive
  double condition = 0;    // about: the square of the ratio of the largest to the smallest pivot so far
};

/// Cholesky: the lower triangle of the symmetric f64 matrix `a` (n × n) becomes L with L L' = a. What is above its
/// diagonal is neither read nor written. `backend` computes the products of blocks of columns.
Factorisation FactoriseCholesky(MatrixView a, const Backend& backend);

/// Solves L L' x = b for the columns of `b` (n × count, f64), in place.
void SolveCholesky(ConstMatrixView factor, MatrixView b);

}  // namespace lamina
