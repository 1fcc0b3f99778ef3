// Kernel systems of many rows: a factor in f32, and answers refined until they are those of f64.
#pragma once

#include <cstdint>

#include "lamina/base/buffer.h"
#include "lamina/rbf/cholesky.h"

namespace lamina {

/// A alpha = Y by conjugate gradients in f64 that begin with the factor of A in f32. That takes half the time of a
/// factor in f64. The same bits for any number of threads.
class RefinedSolver {
 public:
  RefinedSolver(int64_t rows, int64_t outputs, int threads);
  static int64_t Bytes(int64_t rows, int64_t outputs);

  /// Panel p of A (cholesky.h), with both halves of the block on the diagonal; it stays.
  double* Panel(int64_t p) const { return matrix_.As<double>().data() + TrianglePlace(p * cpu::kPanelRows, 0); }
  double& At(int64_t i, int64_t j) { return matrix_.As<double>()[static_cast<size_t>(TrianglePlace(i, j))]; }

  /// Solves for `targets` (element (i, c) at c * stride + i), to `alpha` likewise. False where A is not positive
  /// definite, or too near to that for f32. Stop points as Cholesky::Factorise(), and one a step.
  bool Solve(const double* targets, int64_t stride, double* alpha);
  int64_t steps() const { return steps_; }

  /// The errors of rows from `begin` on (target less answer), answered together by what rows before them teach. They
  /// are in the precision of f32: with A = L L', the end of L times that of L' alpha. `alpha`: of Solve(), element
  /// (i, c) at c * stride + i. (rows - begin) × outputs to `errors`.
  void ByEarlier(int64_t begin, const double* alpha, int64_t stride, double* errors) const;

 private:
  bool Factorise();
  void TimesPanel(const double* x, double* y);
  void TimesFew(const double* x, double* y);
  void Times(const double* x, double* y);
  void Precondition(const double* r, double* z);
  bool Refine(double* x, double* r);

  int64_t rows_;
  int64_t outputs_;
  int threads_;
  int64_t panels_;
  int64_t beside_;  // targets of a vector, an element of each a row
  int64_t size_;    // elements of a vector
  int64_t steps_ = 0;
  AlignedBuffer matrix_;
  Cholesky<float> factor_;
  AlignedBuffer vectors_;  // answers, residuals, directions, products, preconditioned, and products of groups
  AlignedBuffer narrow_;   // one in f32
};

}  // namespace lamina
