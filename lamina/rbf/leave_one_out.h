// Leave-one-out errors of ridge regression for many ridges, from one factorization.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"

namespace lamina {

/// a = Q T Q' for a symmetric matrix a, with T tridiagonal (Householder). It makes (a + ridge I) x = b cost as much as
/// b is long, whatever the ridge.
class Tridiagonal {
 public:
  /// `a` is n × n in f64, both triangles; it is used up. 4 n^3 operations, bound by memory from some 1,000 on.
  Tridiagonal(Matrix a, int threads);

  int64_t size() const { return std::ssize(diagonal_); }
  /// Q', n × n.
  const Matrix& basis() const { return basis_; }

  /// T + ridge I, factorized.
  struct Shifted {
    std::vector<double> pivots;   // n
    std::vector<double> factors;  // n - 1
    bool positive = false;        // definite; else it is not to be used
    /// x = (T + ridge I)^-1 x for `count` columns side by side.
    void Solve(double* x, int64_t count) const;
  };
  Shifted WithRidge(double ridge) const;

 private:
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  Matrix basis_;
};

/// Which of `ridges` leaves the least sum of squares when each row is answered by what all other rows would teach. Rows
/// are hidden activations h (f64, rows × n) and targets (f64, rows × outputs). Sums over all teaching rows are a = sum
/// of h h' and b = sum of h t' (n × outputs). An error is r / (1 - h' (a + ridge I)^-1 h), r being the row's error as
/// taught. -1 where no ridge makes a positive matrix.
int64_t BestRidge(const Tridiagonal& a, ConstMatrixView b, ConstMatrixView h, ConstMatrixView targets,
                  const std::vector<double>& ridges, const Backend& backend);

/// The same from a = h h' (rows × rows) of all rows, where they are fewer than hidden neurons. An error is x / (a +
/// ridge I)^-1[i][i] with x = (a + ridge I)^-1 t.
int64_t BestRidgeOfRows(const Tridiagonal& a, ConstMatrixView targets, const std::vector<double>& ridges);

}  // namespace lamina
