// How much columns count in the distances of a kernel machine, by the slopes of its answers along them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/backend/device_kernels.h"
#include "lamina/rbf/kernel_rows.h"

namespace lamina {

/// A machine's answers at its own rows, as their slopes are taken.
struct AnswerSlopes {
  const KernelRows& rows;
  KernelShape shape;
  const double* alpha;  // output c of row i at c * stride + i, zeros behind
  int64_t outputs;
  std::span<const double> weights;      // of the columns, which `rows` have already: KernelMachine::feature_weights
  std::span<const double> row_weights;  // empty: 1
  int threads;
  DeviceKernels* device = nullptr;  // where the sums are added up; it has these rows
};

/// The mean over rows, by their weights, of the squared slope along each column before it was weighed. It is summed
/// over outputs. Weights are one a column. A row has no slope toward itself.
std::vector<double> SquaredSlopes(const AnswerSlopes& slopes);

/// The next round's weights, one a column: roots of these squares, beside the largest. Empty where the answers depend
/// on no column.
std::vector<double> WeightsOfSlopes(const AnswerSlopes& slopes);

/// The same for p = 2 and all columns together: T, columns × columns, a lower triangle. T T' is the mean of the
/// products of slopes along two columns each, relative to the largest, and a little more on the diagonal. Any other T
/// with the same T T' gives the same distances.
std::vector<double> MatrixOfSlopes(const AnswerSlopes& slopes);

}  // namespace lamina
