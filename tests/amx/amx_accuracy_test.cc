// How good sums on AMX tiles are where an operand is the sum of bf16 numbers.
#include <gtest/gtest.h>

#include <limits>

#include "lamina/base/convert.h"
#include "tests/amx/amx_checks.h"

namespace lamina::conformance {
namespace {

// f32 as two bf16 each: what is dropped is 2^-16 of a factor, both ways, and the product of two rests. As three each:
// no more than what f32 itself rounds of a product.
void CheckBound(const Shape& shape, Precision precision, double roundings, double dropped) {
  SCOPED_TRACE(testing::Message() << shape.batch << "x" << shape.outputs << "x" << shape.inputs);
  const std::unique_ptr<Backend> amx = amx_emulated::MakeBackend({.threads = 2});
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const auto wide = [&](int64_t rows, int64_t cols) {  // magnitudes over 12 decades
    Dense m(rows, cols);
    for (double& value : m.values) {
      value = static_cast<double>(static_cast<float>(normal(random) * std::exp(2.5 * normal(random))));
    }
    return m;
  };
  const Dense x = wide(shape.batch, shape.inputs);
  const Dense w = wide(shape.outputs, shape.inputs);
  const Dense delta = wide(shape.batch, shape.outputs);
  Guarded<float> xs(x, 1), ws(w, 0), deltas(delta, 2), a(Dense(shape.batch, shape.outputs), 0);
  Guarded<float> out(Dense(shape.batch, shape.inputs), 0), gradient(Dense(shape.outputs, shape.inputs), 0);
  const std::unique_ptr<PreparedLayer> layer = amx->Prepare(RequestOf(shape, precision));
  const auto expect = [&](Guarded<float>& got, const oracle::Sums& want, int64_t terms, const char* what) {
    Dense bounds = SumBounds(roundings, terms, std::numeric_limits<float>::epsilon(), want.magnitude);
    for (size_t i = 0; i < bounds.values.size(); ++i) {
      bounds.values[i] += dropped * want.magnitude.values[i];
    }
    EXPECT_TRUE(MatchesOracle<float>(got.view(), want.value, &bounds)) << what;
  };
  layer->Forward({xs.view(), ws.view(), nullptr, a.view(), {}});
  expect(a, oracle::Forward(oracle::Synapse(), x, w, {}), shape.inputs, "forward");
  InputGradientArgs input;
  input.delta = deltas.view();
  input.weights = ws.view();
  input.x = xs.view();
  input.out = out.view();
  layer->InputGradient(input);
  expect(out, oracle::InputGradient(oracle::Synapse(), {delta, x, w, {}}), shape.outputs, "input gradient");
  layer->WeightGradient({xs.view(), deltas.view(), {ws.data(), gradient.data()}, {}, nullptr});
  expect(gradient, oracle::DotWeightGradient(x, delta), shape.batch, "weight gradient");
}

TEST_F(AmxLayer, SumsAreWithinTheirBounds) {
  for (const Shape& shape : kShapes) {
    CheckBound(shape, Precision::kFast, 3, 3 * 0x1p-16);
    CheckBound(shape, Precision::kBFloat16x3, 1, 0x1p-24);
  }
}

// What is left of such a number beside its first part is no number; other samples are as they were.
TEST_F(AmxLayer, SumsOfInfinitiesAreNotANumber) {
  const Shape shape{16, 24, 40};
  for (const Precision precision : PrecisionsOfParts(false)) {
    for (const double bad : {static_cast<double>(INFINITY), static_cast<double>(std::numeric_limits<float>::max())}) {
      Dense x(shape.batch, shape.inputs, 1);
      x.at(3, 39) = bad;
      Guarded<float> xs(x, 0), ws(Dense(shape.outputs, shape.inputs, 1), 0), a(Dense(shape.batch, shape.outputs), 0);
      amx_emulated::MakeBackend({.threads = 1})
          ->Prepare(RequestOf(shape, precision))
          ->Forward({xs.view(), ws.view(), nullptr, a.view(), {}});
      EXPECT_TRUE(std::isnan(a.view().Row<float>(3)[23]));
      EXPECT_EQ(a.view().Row<float>(2)[23], 40);
    }
  }
}

// A rest below the least normal number is 0 for the instructions: an error of 2^-126 of each factor, not of the sum.
TEST_F(AmxLayer, SumsOfTinyNumbersLoseTheirRests) {
  const Shape shape{16, 24, 40};
  const float least = std::numeric_limits<float>::min();
  for (const float x_value : {3 * least, 1.2345F * least, 0.75F * least}) {
    Dense x(shape.batch, shape.inputs);
    Dense w(shape.outputs, shape.inputs);
    std::fill(x.values.begin(), x.values.end(), static_cast<double>(x_value));
    std::fill(w.values.begin(), w.values.end(), 1.0);
    const double want = static_cast<double>(x_value) * 40;
    for (const Precision precision : PrecisionsOfParts(false)) {
      Guarded<float> xs(x, 0), ws(w, 0), a(Dense(shape.batch, shape.outputs), 0);
      amx_emulated::MakeBackend({.threads = 1})
          ->Prepare(RequestOf(shape, precision))
          ->Forward({xs.view(), ws.view(), nullptr, a.view(), {}});
      EXPECT_NEAR(static_cast<double>(a.view().Row<float>(15)[23]), want, 40.0 * static_cast<double>(least));
    }
  }
}

// An operand of f16 is the sum of two bf16 numbers, wholly: over all of its range.
TEST_F(AmxLayer, HalvesKeepTheirDigits) {
  std::mt19937 random(5);
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(testing::Message() << shape.batch << "x" << shape.outputs << "x" << shape.inputs);
    const auto any = [&](int64_t rows, int64_t cols) {  // of every exponent, denormal numbers among them
      Dense m(rows, cols);
      for (double& value : m.values) {
        Float16 half;
        do {
          half.bits = static_cast<uint16_t>(random());
        } while ((half.bits & 0x7C00U) == 0x7C00U);
        value = static_cast<double>(static_cast<float>(half));
      }
      return m;
    };
    const Dense x = any(shape.batch, shape.inputs);
    const Dense w = any(shape.outputs, shape.inputs);
    Guarded<Float16> xs(x, 1), ws(w, 2);
    Guarded<float> a(Dense(shape.batch, shape.outputs), 0);
    LayerPlanRequest request{{shape.inputs, shape.outputs, Synapse::kDot, "identity", false}, DType::kF16, shape.batch};
    request.precision = Precision::kBFloat16x3;
    const OnTiles on_tiles;
    amx_emulated::MakeBackend({.threads = 2})->Prepare(request)->Forward({xs.view(), ws.view(), nullptr, a.view()});
    EXPECT_TRUE(on_tiles.Is(true));
    const oracle::Sums sums = oracle::Forward(oracle::Synapse(), x, w, {});
    const Dense bounds = SumBounds(1, shape.inputs, std::numeric_limits<float>::epsilon(), sums.magnitude);
    EXPECT_TRUE(MatchesOracle<float>(a.view(), sums.value, &bounds));
  }
}

}  // namespace
}  // namespace lamina::conformance
