// What a Cholesky factorization (lamina/rbf/cholesky.h) is made of: blocks of 32 rows and 32 columns in vectors, f32
// and f64. A panel is 32 rows, column by column: element (r, c) is at c * 32 + r. An element's bits depend neither on
// the call that computes it nor on its neighbors.
#pragma once

#include <cstdint>

namespace lamina::cpu {

inline constexpr int64_t kPanelRows = 32;

template <class T>
struct FactorTable {
  /// c -= a b', for panels a and b of `depth` columns and c of 32.
  void (*update)(const T* a, const T* b, T* c, int64_t depth) noexcept;
  /// c -= a b, all of 32 columns.
  void (*update_turned)(const T* a, const T* b, T* c) noexcept;
  /// The lower triangle of a block becomes its factor, zeros above it; `inverse` that of the factor. False at a pivot
  /// that is not above `least`.
  bool (*factor)(T* block, T* inverse, T least) noexcept;
  /// c = c inverse', where `inverse` is of a factor.
  void (*times_inverse)(T* c, const T* inverse) noexcept;
  /// c = c inverse.
  void (*times_inverse_turned)(T* c, const T* inverse) noexcept;
  /// sums[r] -= sum over columns c of panel(r, c) x[c * x_step].
  void (*subtract_rows)(const T* panel, int64_t columns, const T* x, int64_t x_step, T* sums) noexcept;
  /// x[c * x_step] -= sum over rows r of panel(r, c) alpha[r].
  void (*subtract_columns)(const T* panel, int64_t columns, const T* alpha, T* x, int64_t x_step) noexcept;
  /// sums[r] = sum over columns of the squares of panel(r, c).
  void (*squares)(const T* panel, int64_t columns, T* sums) noexcept;
};

/// For the best instruction set of this CPU.
template <class T>
const FactorTable<T>& FactorKernels();
template <>
const FactorTable<float>& FactorKernels<float>();
template <>
const FactorTable<double>& FactorKernels<double>();

}  // namespace lamina::cpu
