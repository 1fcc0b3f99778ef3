// Rows of a kernel machine with their columns weighed, and what is measured between them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/buffer.h"

namespace lamina {

/// Rows of x (f64) times a weight a column or times a matrix (KernelMachine::feature_weights), for distances |.|_p. Row
/// by row and column by column: twice the memory.
class KernelRows {
 public:
  KernelRows(ConstMatrixView x, std::span<const double> weights, int p, int threads);

  ConstMatrixView view() const { return {by_row_.As<double>().data(), rows_, width_, width_, DType::kF64}; }
  const double* Row(int64_t i) const { return by_row_.As<double>().data() + i * width_; }
  cpu::ColumnRows columns() const { return {by_column_.As<double>().data(), stride_, rows_, width_}; }
  /// From row i to each of the first `count` rows.
  void Distances(int64_t i, int64_t count, double* out) const;
  /// Distances from rows 32 p to 32 p + 31 to all rows up to these, as a panel of a triangle (cholesky.h).
  void PanelOfDistances(int64_t p, double* out) const;

 private:
  int64_t rows_;
  int64_t width_;
  int64_t stride_;  // KernelSolver::StrideOf(rows)
  int p_;
  AlignedBuffer by_row_;
  AlignedBuffer by_column_;
};

/// `row` times the weights, one a column or a matrix.
void WeighRow(const double* row, std::span<const double> weights, int64_t columns, double* out);

/// The median of the positive distances `between` two of `rows` each. Where there are very many, evenly spread ones
/// count. 1 where none is positive.
double MedianDistance(std::span<const int64_t> rows, const std::function<double(int64_t, int64_t)>& between);

}  // namespace lamina
