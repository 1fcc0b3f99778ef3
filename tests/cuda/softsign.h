// A user's activation, known to the oracle as "softsign", on every device.
#pragma once

#include <cmath>

#include "lamina/neuron/activation.h"

namespace lamina {

struct Softsign {
  static constexpr const char* kName = "softsign";
  static constexpr bool kSlopeNeedsInput = true;
  template <class T>
  LAMINA_HD T Value(T z) const {
    return z / (T(1) + std::abs(z));
  }
  template <class T>
  LAMINA_HD T Slope(T z, T) const {
    return T(1) / ((T(1) + std::abs(z)) * (T(1) + std::abs(z)));
  }
};

/// With loops for the GPU where lamina is built for one.
Activation SoftsignOnDevice();

namespace cuda_emulated {
Activation SoftsignOnDevice();
}  // namespace cuda_emulated

}  // namespace lamina
