// What systems of kernel machines are made of: kernels and slopes of rows by the tile of distances, in f64.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/product.h"
#include "lamina/backend/kernel_shape.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// A square matrix of `rows` against themselves.
struct BlockRows {
  Operand<double> rows;
  int64_t count = 0;
  int64_t columns = 0;
  double* out = nullptr;  // count rows, `stride` apart
  int64_t out_stride = 0;
};

/// The lower triangle of the kernel, `diagonal` in the place of its diagonal. What is above it is left undefined.
void LaunchKernelBlocks(Device& device, const BlockRows& blocks, const KernelShape& shape, const double* diagonal);
/// out(i, m) = roots[i] w_im alpha[m], with w as DeviceSlopes has it.
void LaunchSlopeWeights(Device& device, const BlockRows& blocks, const KernelShape& shape, const double* alpha,
                        const double* roots);
/// out[j * columns + k] = sum over rows of rows[i][j] rows[i][k]; or adds it to what is there.
void LaunchColumnProducts(Device& device, const Operand<double>& rows, int64_t count, int64_t columns, bool add,
                          double* out);
/// out[i] = matrix[i * stride + i].
void LaunchDiagonal(Device& device, const double* matrix, int64_t stride, int64_t count, double* out);

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
