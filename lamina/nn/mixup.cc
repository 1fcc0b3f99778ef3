// Drawn by rejection.
#include "lamina/nn/mixup.h"

#include <cmath>

#include "lamina/base/random.h"

namespace lamina {

// Joehnk 1964. At least half of all pairs are taken, with a small alpha nearly all. Their powers are then too small for
// a double, so shares come from the logarithms.
double MixupShare(double alpha, uint64_t seed, uint64_t stream) {
  Random random(seed, stream);
  while (true) {
    const double u = random.Uniform(0, 1);
    const double v = random.Uniform(0, 1);
    const double a = std::pow(u, 1 / alpha);
    const double b = std::pow(v, 1 / alpha);
    if (a + b > 0 && a + b <= 1) {
      return a / (a + b);
    }
    if (a + b == 0 && u > 0 && v > 0) {
      return 1 / (1 + std::exp((std::log(v) - std::log(u)) / alpha));
    }
  }
}

}  // namespace lamina
