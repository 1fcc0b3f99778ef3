// A user's program: one layer forward on backend serial, checked by hand; exits with 1 if a number is wrong.
#include <array>
#include <cmath>
#include <cstdio>

#include "lamina/lamina.hpp"
#include "lamina/neuron/problem.h"

int main() {
  const auto backend = lamina::MakeBackend("serial");
  const lamina::Problem problem = lamina::Problem::Parse("dot-tanh:f64:forward:2x1x3");
  const auto layer = backend->Prepare({problem.layer, problem.dtype, problem.batch, false});

  const std::array<double, 6> x{1, 2, 3, -1, 0, 1};
  const std::array<double, 3> weights{0.5, -0.25, 0.125};
  const double bias = 0.25;
  std::array<double, 2> a{};
  layer->Forward({.x = lamina::ViewOf(x.data(), 2, 3),
                  .weights = lamina::ViewOf(weights.data(), 1, 3),
                  .bias = &bias,
                  .a = lamina::ViewOf(a.data(), 2, 1),
                  .z = {}});

  const std::array<double, 2> expected{std::tanh(0.625), std::tanh(-0.125)};
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::fabs(a[i] - expected[i]) > 1e-15) {
      std::printf("output %zu is %.17g, expected %.17g\n", i, a[i], expected[i]);
      return 1;
    }
  }
  std::printf("%s: %s is right\n", backend->Describe().c_str(), problem.Text().c_str());
  return 0;
}
