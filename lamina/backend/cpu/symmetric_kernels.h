// What kernel machines (lamina/rbf/kernel_solver.h) compute with, in f64: products of rows, distances between rows,
// kernels of them, slopes. An element's bits depend neither on which call computes it nor on what stands beside it.
#pragma once

#include <cstdint>

#include "lamina/backend/kernel_shape.h"

namespace lamina::cpu {

/// Rows that SymmetricTable::products reads are that long, with zeros behind.
inline constexpr int64_t kProductStep = 8;

/// c = a b', or c - a b'. Rows of `a` (m) and `b` (n) have k numbers, a multiple of kProductStep.
struct ProductTask {
  const double* a = nullptr;
  int64_t a_stride = 0;
  const double* b = nullptr;
  int64_t b_stride = 0;
  double* c = nullptr;
  int64_t c_stride = 0;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool subtract = false;
};

/// Rows beside each other, column by column: column j at `columns` + j * stride.
struct ColumnRows {
  const double* columns = nullptr;
  int64_t stride = 0;
  int64_t rows = 0;
  int64_t width = 0;  // columns
};

struct SymmetricTable {
  void (*products)(const ProductTask&) noexcept;
  /// Rows (count of `stride`) times an upper triangle, in place. Both have `width` columns, a multiple of kProductStep.
  /// Below the diagonal, only the rest of its steps is read; it must hold zeros.
  void (*times_triangle)(double* rows, int64_t stride, int64_t count, const double* triangle, int64_t triangle_stride,
                         int64_t width) noexcept;
  /// out[i] = |row - x_i|_p of the first `count` rows of x.
  void (*distances)(const double* row, const ColumnRows& x, int64_t count, int p, double* out) noexcept;
  /// out[i] = the kernel at the distance d[i]; out may be d.
  void (*kernels)(const double* d, int64_t n, const KernelShape&, double* out) noexcept;
  /// w[i] = (d/scale)^power kernel(d) / d^p, 0 up to d = 1e-9. The kernel's slope along a column is -power w times the
  /// sign (p = 1) or the size (p = 2) of the difference there. w may be d.
  void (*slope_weights)(const double* d, int64_t n, const KernelShape&, double* w) noexcept;
  /// out[j] = sum over outputs c of (sum over rows i of w[i] alpha_c[i] t(row[j] - x_i[j]))^2. t is the sign or the
  /// number itself; alpha_c is at alpha + c * x.stride.
  void (*squared_slopes)(const double* row, const ColumnRows& x, const double* w, const double* alpha, int64_t outputs,
                         int p, double* out) noexcept;
};

/// For the best instruction set of this CPU.
const SymmetricTable& SymmetricKernels();

}  // namespace lamina::cpu
