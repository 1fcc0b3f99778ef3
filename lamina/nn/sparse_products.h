// Products of sparse rows with weights that are laid out inputs × outputs, for a first layer that is never dense.
#pragma once

#include <cstdint>

#include "lamina/base/matrix_view.h"
#include "lamina/data/encode/sparse_rows.h"

namespace lamina {

/// sums = rows [begin, begin + sums.rows) × weights. `weights`: f64, inputs × outputs, densely stored; `sums`: rows ×
/// outputs of rows.dtype(). The same bits on any number of threads. Needs rows.keeps_zeros().
void SparseForward(const SparseRows& rows, int64_t begin, ConstMatrixView weights, MatrixView sums,
                   int threads) noexcept;

/// gradient += scale × transposed rows [begin, begin + delta.rows) × delta. `delta`: rows × outputs of rows.dtype();
/// `gradient`: f64, inputs × outputs, densely stored. The same bits on any number of threads. Needs rows.keeps_zeros().
void SparseGradient(const SparseRows& rows, int64_t begin, ConstMatrixView delta, double scale, MatrixView gradient,
                    int threads) noexcept;

}  // namespace lamina
