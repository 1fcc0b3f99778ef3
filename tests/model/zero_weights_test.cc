// Layers whose weights are most often 0, as those of boosted trees: single rows and several, against plain loops.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/model/predictor.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

// Neuron j has weights for `each` inputs that it shares with the neurons beside it; some neurons have none.
Network WithFewWeights(int64_t inputs, int64_t outputs, int64_t each, DType dtype) {
  Network network({{inputs, outputs, Synapse::kDot, "identity", true}}, dtype);
  network.Initialize(Initialization::kGlorotUniform, 3);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t j = 0; j < outputs; ++j) {
      const int64_t first = j / 16 * 7 % inputs;
      for (int64_t k = 0; k < inputs; ++k) {
        const bool has = (k - first + inputs) % inputs < each && j % 11 != 5;
        T& weight = network.Weights(0).Row<T>(j)[k];
        weight = has ? weight : k % 2 == 0 ? T(0) : -T(0);
      }
    }
  });
  return network;
}

void ExpectAsLoops(const Network& network, const Matrix& x) {
  const Predictor predictor(network);
  const int64_t outputs = network.outputs();
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    const auto* const bias = static_cast<const T*>(network.Bias(0));
    Matrix alone(x.rows(), outputs, x.dtype());
    PredictorScratch scratch = predictor.MakeScratch();
    for (int64_t i = 0; i < x.rows(); ++i) {
      predictor.Predict(x.Row<T>(i), alone.Row<T>(i), scratch);
      for (int64_t j = 0; j < outputs; ++j) {
        double sum = static_cast<double>(bias[j]);
        double size = std::abs(sum);
        for (int64_t k = 0; k < x.cols(); ++k) {
          const double term =
              static_cast<double>(network.Weights(0).Row<T>(j)[k]) * static_cast<double>(x.Row<T>(i)[k]);
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(alone.Row<T>(i)[j], sum, 8 * std::numeric_limits<T>::epsilon() * size) << i << ", " << j;
      }
    }
    for (const int64_t at_once : {2, 7, 64}) {
      PredictorScratch room(at_once * predictor.scratch_bytes());
      Matrix together(x.rows(), outputs, x.dtype());
      for (int64_t i = 0; i < x.rows(); i += at_once) {
        predictor.PredictRowsAt(x.Row<T>(i), std::min(at_once, x.rows() - i), together.Row<T>(i), room.data());
      }
      for (int64_t i = 0; i < x.rows(); ++i) {
        ASSERT_EQ(std::memcmp(alone.Row<T>(i), together.Row<T>(i), sizeof(T) * static_cast<size_t>(outputs)), 0)
            << "row " << i << " of " << at_once << " at once";
      }
    }
  });
}

TEST(ZeroWeights, AreNotMultiplied) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t outputs : {1, 5, 15, 16, 17, 64, 131}) {
      for (const int64_t inputs : {8, 40, 333}) {
        for (const int64_t each : {0, 1, 2, 9}) {
          SCOPED_TRACE(fmt::format("{}-{}, {} weights, {}", inputs, outputs, each, DTypeName(dtype)));
          ExpectAsLoops(WithFewWeights(inputs, outputs, each, dtype), RandomMatrix(70, inputs, dtype, 1));
        }
      }
    }
  }
}

// What tells that they are left out at all.
TEST(ZeroWeights, MeetNoInfinity) {
  const Network network = WithFewWeights(200, 64, 3, DType::kF32);
  std::vector<float> x(200, 1.0F), y(64), finite(64);
  const Predictor predictor(network);
  PredictorScratch scratch = predictor.MakeScratch();
  predictor.Predict(x.data(), finite.data(), scratch);
  x[150] = std::numeric_limits<float>::infinity();
  predictor.Predict(x.data(), y.data(), scratch);
  EXPECT_EQ(y, finite);
  x[0] = std::nanf("");  // which the first neuron has a weight for
  predictor.Predict(x.data(), y.data(), scratch);
  EXPECT_TRUE(std::isnan(y[0]));
}

}  // namespace
}  // namespace lamina
