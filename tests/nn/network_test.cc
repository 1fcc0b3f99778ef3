// Networks: what is refused and why, initialization, the text form of layers.
#include "lamina/nn/network.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"

namespace lamina {
namespace {

LayerSpec LayerWith(int64_t inputs, int64_t outputs, const Activation& activation = "tanh", bool bias = true) {
  return {inputs, outputs, Synapse::kDot, activation, bias};
}

std::string ReasonAgainst(const std::vector<LayerSpec>& layers, DType dtype = DType::kF32) {
  const Verdict verdict = Network::CheckLayers(layers, dtype);
  EXPECT_FALSE(verdict.ok);
  const Error error = CaughtError([&] { Network(layers, dtype); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), verdict.reason));
  return verdict.reason;
}

TEST(Network, RefusesLayersWithAReason) {
  EXPECT_TRUE(Mentions(ReasonAgainst({}), "at least one layer"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(3, 0)}), "layer 1"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(0, 3)}), "layer 1"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(3, -1)}), "-1"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(3, 4), LayerWith(5, 2)}), "layer 2 takes 5 inputs, but layer 1 has 4"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(3, 4, "softmax"), LayerWith(4, 2)}), "softmax in layer 1"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(3, 4)}, DType::kBF16), "bf16"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(3, 4)}, DType::kI32), "i32"));
}

TEST(Network, RefusesSizesThatOverflow) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const int64_t size : {int64_t{1} << 21, int64_t{1} << 31, int64_t{1} << 32, kLargest / 2, kLargest}) {
    EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(size, size)}), "too large")) << size;
  }
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(1, kLargest)}), "too large"));
  EXPECT_TRUE(Mentions(ReasonAgainst({LayerWith(kLargest, 1)}), "too large"));
  const LayerSpec half = LayerWith(1 << 20, 1 << 19);
  EXPECT_TRUE(Mentions(ReasonAgainst({half, LayerWith(1 << 19, 1 << 20), half}), "layer 2")) << "the sum counts";
}

TEST(Network, ArraysAreAlignedAndApart) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Network network({LayerWith(3, 5), LayerWith(5, 7, "tanh", false), LayerWith(7, 1)}, dtype);
    EXPECT_EQ(network.parameter_count(), 3 * 5 + 5 + 5 * 7 + 7 + 1);
    EXPECT_EQ(network.ShapeText(), "3-5-7-1");
    const char* end = static_cast<const char*>(network.parameters());
    for (size_t l = 0; l < 3; ++l) {
      const auto* weights = static_cast<const char*>(network.Weights(l).data);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(weights) % 64, 0U);
      EXPECT_GE(weights, end);
      end = weights + network.layers()[l].weight_count() * DTypeSize_bytes(dtype);
      if (const auto* bias = static_cast<const char*>(network.Bias(l)); bias != nullptr) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(bias) % 64, 0U);
        EXPECT_GE(bias, end);
        end = bias + network.layers()[l].outputs * DTypeSize_bytes(dtype);
      }
    }
    EXPECT_LE(end, static_cast<const char*>(network.parameters()) + network.parameter_bytes());
    EXPECT_EQ(network.Bias(1), nullptr);
  }
}

struct Statistics {
  double mean = 0;
  double variance = 0;
  double largest = 0;
};

Statistics StatisticsOf(const Network& network) {
  Statistics result;
  const int64_t count = network.layers()[0].weight_count();
  const double* w = network.Weights(0).Row<double>(0);
  for (int64_t n = 0; n < count; ++n) {
    result.mean += w[n] / static_cast<double>(count);
    result.variance += w[n] * w[n] / static_cast<double>(count);
    result.largest = std::max(result.largest, std::abs(w[n]));
  }
  return result;
}

TEST(Network, InitialisationHasTheLimitsAndVariancesOfThePapers) {
  constexpr double kInputs = 300;
  constexpr double kOutputs = 200;
  Network network({LayerWith(300, 200)}, DType::kF64);
  const struct {
    Initialization kind;
    double variance;
    bool uniform;
  } rows[] = {{Initialization::kGlorotUniform, 2 / (kInputs + kOutputs), true},
              {Initialization::kGlorotNormal, 2 / (kInputs + kOutputs), false},
              {Initialization::kHeUniform, 2 / kInputs, true},
              {Initialization::kHeNormal, 2 / kInputs, false}};
  for (const auto& row : rows) {
    network.Initialize(row.kind, 5);
    const Statistics got = StatisticsOf(network);
    const double deviation = std::sqrt(row.variance);
    EXPECT_NEAR(got.mean, 0, 5 * deviation / std::sqrt(kInputs * kOutputs));
    EXPECT_NEAR(got.variance, row.variance, 0.03 * row.variance);  // five standard errors
    if (row.uniform) {
      EXPECT_LE(got.largest, std::sqrt(3 * row.variance));
      EXPECT_GT(got.largest, 0.999 * std::sqrt(3 * row.variance));
    } else {
      EXPECT_GT(got.largest, 3.5 * deviation);
      EXPECT_LT(got.largest, 6 * deviation);
    }
  }
}

TEST(Network, InitialisationFollowsTheSeed) {
  for (const std::string& name : InitializationNames()) {
    const Initialization kind = ParseInitialization(name);
    EXPECT_EQ(InitializationName(kind), name);
    const std::vector<LayerSpec> layers{LayerWith(9, 9), LayerWith(9, 9)};
    Network a(layers, DType::kF64), same(layers, DType::kF64), other(layers, DType::kF64);
    Network single(layers, DType::kF32);
    static_cast<double*>(same.Bias(1))[3] = 4;
    a.Initialize(kind, 1);
    same.Initialize(kind, 1);
    other.Initialize(kind, 2);
    single.Initialize(kind, 1);
    int equal_between_seeds = 0;
    int equal_between_layers = 0;
    for (size_t l = 0; l < 2; ++l) {
      for (int64_t n = 0; n < 81; ++n) {
        const double value = a.Weights(l).Row<double>(0)[n];
        EXPECT_EQ(value, same.Weights(l).Row<double>(0)[n]);
        EXPECT_EQ(static_cast<float>(value), single.Weights(l).Row<float>(0)[n]);
        equal_between_seeds += value == other.Weights(l).Row<double>(0)[n] ? 1 : 0;
        equal_between_layers += value == a.Weights(1 - l).Row<double>(0)[n] ? 1 : 0;
      }
      for (int64_t j = 0; j < 9; ++j) {
        const double bias = static_cast<const double*>(same.Bias(l))[j];
        EXPECT_EQ(bias, static_cast<const double*>(a.Bias(l))[j]);
        EXPECT_EQ(bias == 0, kind != Initialization::kNtk);
      }
    }
    EXPECT_EQ(equal_between_seeds, 0);
    EXPECT_EQ(equal_between_layers, 0);
  }
  EXPECT_TRUE(Mentions(CaughtError([] { ParseInitialization("he_norml"); }).what(), "Did you mean 'he_normal'?"));
}

TEST(ParseLayers, Texts) {
  const auto layers = ParseLayers("dot-tanh:256,dot-softmax:10", 784, true);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0], LayerWith(784, 256));
  EXPECT_EQ(layers[1], LayerWith(256, 10, "softmax"));
  const auto one =
      ParseLayers("dot-bipolar_sigmoid(gain=2,threshold=-0.5):3,dot-leaky_relu(slope=0.5):2,dot-identity:1", 4, false);
  ASSERT_EQ(one.size(), 3U);
  EXPECT_EQ(one[0], LayerWith(4, 3, "bipolar_sigmoid(gain=2,threshold=-0.5)", false));
  EXPECT_EQ(one[2], LayerWith(2, 1, "identity", false));
  const Activation custom[] = {Activation::Custom<Swish>()};
  EXPECT_EQ(ParseLayers("dot-swish(beta=3):2", 4, true, custom)[0].activation.Text(), "swish(beta=3)");
}

TEST(ParseLayers, DistanceLayersHaveNoBias) {
  const auto layers = ParseLayers("l1-triangle(radius=12):256,dot-softmax:10", 784, true);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0], (LayerSpec{784, 256, Synapse::kL1, "triangle(radius=12)", false}));
  EXPECT_EQ(layers[1], (LayerSpec{256, 10, Synapse::kDot, "softmax", true}));
  EXPECT_EQ(ParseLayers("l2-gaussian(radius=3):5,l2sq-identity:2", 4, true)[1].synapse, Synapse::kL2Squared);
}

TEST(ParseLayers, PresetsAndSuffixes) {
  EXPECT_EQ(ParseLayers("rbf(radius=12):256,mul:10", 784, true),
            ParseLayers("l1-triangle(radius=12):256,dot-tanh:10", 784, true));
  const auto layers = ParseLayers("rbf-radius:4,dot-relu-nobias:3,dot-relu-bias:2,l1-tanh-bias:2,mul:1", 7, false);
  EXPECT_TRUE(layers[0].trained_radius && !layers[0].bias);
  EXPECT_FALSE(layers[1].bias);
  EXPECT_TRUE(layers[2].bias && layers[3].bias) << "what is written at the neuron wins";
  EXPECT_FALSE(layers[4].bias);
  EXPECT_FALSE(ParseLayers("dot-relu-nobias:3", 7, true)[0].bias);
}

TEST(Network, TrainedRadiiStartAtTheActivations) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Network network(ParseLayers("mul:7,rbf(radius=12)-radius:5,dot-softmax:3", 4, true), dtype);
    EXPECT_EQ(network.parameter_count(), 4 * 7 + 7 + 7 * 5 + 5 + 5 * 3 + 3);
    EXPECT_EQ(network.Radii(0), nullptr);
    EXPECT_EQ(network.Bias(1), nullptr);
    const auto all_are_12 = [&] {
      return DispatchFloat(dtype, [&]<class T>(T) {
        const T* radii = static_cast<const T*>(network.Radii(1));
        return std::all_of(radii, radii + 5, [](T radius) { return radius == T(12); });
      });
    };
    EXPECT_TRUE(all_are_12());
    DispatchFloat(dtype, [&]<class T>(T) { static_cast<T*>(network.Radii(1))[3] = T(2); });
    network.Initialize(Initialization::kGlorotUniform, 1);
    EXPECT_TRUE(all_are_12());
    EXPECT_EQ(network.offsets()[1].radius % 16, 0);
    EXPECT_GE(network.offsets()[2].weights, network.offsets()[1].radius + 5);
  }
  EXPECT_TRUE(Mentions(
      Network::CheckLayers(std::vector{LayerSpec{3, 2, Synapse::kL1, "tanh", false, true}}, DType::kF32).reason,
      "layer 1: tanh has no radius"));
}

TEST(ParseLayers, Errors) {
  for (const char* text : {"",
                           ",",
                           "dot-tanh",
                           "dot-tanh:",
                           "dot-tanh:x",
                           "dot-tanh:3.5",
                           "dot-tanh:3,",
                           ",dot-tanh:3",
                           "dot-tanh:3,,dot-tanh:2",
                           "tanh:3",
                           "dot:3",
                           "-tanh:3",
                           "dot-:3",
                           "dott-tanh:3",
                           "dot-tan:3",
                           "dot-bipolar_sigmoid(gain=2:3",
                           "dot-bipolar_sigmoid(gain=2,threshold=1:3,dot-tanh:2",
                           "dot-tanh):3",
                           "dot-tanh:99999999999999999999",
                           "dot-tanh :3",
                           ":",
                           "-:",
                           "l3-tanh:3",
                           "l1-triangle(radius=0):3",
                           "l1-gaussian(radius=-1):3",
                           "rbf",
                           "rbf:",
                           "rbfs:3",
                           "dot-tanh-radius:3",
                           "rbf-radius-bias:3",
                           "dot-tanh:3 "}) {
    EXPECT_EQ(CaughtError([&] { ParseLayers(text, 4, true); }).code(), ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace lamina
