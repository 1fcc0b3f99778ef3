// Slopes that a forward pass keeps for the input gradient of the layer above, beside those found from z afterwards.
// How exact they are: activation_bounds_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "lamina/backend/keeps_slopes.h"
#include "tests/conformance/configurations.h"

namespace lamina::conformance {
namespace {

template <class T>
Matrix RandomMatrix(int64_t rows, int64_t cols, double zeros, std::mt19937_64& random) {
  std::uniform_real_distribution<double> even(-1, 1);
  Matrix matrix(rows, cols, DTypeOf<T>());
  for (int64_t i = 0; i < rows; ++i) {
    std::generate_n(matrix.Row<T>(i), cols,
                    [&] { return std::abs(even(random)) < zeros ? T(0) : static_cast<T>(2 * even(random)); });
  }
  return matrix;
}

struct Sizes {
  int64_t batch, outputs, inputs;
  double zeros = 0;
};

template <class T>
void CheckSlopes(const Backend& backend, const Activation& activation, const Sizes& size) {
  SCOPED_TRACE(testing::Message() << activation.Text() << " " << DTypeName(DTypeOf<T>()) << " " << size.batch << " x "
                                  << size.outputs << " x " << size.inputs);
  std::mt19937_64 random(5);
  const DType dtype = DTypeOf<T>();
  const LayerSpec below{size.inputs, size.outputs, Synapse::kDot, activation, true};
  const LayerSpec above{size.outputs, 9, Synapse::kDot, Activation(), false};
  const auto layer = backend.Prepare({below, dtype, size.batch, true});
  const auto next = backend.Prepare({above, dtype, size.batch, true});
  auto* const keeps = dynamic_cast<KeepsSlopes*>(layer.get());
  auto* const times = dynamic_cast<KeepsSlopes*>(next.get());
  ASSERT_TRUE(keeps != nullptr && times != nullptr);
  ASSERT_TRUE(keeps->FindsSlopes() && !times->FindsSlopes());

  const Matrix x = RandomMatrix<T>(size.batch, size.inputs, size.zeros, random);
  const Matrix weights = RandomMatrix<T>(size.outputs, size.inputs, 0, random);
  const Matrix bias = RandomMatrix<T>(1, size.outputs, 0, random);
  const auto results = [&] { return Matrix(size.batch, size.outputs, dtype); };
  Matrix a = results(), z = results(), a_beside = results(), slopes = results();
  layer->Forward({x.view(), weights.view(), bias.data(), a.view(), z.view()});
  keeps->ForwardKeeping({x.view(), weights.view(), bias.data(), a_beside.view()}, slopes.view());

  InputGradientArgs back;
  const Matrix delta = RandomMatrix<T>(size.batch, above.outputs, 0, random);
  const Matrix weights_above = RandomMatrix<T>(above.outputs, above.inputs, 0, random);
  Matrix plain = results(), times_slopes = results(), by_z = results();
  back.delta = delta.view();
  back.weights = weights_above.view();
  back.x = a.view();
  back.out = plain.view();
  next->InputGradient(back);
  back.out = times_slopes.view();
  times->InputGradientTimes(back, slopes.view());
  back.previous = &activation;
  back.previous_z = z.view();
  back.out = by_z.view();
  next->InputGradient(back);

  const T eps = std::numeric_limits<T>::epsilon();
  constexpr double kFar = sizeof(T) == 4 ? 1e-32 : 1e-256;  // below 0, where a sigmoid is kept finite
  for (int64_t i = 0; i < size.batch; ++i) {
    for (int64_t j = 0; j < size.outputs; ++j) {
      const T value = a.Row<T>(i)[j];
      const T slope = slopes.Row<T>(i)[j];
      const T scale = std::abs(value) + std::abs(z.Row<T>(i)[j] * slope);
      EXPECT_NEAR(a_beside.Row<T>(i)[j], value, 8 * eps * scale + kFar) << i << " " << j;
      EXPECT_NEAR(times_slopes.Row<T>(i)[j], by_z.Row<T>(i)[j], 12 * eps * std::abs(plain.Row<T>(i)[j]))
          << i << " " << j;
      EXPECT_EQ(times_slopes.Row<T>(i)[j], plain.Row<T>(i)[j] * slope) << i << " " << j;
    }
  }
}

// Dot products and tiles, whole ones and not, weights packed and samples, and zeros that are left out.
constexpr Sizes kSizes[] = {{1, 1, 5},    {1, 70, 65},   {7, 130, 33},      {12, 23, 9},        {12, 24, 9},
                            {17, 65, 70}, {40, 128, 64}, {130, 130, 65, 0}, {130, 96, 70, 0.5}, {130, 17, 3, 0.5}};

TEST(KeptSlopes, OfEveryActivationThatReadsItsInput) {
  for (const std::string& target : CpuTargets()) {
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(testing::Message() << target << " " << threads);
      const Chosen cpu({"cpu", "own", target, threads});
      int kept = 0;
      for (const std::string& name : ActivationNames()) {
        const Activation activation = Activation::Parse(name);
        if (!activation.slope_needs_input()) {
          continue;
        }
        ++kept;
        for (const Sizes& size : kSizes) {
          CheckSlopes<float>(cpu.get(), activation, size);
          CheckSlopes<double>(cpu.get(), activation, size);
        }
      }
      EXPECT_GE(kept, 3);
    }
  }
}

}  // namespace
}  // namespace lamina::conformance
