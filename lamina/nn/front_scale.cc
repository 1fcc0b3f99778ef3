// Two loops over the first layer's weights.
#include "lamina/nn/front_scale.h"

#include <algorithm>

namespace lamina {

void FoldFrontScale(ConstMatrixView weights, const void* scale, MatrixView folded) noexcept {
  DispatchFloat(weights.dtype, [&]<class T>(T) {
    const T* s = static_cast<const T*>(scale);
    for (int64_t j = 0; j < weights.rows; ++j) {
      const T* w = weights.Row<T>(j);
      T* f = folded.Row<T>(j);
      for (int64_t i = 0; i < weights.cols; ++i) {
        f[i] = w[i] * s[i];
      }
    }
  });
}

void SplitFrontScaleGradient(ConstMatrixView weights, const void* scale, MatrixView gradient,
                             void* scale_gradient) noexcept {
  DispatchFloat(weights.dtype, [&]<class T>(T) {
    const T* s = static_cast<const T*>(scale);
    T* ds = static_cast<T*>(scale_gradient);
    std::fill_n(ds, weights.cols, T(0));
    for (int64_t j = 0; j < weights.rows; ++j) {
      const T* w = weights.Row<T>(j);
      T* g = gradient.Row<T>(j);
      for (int64_t i = 0; i < weights.cols; ++i) {
        ds[i] += w[i] * g[i];
        g[i] *= s[i];
      }
    }
  });
}

}  // namespace lamina
