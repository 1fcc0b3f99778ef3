// Activations that a user of the library might bring along: one whose slope follows from a, one that needs z.
#pragma once

#include <array>
#include <cmath>

#include "lamina/neuron/activation.h"

namespace lamina {

struct Softplus {
  static constexpr const char* kName = "my_softplus";
  static constexpr bool kSlopeNeedsInput = false;
  template <class T>
  T Value(T z) const {
    return z > T(30) ? z : std::log1p(std::exp(z));
  }
  template <class T>
  T Slope(T, T a) const {
    return T(1) - std::exp(-a);
  }
};

struct Swish {
  static constexpr const char* kName = "swish";
  static constexpr bool kSlopeNeedsInput = true;
  double beta = 1.0;
  static constexpr std::array<ActivationParameter<Swish>, 1> kParameters{{{"beta", &Swish::beta}}};
  template <class T>
  T Value(T z) const {
    return z / (T(1) + std::exp(T(-beta) * z));
  }
  template <class T>
  T Slope(T z, T a) const {
    return T(beta) * a + (T(1) - T(beta) * a) / (T(1) + std::exp(T(-beta) * z));
  }
};

}  // namespace lamina
