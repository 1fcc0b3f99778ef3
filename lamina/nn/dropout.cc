// Masks and products with them.
#include "lamina/nn/dropout.h"

#include <cmath>

#include "lamina/base/random.h"

namespace lamina {

// Two elements a random number, each by 32 of its bits.
void FillDropoutMask(double dropout, uint64_t seed, uint64_t stream, MatrixView mask) noexcept {
  const auto below = static_cast<uint64_t>(std::llround(dropout * 0x1.0p32));
  DispatchFloat(mask.dtype, [&]<class T>(T) {
    Random random(seed, stream);
    const T kept = static_cast<T>(1.0 / (1.0 - dropout));
    T* to = static_cast<T*>(mask.data);
    const int64_t count = mask.rows * mask.cols;
    for (int64_t n = 0; n < count; n += 2) {
      const uint64_t bits = random.Next();
      to[n] = (bits & 0xFFFFFFFFU) < below ? T(0) : kept;
      if (n + 1 < count) {
        to[n + 1] = (bits >> 32) < below ? T(0) : kept;
      }
    }
  });
}

void Multiply(ConstMatrixView a, ConstMatrixView b, MatrixView to) noexcept {
  DispatchFloat(to.dtype, [&]<class T>(T) {
    const T* left = static_cast<const T*>(a.data);
    const T* right = static_cast<const T*>(b.data);
    T* product = static_cast<T*>(to.data);
    for (int64_t n = 0; n < to.rows * to.cols; ++n) {
      product[n] = left[n] * right[n];
    }
  });
}

}  // namespace lamina
