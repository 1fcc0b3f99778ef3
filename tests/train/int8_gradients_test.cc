// Training in 8-bit integers: forward the bits of the integer network, back the straight-through rule by plain loops.
#include "lamina/train/int8_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lamina/train/quantize_aware.h"
#include "tests/oracle.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

constexpr int64_t kInt8Rows = 23;
constexpr int64_t kInputs = 9;

struct Case {
  const char* name;
  const char* layers;
  DType dtype;
};

constexpr Case kCases[] = {
    {"relu", "dot-relu:11,dot-softmax:4", DType::kF32},
    {"tanh_f64", "dot-tanh:11,dot-gelu:6,dot-softmax:4", DType::kF64},
    {"without_bias", "dot-sigmoid-bias:7,dot-identity:2", DType::kF32},
    {"triangle", "l1-triangle(radius=6):12,dot-softmax:4", DType::kF32},
    {"trained_radius", "rbf(radius=2)-radius:10,dot-softmax:4", DType::kF64},
    {"distances_behind", "dot-tanh:8,l1-laplace(radius=3):7,dot-sigmoid:1", DType::kF32},
    {"squares", "l2sq-gaussian(radius=5):9,dot-relu:5,dot-identity:1", DType::kF32},
};

Network NetworkOf(const Case& of) {
  Network network(ParseLayers(of.layers, kInputs, /*bias=*/true), of.dtype);
  network.Initialize(Initialization::kGlorotUniform, 5);
  DispatchFloat(of.dtype, [&]<class T>(T) {
    Random random(6);
    for (size_t l = 0; l < network.layers().size(); ++l) {
      for (int64_t j = 0; j < network.layers()[l].outputs && network.Bias(l) != nullptr; ++j) {
        static_cast<T*>(network.Bias(l))[j] = static_cast<T>(random.Uniform(-0.3, 0.3));
      }
    }
  });
  return network;
}

struct Prepared {
  Network network;
  Matrix x;
  Int8Rounded rounded;
};

// Ranges of fewer and smaller rows than are asked, so that some numbers are cut.
Prepared PreparedOf(const Case& of) {
  Network network = NetworkOf(of);
  Matrix x = RandomMatrix(kInt8Rows, kInputs, of.dtype, 7);
  const Matrix measured = RandomMatrix(5, kInputs, of.dtype, 8, -0.8, 0.8);
  Int8Rounded rounded = RoundToInt8(network, MeasureForInt8(network, measured, measured));
  return {std::move(network), std::move(x), std::move(rounded)};
}

// What a layer is given and what its sums are, of one row.
struct LayerOfRow {
  std::vector<int> x;
  std::vector<int> sums;
  std::vector<int> outputs;  // of hidden layers
  std::vector<bool> cut;
};

int64_t Halved(int64_t product, int shift) { return (product + (int64_t{1} << (shift - 1))) >> shift; }

LayerOfRow PlainLayer(const Int8Layer& layer, std::vector<int> x) {
  LayerOfRow row{std::move(x), {}, {}, {}};
  for (int64_t j = 0; j < layer.outputs; ++j) {
    const auto at = static_cast<size_t>(j);
    int sum = 0;
    for (int64_t i = 0; i < layer.inputs; ++i) {
      const int a = row.x[static_cast<size_t>(i)];
      const int w = layer.weights[static_cast<size_t>(j * layer.inputs + i)];
      sum += layer.synapse == Synapse::kDot  ? a * w
             : layer.synapse == Synapse::kL1 ? std::abs(a - w)
                                             : (a - w) * (a - w);
    }
    row.sums.push_back(sum);
    bool cut = false;
    int output = 0;
    if (layer.finish == Int8Finish::kCorner) {
      output = std::max(0, layer.offsets[at] - sum) >> layer.shift;
    } else {
      const int64_t z = Halved((int64_t{sum} + layer.offsets[at]) * layer.factors[at], layer.shift);
      const int64_t low = layer.finish == Int8Finish::kTable ? -128 : -127;
      cut = z > 127 || (z < low && layer.low < 0) || (layer.finish == Int8Finish::kTable && z < low);
      output = layer.finish == Int8Finish::kTable
                   ? layer.table[static_cast<size_t>(std::clamp<int64_t>(z, -128, 127) + 128)]
                   : static_cast<int>(std::clamp<int64_t>(z, layer.low, 127));
    }
    row.outputs.push_back(output);
    row.cut.push_back(cut);
  }
  return row;
}

oracle::Curve CurveOf(const Activation& activation) {
  return {std::string(activation.name()), {activation.parameters().begin(), activation.parameters().end()}};
}

struct PlainGradients {
  std::vector<oracle::Dense> weights;
  std::vector<std::vector<double>> bias;
  std::vector<std::vector<double>> radii;
};

// Adds the gradients of one row, from ∂E/∂z of the last layer.
void AddRow(const Prepared& of, const std::vector<LayerOfRow>& row, std::vector<double> delta, PlainGradients& sums) {
  for (size_t l = row.size(); l-- > 0;) {
    const Int8Layer& layer = of.rounded.network.layers[l];
    const Int8Scales& scales = of.rounded.scales[l];
    const LayerSpec& spec = of.network.layers()[l];
    const oracle::Curve curve = CurveOf(spec.trained_radius ? spec.activation.WithRadius(1) : spec.activation);
    std::vector<double> below(static_cast<size_t>(layer.inputs), 0);
    for (int64_t j = 0; j < layer.outputs; ++j) {
      const auto at = static_cast<size_t>(j);
      double radius = 1;
      DispatchFloat(of.network.dtype(), [&]<class T>(T) {
        if (of.network.Radii(l) != nullptr) {
          radius = static_cast<const T*>(of.network.Radii(l))[j];
        }
      });
      const double offset = layer.finish == Int8Finish::kCorner ? 0 : layer.offsets[at];
      const double z = (row[l].sums[at] + offset) * scales.units[at] / radius + scales.centre;
      double d = delta[at];
      if (l + 1 < row.size()) {
        d *= row[l].cut[at] ? 0 : curve.Slope(z);
      }
      d /= radius;
      sums.radii[l][at] -= d * z;
      sums.bias[l][at] += d;
      for (int64_t i = 0; i < layer.inputs; ++i) {
        const double step = scales.inputs[static_cast<size_t>(i)];
        const double x = row[l].x[static_cast<size_t>(i)] * step;
        const double whole = layer.weights[static_cast<size_t>(j * layer.inputs + i)];
        const double w = layer.synapse == Synapse::kDot ? whole * scales.units[at] / step : whole * step;
        const double by_w = layer.synapse == Synapse::kDot  ? x
                            : layer.synapse == Synapse::kL1 ? (w > x ? 1.0 : 0.0) - (w < x ? 1.0 : 0.0)
                                                            : 2 * (w - x);
        const double by_x = layer.synapse == Synapse::kDot ? w : -by_w;
        sums.weights[l].at(j, i) += d * by_w;
        below[static_cast<size_t>(i)] += d * by_x;
      }
    }
    delta = below;
  }
}

std::vector<LayerOfRow> PlainForward(const Int8Network& network, const Matrix& x, int64_t r) {
  std::vector<int8_t> first(static_cast<size_t>(x.cols()));
  DispatchFloat(x.dtype(), [&]<class T>(T) { network.Round(x.Row<T>(r), first.data()); });
  std::vector<int> numbers(first.begin(), first.end());
  std::vector<LayerOfRow> row;
  for (const Int8Layer& layer : network.layers) {
    row.push_back(PlainLayer(layer, std::move(numbers)));
    numbers = row.back().outputs;
  }
  return row;
}

template <class T>
void ExpectNear(const std::vector<double>& expected, const T* got, double bound, const std::string& what) {
  double largest = 0;
  for (const double each : expected) {
    largest = std::max(largest, std::abs(each));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], bound * (largest + 1e-3)) << what << " " << i;
  }
}

class Int8GradientsTest : public testing::TestWithParam<Case> {};

TEST_P(Int8GradientsTest, ForwardHasTheBitsOfTheIntegers) {
  const Prepared of = PreparedOf(GetParam());
  Int8Gradients gradients(of.network, kInt8Rows);
  const ConstMatrixView got = gradients.Forward(of.network, of.rounded, of.x.view());
  const Matrix expected = of.rounded.network.Outputs(of.x);
  DispatchFloat(of.network.dtype(), [&]<class T>(T) {
    for (int64_t r = 0; r < kInt8Rows; ++r) {
      for (int64_t j = 0; j < expected.cols(); ++j) {
        EXPECT_EQ(got.Row<T>(r)[j], expected.Row<T>(r)[j]) << r << " " << j;
      }
    }
  });
}

TEST_P(Int8GradientsTest, GoesStraightThroughRounding) {
  const Prepared of = PreparedOf(GetParam());
  const Matrix delta = RandomMatrix(kInt8Rows, of.network.outputs(), of.network.dtype(), 9);
  Network got(of.network.layers(), of.network.dtype());
  Int8Gradients gradients(of.network, kInt8Rows);
  gradients.Forward(of.network, of.rounded, of.x.view());
  gradients.Backward(delta.view(), got);

  PlainGradients expected;
  for (const LayerSpec& spec : of.network.layers()) {
    expected.weights.emplace_back(spec.outputs, spec.inputs);
    expected.bias.emplace_back(static_cast<size_t>(spec.outputs), 0);
    expected.radii.emplace_back(static_cast<size_t>(spec.outputs), 0);
  }
  bool any_cut = false;
  DispatchFloat(of.network.dtype(), [&]<class T>(T) {
    for (int64_t r = 0; r < kInt8Rows; ++r) {
      const std::vector<LayerOfRow> row = PlainForward(of.rounded.network, of.x, r);
      any_cut |= std::count(row[0].cut.begin(), row[0].cut.end(), true) > 0;
      AddRow(of, row, {delta.Row<T>(r), delta.Row<T>(r) + delta.cols()}, expected);
    }
    const double bound = of.network.dtype() == DType::kF64 ? 1e-12 : 1e-4;
    for (size_t l = 0; l < of.network.layers().size(); ++l) {
      const std::string layer = " of layer " + std::to_string(l);
      ExpectNear(expected.weights[l].values, got.Weights(l).Row<T>(0), bound, "weight" + layer);
      if (got.Bias(l) != nullptr) {
        ExpectNear(expected.bias[l], static_cast<const T*>(got.Bias(l)), bound, "bias" + layer);
      }
      if (got.Radii(l) != nullptr) {
        ExpectNear(expected.radii[l], static_cast<const T*>(got.Radii(l)), bound, "radius" + layer);
      }
    }
  });
  EXPECT_TRUE(any_cut || of.rounded.network.layers[0].finish == Int8Finish::kCorner) << "no number was cut";
}

INSTANTIATE_TEST_SUITE_P(Networks, Int8GradientsTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// A network of few coarse centers loses much by rounding, and gets it back.
TEST(QuantizeAware, LessensTheLossOfTheIntegers) {
  const Dataset data = RandomDataset(200, 6, 0, DType::kF32, 3);
  for (const char* layers : {"dot-tanh:16,dot-identity:1", "l1-triangle(radius=4):24,dot-identity:1"}) {
    Network start(ParseLayers(layers, 6, /*bias=*/true), DType::kF32);
    start.Initialize(Initialization::kGlorotUniform, 4);
    TrainOptions options;
    options.step.loss = Loss::kMse;
    options.epochs = 30;
    options.batch = 20;
    options.rule.kind = UpdateKind::kAdam;
    options.rule.learning_rate = 0.02;
    const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
    Network network = Train(*backend, options, start, data).network;
    const Matrix none;
    const auto loss = [&](const Matrix& outputs) {
      double sum = 0;
      for (int64_t i = 0; i < outputs.rows(); ++i) {
        sum += std::pow(outputs.Row<float>(i)[0] - data.targets.Row<float>(i)[0], 2);
      }
      return sum / static_cast<double>(outputs.rows());
    };
    const double before =
        loss(RoundToInt8(network, MeasureForInt8(network, data.features, none)).network.Outputs(data.features));
    QuantizeAwareWork work{data, data.features, none, options, 10};
    work.validation = &data.features;
    work.judge = loss;
    Network first = network;
    const QuantizeAwareResult result = TrainQuantizeAware(network, work);
    const double after = loss(RoundToInt8(network, result.ranges).network.Outputs(data.features));
    EXPECT_LT(after, 0.9 * before) << layers;
    EXPECT_GT(result.best_epoch, 0) << layers;
    TrainQuantizeAware(first, work);
    EXPECT_EQ(WeightBytes(first), WeightBytes(network)) << layers << ": another run gave other weights";

    int64_t asked = 0;  // a stop keeps what was best so far
    work.stop_requested = [&asked] { return ++asked == 15; };
    const QuantizeAwareResult stopped = TrainQuantizeAware(first, work);
    EXPECT_TRUE(stopped.stopped);
    EXPECT_EQ(asked, 15);
    EXPECT_LE(stopped.best_epoch, 1);
  }
}

}  // namespace
}  // namespace lamina
