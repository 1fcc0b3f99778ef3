// Symmetric positive systems of kernel machines: the factor, its inverse, answers of rows left out.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "lamina/base/buffer.h"
#include "lamina/rbf/cholesky.h"

namespace lamina {

/// The errors of rows that are left out together, of what systems say: `block` is members × members of A^-1, and
/// element (i, c) of alpha is at c * stride + i. members × outputs to `errors`; NaN where the block is not positive
/// definite.
struct LeftOutTask {
  const double* block = nullptr;
  std::span<const int64_t> members;
  const double* alpha = nullptr;
  int64_t stride = 0;
  int64_t outputs = 0;
};
void SolveLeftOut(const LeftOutTask& task, double* errors);

/// (A) alpha = Y for one matrix after another of the same size, computed in T. With A = L L', all of L^-1 is computed,
/// too: 2/3 n^3 operations, which give the diagonal of A^-1 and any block of it; without L^-1, half. Bits are the same
/// for any number of threads.
template <class T>
class KernelSolverOf {
 public:
  /// Beside a diagonal of 1: what is left of two equal rows is less.
  static constexpr T kLeastPivot = std::is_same_v<T, double> ? T(1e-14) : T(1e-6);

  /// `inverse`: else there is neither InverseDiagonal() nor LeftOut().
  KernelSolverOf(int64_t rows, int64_t outputs, int threads, bool inverse = true);

  /// What it takes.
  static int64_t Bytes(int64_t rows, int64_t outputs, bool inverse = true);

  int64_t rows() const { return factor_.rows(); }
  /// Elements from target to target, and of columns that go with panels: whole panels at least.
  int64_t stride() const { return stride_; }
  static int64_t StrideOf(int64_t rows);

  /// Panel p of A (cholesky.h), of which the elements up to the diagonal are read, and lost.
  T* Panel(int64_t p) { return factor_.Panel(p); }
  /// Element (i, j <= i) there.
  T& At(int64_t i, int64_t j) { return factor_.Panel(0)[TrianglePlace(i, j)]; }

  /// Solves for `targets` (outputs rows of `stride`). False where A, whose diagonal is about 1, is not positive
  /// definite. A stop point a block of columns (lamina/base/stop.h).
  bool Solve(const double* targets);

  // What the last matrix solved gave:
  /// Output c of row i at c * stride + i.
  const double* alpha() const { return alpha_.As<double>().data(); }
  /// A^-1[i][i].
  double InverseDiagonal(int64_t i) const { return diagonal_.As<double>()[static_cast<size_t>(i)]; }
  /// The errors (target less answer) of rows that are left out together, each answered by what all others teach:
  /// (A^-1 of these rows)^-1 alpha. members × outputs to `errors`.
  void LeftOut(std::span<const int64_t> members, double* errors) const;
  /// The errors of row i, answered by what rows before `begin` teach (begin <= i): the sum of L_ij z_j from `begin` to
  /// i, with z = L^-1 Y. There are `outputs` errors; the inverse is not needed.
  void ByEarlier(int64_t i, int64_t begin, double* errors) const;

 private:
  void AlphaByInverse();
  void AlphaBySteps();

  int64_t outputs_;
  int threads_;
  bool has_inverse_;
  int64_t stride_;
  Cholesky<T> factor_;
  AlignedBuffer alpha_;
  AlignedBuffer diagonal_;  // whole panels
};

using KernelSolver = KernelSolverOf<double>;

}  // namespace lamina
