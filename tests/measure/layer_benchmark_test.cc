// Tests of the layer benchmark: every synapse and pass verifies, and the limits are plausible.
#include "lamina/measure/layer_benchmark.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "lamina/measure/issue_limit.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

TEST(LayerBenchmark, EverySynapseAndPassIsVerified) {
  for (const char* synapse :
       {"dot-tanh", "l1-triangle(radius=9)-nobias", "l2-gaussian(radius=4)-nobias", "l2sq-identity-bias"}) {
    for (const char* pass : {"forward", "input_gradient", "weight_gradient"}) {
      for (const std::string dtype : {"f32", "f64", "f32-fast", "bf16", "f16", "u8", "i8", "i16", "i32", "i64"}) {
        if (std::string_view(pass) != "forward" && dtype != "f32" && dtype != "f64") {
          continue;
        }
        const Problem problem = Problem::Parse(std::string(synapse) + ":" + dtype + ":" + pass + ":37x29x53");
        const LayerBenchmarkResult result =
            BenchmarkLayer(problem, {.backend = "cpu", .rounds = 1, .round_seconds = 0});
        EXPECT_TRUE(result.verified) << problem.Text() << ": " << result.largest_error;
        EXPECT_GT(result.synapses_per_second, 0) << problem.Text();
        EXPECT_NEAR(result.t_syn_ns * result.synapses_per_second, 1e9, 1) << problem.Text();
      }
    }
  }
}

// f32 rounding is far outside the bound of f64: the comparison sees real differences.
TEST(LayerBenchmark, ErrorsOfSinglePrecisionAreSeen) {
  const LayerBenchmarkOptions once{.backend = "cpu", .rounds = 1, .round_seconds = 0};
  const LayerBenchmarkResult single = BenchmarkLayer(Problem::Parse("l1-identity:f32:forward:37x29x53"), once);
  const LayerBenchmarkResult twice = BenchmarkLayer(Problem::Parse("l1-identity:f64:forward:37x29x53"), once);
  EXPECT_GT(single.largest_error, 100 * twice.error_bound);
}

// Computes something else in single precision: a planted fault of an activation.
struct WrongInFloat {
  static constexpr const char* kName = "wrong_in_float";
  static constexpr bool kSlopeNeedsInput = false;
  template <class T>
  T Value(T z) const {
    return sizeof(T) == sizeof(float) ? z + T(0.01) : z;
  }
  template <class T>
  T Slope(T, T) const {
    return T(1);
  }
};

TEST(LayerBenchmark, AWrongActivationIsSeen) {
  Problem problem = Problem::Parse("dot-identity:f32:forward:37x29x53");
  const LayerBenchmarkOptions once{.backend = "cpu", .rounds = 1, .round_seconds = 0};
  EXPECT_TRUE(BenchmarkLayer(problem, once).verified);
  problem.layer.activation = Activation::Custom<WrongInFloat>();
  EXPECT_FALSE(BenchmarkLayer(problem, once).verified);
}

TEST(LayerBenchmark, SaysWhatABackendCannotDo) {
  const Error error = CaughtError(
      [] { BenchmarkLayer(Problem::Parse("l1-identity:u8:weight_gradient:4x4x4"), {.backend = "cpu", .rounds = 1}); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(Mentions(error.what(), "u8"));
  EXPECT_THROW(BenchmarkLayer(Problem::Parse("dot-tanh:f32:forward:0x4x4"), {}), Error);
}

// l1 takes three instructions where dot takes one; processors with adders beside the multipliers take the two of l2 at
// once. The best of some tries in turns, since other tests run beside this one.
TEST(SlowSynapseLimit, L1IsSlowerThanProducts) {
  double dot = 0;
  double l1 = 0;
  double l2 = 0;
  for (int run = 0; run < 15; ++run) {
    dot = std::max(dot, MeasureSynapseLimit({Synapse::kDot}, 1));
    l1 = std::max(l1, MeasureSynapseLimit({Synapse::kL1}, 1));
    l2 = std::max(l2, MeasureSynapseLimit({Synapse::kL2Squared}, 1));
  }
  EXPECT_LT(l1, 0.9 * dot);
  EXPECT_LT(l2, 1.1 * dot);
  EXPECT_GT(l1, 0.2 * dot);
}

}  // namespace
}  // namespace lamina
