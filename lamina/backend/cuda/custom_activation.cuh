// A user's own activation on a GPU as well: in a .cu file of the user's program,
//   lamina::Activation softsign = lamina::cuda::CustomActivation<Softsign>();
// where the members of Softsign are marked LAMINA_HD. The program links lamina's static library: a kernel of the
// program is not known to the CUDA runtime inside a shared one ("invalid device function").
#pragma once

#include "lamina/backend/cuda/whole_batch.cuh"
#include "lamina/backend/cuda/whole_batch.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

template <class F, class T>
__global__ void CustomValueKernel(F formula, Rows<T> a, int64_t rows, int64_t cols) {
  for (int64_t n = GlobalThread(); n < rows * cols; n += GlobalThreads()) {
    T& at = a.At(n / cols, n % cols);
    at = formula.Value(at);
  }
}

template <class F, class T>
__global__ void CustomSlopeKernel(F formula, Rows<const T> z, Rows<const T> a, Rows<T> g, int64_t rows, int64_t cols) {
  for (int64_t n = GlobalThread(); n < rows * cols; n += GlobalThreads()) {
    const int64_t i = n / cols;
    const int64_t j = n % cols;
    g.At(i, j) *= formula.Slope(z.data == nullptr ? T(0) : z.At(i, j), a.At(i, j));
  }
}

/// Activation::Custom with its loops on the device.
template <class F>
Activation CustomActivation(F formula = {}) {
  static constexpr int kThreads = 256;
  static constexpr auto grid = [](int64_t count) {
    const int64_t blocks = (count + kThreads - 1) / kThreads;
    return dim3{static_cast<unsigned>(blocks < 4096 ? blocks : 4096), 1, 1};
  };
  static constexpr Activation::DeviceLoops kLoops{
      [](const Activation& self, void* device, MatrixView a) {
        DispatchFloat(a.dtype, [&]<class T>(T) {
          static_cast<Device*>(device)->Launch("custom activation", &CustomValueKernel<F, T>, grid(a.rows * a.cols),
                                               kThreads, 0, self.FormulaOf<F>(), RowsOf<T>(a), a.rows, a.cols);
        });
      },
      [](const Activation& self, void* device, ConstMatrixView z, ConstMatrixView a, MatrixView g) {
        DispatchFloat(g.dtype, [&]<class T>(T) {
          static_cast<Device*>(device)->Launch("custom slope", &CustomSlopeKernel<F, T>, grid(g.rows * g.cols),
                                               kThreads, 0, self.FormulaOf<F>(), RowsOf<T>(z), RowsOf<T>(a),
                                               RowsOf<T>(g), g.rows, g.cols);
        });
      }};
  return Activation::Custom<F>(formula).WithDeviceLoops(&kLoops);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
