// Backpropagation against central differences of a loss computed here by plain loops in double. Covers every synapse,
// activation, loss, depth and backend, with and without bias and sample weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "tests/neuron/custom_activations.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

constexpr int64_t kBatch = 6;
constexpr int64_t kWidths[] = {5, 7, 6, 3};

struct Output {
  Loss loss;
  Activation activation;
};

struct Case {
  std::vector<LayerSpec> layers;
  Loss loss;
  bool weighted;

  std::string Text() const {
    std::string text = loss.Text();
    for (const LayerSpec& layer : layers) {
      text += fmt::format(" {}:{}", NeuronText(layer), layer.outputs);
    }
    return text + (layers[0].bias ? "" : " nobias") + (weighted ? " weighted" : "");
  }
};

std::vector<Activation> HiddenActivations() {
  std::vector<Activation> list;
  for (const std::string& name : ActivationNames()) {
    if (name != "softmax") {
      list.emplace_back(name);
    }
  }
  list.emplace_back("bipolar_sigmoid(gain=1.7,threshold=-0.3)");
  list.emplace_back("leaky_relu(slope=0.3)");
  list.push_back(Activation::Custom<Softplus>());
  list.push_back(Activation::Custom(Swish{.beta = 1.5}));
  return list;
}

// Every loss over the activation of the hidden layers and over softmax, or over sigmoid or exp where it accepts
// neither.
std::vector<Output> OutputsOver(const Activation& hidden) {
  std::vector<Output> outputs;
  std::vector<std::string> losses = LossNames();
  losses.emplace_back("huber(delta=0.25)");  // a corner inside the distances
  losses.emplace_back("quantile(q1=0.1,q2=0.9)");
  losses.emplace_back("focal(gamma=0.7)");
  for (const std::string& text : losses) {
    const Loss loss = Loss::Parse(text);
    const size_t before = outputs.size();
    for (const Activation& activation : {hidden, Activation("softmax"), Activation("sigmoid"), Activation("exp")}) {
      if (outputs.size() < before + 2 && LossAccepts(loss, activation)) {
        outputs.push_back({loss, activation});
      }
    }
  }
  return outputs;
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Activation& hidden : HiddenActivations()) {
    for (const Output& output : OutputsOver(hidden)) {
      const size_t most = hidden.name() == "exp" ? 1 : 3;  // e^e^z is beyond differences
      for (size_t depth = 1; depth <= most; ++depth) {
        for (const bool bias : {true, false}) {
          const bool weighted = (cases.size() / 2 + (bias ? 1 : 0)) % 2 == 0;  // with and without for both, by turns
          std::vector<LayerSpec> layers;
          for (size_t l = 0; l < depth; ++l) {
            layers.push_back(
                {kWidths[l], kWidths[l + 1], Synapse::kDot, l + 1 == depth ? output.activation : hidden, bias});
          }
          cases.push_back({layers, output.loss, weighted});
        }
      }
    }
  }
  return cases;
}

// Distance layers alone, above and below dot layers.
std::vector<Case> DistanceCases() {
  std::vector<Case> cases;
  for (const Synapse synapse : {Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}) {
    for (const char* activation : {"triangle(radius=3)", "gaussian(radius=3)", "tanh"}) {
      for (const bool bias : {false, true}) {
        const auto layer = [&](size_t l, bool distance) {
          return LayerSpec{kWidths[l], kWidths[l + 1], distance ? synapse : Synapse::kDot,
                           distance ? Activation(activation) : Activation("tanh"), distance ? bias : true};
        };
        cases.push_back({{layer(0, true)}, Loss::kMse, bias});
        cases.push_back({{layer(0, true), layer(1, true)}, Loss::kMse, !bias});
        cases.push_back({{layer(0, true), layer(1, false)}, Loss::kMse, bias});
        cases.push_back({{layer(0, false), layer(1, true), layer(2, false)}, Loss::kMse, !bias});
      }
    }
  }
  return cases;
}

// Trained radii at the input, inside, at the output, and twice.
std::vector<Case> RadiusCases() {
  std::vector<Case> cases;
  for (const char* neuron : {"l1-triangle(radius=3)-radius", "l2-gaussian(radius=2)-radius", "l2-triangle-radius",
                             "l2sq-gaussian(radius=4)-radius"}) {
    const LayerSpec radius = ParseNeuron(neuron);
    const auto layers = [&](std::vector<LayerSpec> specs) {
      for (size_t l = 0; l < specs.size(); ++l) {
        specs[l].inputs = kWidths[l];
        specs[l].outputs = kWidths[l + 1];
      }
      return specs;
    };
    const LayerSpec tanh = ParseNeuron("mul");
    const LayerSpec softmax = ParseNeuron("dot-softmax");
    cases.push_back({layers({radius}), Loss::kMse, false});
    cases.push_back({layers({radius, softmax}), Loss::kCrossEntropy, true});
    cases.push_back({layers({tanh, radius, tanh}), Loss::kMse, false});
    cases.push_back({layers({tanh, radius, radius}), Loss::kMse, true});
  }
  return cases;
}

struct Sample {
  Matrix x;
  Matrix y;
  std::vector<double> weights;  // ones if not weighted
};

Sample MakeSample(const Case& test, uint64_t seed) {
  Sample sample{RandomMatrix(kBatch, test.layers.front().inputs, DType::kF64, seed),
                RandomMatrix(kBatch, test.layers.back().outputs, DType::kF64, seed + 1, 0.05, 0.95),
                std::vector<double>(kBatch, 1.0)};
  for (int64_t i = 0; i < kBatch; ++i) {
    double* y = sample.y.Row<double>(i);
    const double sum = std::accumulate(y, y + sample.y.cols(), 0.0);
    for (int64_t j = 0; test.loss == Loss::kCrossEntropy && j < sample.y.cols(); ++j) {
      y[j] /= sum;
    }
    if (test.weighted) {
      sample.weights[static_cast<size_t>(i)] = i == 2 ? 0.0 : 0.3 + 0.4 * static_cast<double>(i);
    }
  }
  return sample;
}

// The corner of huber's loss; 0 for all others.
double CornerOf(const Loss& loss) {
  return loss.kind() != Loss::kHuber ? 0 : loss.Text() == "huber(delta=0.25)" ? 0.25 : 1;
}

double LossOf(const Loss& loss, const std::vector<double>& a, const double* y) {
  const std::string_view name = loss.name();
  const double corner = CornerOf(loss);
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    if (name == "mse") {
      sum += std::pow(y[j] - a[j], 2);
    } else if (name == "mae") {
      sum += std::max(y[j] - a[j], a[j] - y[j]);
    } else if (name == "huber") {
      const double distance = std::abs(y[j] - a[j]);
      sum += distance < corner ? distance * distance / 2 : corner * distance - corner * corner / 2;
    } else if (name == "cross_entropy") {
      sum -= y[j] * std::log(a[j]);
    } else if (name == "quantile") {
      const std::vector<double> levels = loss.levels();
      const double level = levels[j % levels.size()];
      sum += std::max(level * (y[j] - a[j]), (level - 1) * (y[j] - a[j]));
    } else if (name == "poisson") {
      sum += a[j] - y[j] * std::log(a[j]);
    } else if (name == "gamma") {
      sum += y[j] / a[j] + std::log(a[j]);
    } else if (name == "focal") {
      const double gamma = loss.Text() == "focal(gamma=0.7)" ? 0.7 : 2;
      sum -= y[j] * std::pow(1 - a[j], gamma) * std::log(a[j]) + (1 - y[j]) * std::pow(a[j], gamma) * std::log1p(-a[j]);
    } else if (name == "binary_cross_entropy") {
      sum -= y[j] * std::log(a[j]) + (1 - y[j]) * std::log1p(-a[j]);
    } else {
      ADD_FAILURE() << "write " << name << " a second time";
    }
  }
  return sum;
}

// How near a loss comes to a kink of its own.
double KinkOf(const Loss& loss, const std::vector<double>& a, const double* y) {
  double nearest = 1;
  for (size_t j = 0;
       (loss == Loss::kMae || loss.kind() == Loss::kHuber || loss.kind() == Loss::kQuantile) && j < a.size(); ++j) {
    nearest = std::min(nearest, std::abs(std::abs(a[j] - y[j]) - CornerOf(loss)));
  }
  return nearest;
}

// z of one neuron, and how near it comes to a kink: relu at z = 0, the triangle's, l1 and l2 at x = w.
double Neuron(const LayerSpec& layer, const std::vector<double>& x, const double* w, double bias, double radius,
              double* kink) {
  double sum = 0;
  double nearest_term = 1;
  for (size_t k = 0; k < x.size(); ++k) {
    const double difference = std::abs(x[k] - w[k]);
    nearest_term = std::min(nearest_term, difference);
    sum += layer.synapse == Synapse::kDot  ? x[k] * w[k]
           : layer.synapse == Synapse::kL1 ? difference
                                           : difference * difference;
  }
  const double z = (layer.synapse == Synapse::kL2 ? std::sqrt(sum) : sum) + bias;
  *kink = std::min(*kink, layer.synapse == Synapse::kL1 ? nearest_term : 1);
  *kink = std::min(*kink, IsDistance(layer.synapse) ? std::sqrt(sum) : std::abs(z));
  if (layer.activation.name() == "triangle") {
    *kink = std::min(*kink, std::abs(z - 2.5066 * radius));
  }
  return z;
}

// 1/N sum of weight × loss, and how near any neuron comes to a kink.
double MeanLoss(const Network& network, const Case& test, const Sample& sample, double* nearest_kink = nullptr) {
  double total = 0;
  for (int64_t i = 0; i < kBatch; ++i) {
    std::vector<double> a(sample.x.Row<double>(i), sample.x.Row<double>(i) + sample.x.cols());
    for (size_t l = 0; l < network.layers().size(); ++l) {
      const LayerSpec& layer = network.layers()[l];
      std::vector<double> z(static_cast<size_t>(layer.outputs));
      for (int64_t j = 0; j < layer.outputs; ++j) {
        double kink = 1;
        const double bias = layer.bias ? static_cast<const double*>(network.Bias(l))[j] : 0;
        const double radius =
            layer.trained_radius ? static_cast<const double*>(network.Radii(l))[j] : layer.activation.radius();
        z[static_cast<size_t>(j)] = Neuron(layer, a, network.Weights(l).Row<double>(j), bias, radius, &kink);
        if (nearest_kink != nullptr) {
          *nearest_kink = std::min(*nearest_kink, kink);
        }
      }
      a.resize(z.size());
      if (layer.trained_radius) {
        for (int64_t j = 0; j < layer.outputs; ++j) {
          const double u = z[static_cast<size_t>(j)] / static_cast<const double*>(network.Radii(l))[j];
          a[static_cast<size_t>(j)] =
              layer.activation.name() == "triangle" ? std::max(0.0, 1 - u / 2.5066) : std::exp(-u * u / 2);
        }
        continue;
      }
      layer.activation.Value(z.data(), a.data(), layer.outputs);
    }
    total += sample.weights[static_cast<size_t>(i)] * LossOf(test.loss, a, sample.y.Row<double>(i));
    if (nearest_kink != nullptr) {
      *nearest_kink = std::min(*nearest_kink, KinkOf(test.loss, a, sample.y.Row<double>(i)));
    }
  }
  return total / kBatch;
}

// Parameters and sample without a neuron near a kink.
std::pair<Network, Sample> AwayFromKinks(const Case& test) {
  for (uint64_t seed = 1;; seed += 10) {
    Network network(test.layers, DType::kF64);
    network.Initialize(Initialization::kGlorotNormal, seed);
    Random random(seed + 2);
    for (size_t l = 0; l < test.layers.size(); ++l) {
      for (int64_t j = 0; test.layers[l].bias && j < test.layers[l].outputs; ++j) {
        static_cast<double*>(network.Bias(l))[j] = random.Uniform(-0.5, 0.5);
      }
      for (int64_t j = 0; test.layers[l].trained_radius && j < test.layers[l].outputs; ++j) {
        static_cast<double*>(network.Radii(l))[j] *= random.Uniform(0.7, 1.5);
      }
    }
    Sample sample = MakeSample(test, seed + 3);
    double nearest = 1;
    MeanLoss(network, test, sample, &nearest);
    if (nearest > 1e-3) {
      return {std::move(network), std::move(sample)};
    }
  }
}

// In the layout of Network::parameters(), gaps zero.
std::vector<double> CentralDifferences(Network& network, const Case& test, const Sample& sample) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient(static_cast<size_t>(network.parameter_bytes() / 8));
  auto* parameters = static_cast<double*>(network.parameters());
  const auto differentiate = [&](int64_t begin, int64_t count) {
    for (int64_t n = begin; n < begin + count; ++n) {
      const double value = parameters[n];
      parameters[n] = value + kStep;
      const double above = MeanLoss(network, test, sample);
      parameters[n] = value - kStep;
      const double below = MeanLoss(network, test, sample);
      parameters[n] = value;
      gradient[static_cast<size_t>(n)] = (above - below) / (2 * kStep);
    }
  };
  for (size_t l = 0; l < network.layers().size(); ++l) {
    differentiate(network.offsets()[l].weights, network.layers()[l].weight_count());
    differentiate(network.offsets()[l].bias, network.layers()[l].bias ? network.layers()[l].outputs : 0);
    differentiate(network.offsets()[l].radius, network.layers()[l].trained_radius ? network.layers()[l].outputs : 0);
  }
  return gradient;
}

void CheckOnBackend(const Backend& backend, const Case& test, const Network& network, const Sample& sample,
                    const std::vector<double>& expected) {
  SCOPED_TRACE(fmt::format("{}: {}", backend.name(), test.Text()));
  Executor executor(network, backend, {.max_batch = kBatch + 2, .training = true, .step = {.loss = test.loss}});
  LossSums sums;
  executor.Step(sample.x.view(), sample.y.view(), test.weighted ? sample.weights.data() : nullptr, nullptr, &sums);
  const double loss = MeanLoss(network, test, sample);
  EXPECT_NEAR(sums.loss / kBatch, loss, 1e-12 * std::max(1.0, loss));
  EXPECT_NEAR(sums.weight, std::accumulate(sample.weights.begin(), sample.weights.end(), 0.0), 1e-12);
  EXPECT_EQ(sums.samples, kBatch);
  std::vector<double> gradient(expected.size());
  backend.Download(gradient.data(), executor.gradients().data(), network.parameter_bytes());
  for (size_t n = 0; n < expected.size(); ++n) {
    EXPECT_NEAR(gradient[n], expected[n], 1e-8 * std::max(1.0, std::abs(expected[n]))) << "parameter " << n;
  }
  Network after = Network(network.layers(), DType::kF64);
  executor.StoreParameters(after);
  EXPECT_EQ(ParameterBytes(after), ParameterBytes(network)) << "a step without a rule changes nothing";
}

class Gradient : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Gradient, testing::Values(1, 2));

void CheckCases(const std::vector<Case>& cases, int threads) {
  const std::vector<std::unique_ptr<Backend>> backends = HostBackends(threads);
  ASSERT_GE(backends.size(), 3U);
  for (const Case& test : cases) {
    auto [network, sample] = AwayFromKinks(test);
    const std::vector<double> expected = CentralDifferences(network, test, sample);
    for (const std::unique_ptr<Backend>& backend : backends) {
      const bool distances = std::any_of(test.layers.begin(), test.layers.end(),
                                         [](const LayerSpec& layer) { return IsDistance(layer.synapse); });
      if (distances && backend->name() == "blas") {
        continue;
      }
      CheckOnBackend(*backend, test, network, sample, expected);
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }
}

TEST_P(Gradient, IsTheCentralDifference) { CheckCases(Cases(), GetParam()); }
TEST_P(Gradient, OfDistancesIsTheCentralDifference) { CheckCases(DistanceCases(), GetParam()); }
TEST_P(Gradient, OfTrainedRadiiIsTheCentralDifference) { CheckCases(RadiusCases(), GetParam()); }

}  // namespace
}  // namespace lamina
