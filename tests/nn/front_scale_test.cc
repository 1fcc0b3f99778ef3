// Learning rates of layers, the front scale, and members: a step of every backend against central differences of a loss
// that is computed here.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/host_elementwise.h"
#include "lamina/model/predictor.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/stages/dropout.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

constexpr int64_t kFewRows = 7;
constexpr int64_t kInputs = 3;

struct Small {
  Small() : network({{kInputs, 5, Synapse::kDot, "tanh", true}, {5, 2, Synapse::kDot, "identity", true}}, DType::kF64) {
    network.Initialize(Initialization::kNtk, 3);
  }

  // The trained numbers: the flat array of the network, and one factor for each input behind it.
  std::vector<double> Start() const {
    const auto* first = static_cast<const double*>(network.parameters());
    std::vector<double> flat(first, first + network.parameter_bytes() / 8);
    for (const double scale : {0.5, -1.5, 2.0}) {
      flat.push_back(scale);
    }
    flat.resize(static_cast<size_t>(TrainedSize_bytes(network, {.front_scale = 1}) / 8));
    return flat;
  }

  double Loss(const Backend& backend, const std::vector<double>& flat) const {
    Network folded(network.layers(), DType::kF64);
    const size_t front = static_cast<size_t>(network.parameter_bytes() / 8);
    auto* parameters = static_cast<double*>(folded.parameters());
    std::copy_n(flat.begin(), front, parameters);
    for (int64_t n = 0; n < 5 * kInputs; ++n) {
      parameters[n] *= flat[front + static_cast<size_t>(n % kInputs)];
    }
    Executor executor(folded, backend, {.max_batch = kFewRows, .training = true});
    LossSums sums;
    executor.Evaluate(x.view(), y.view(), nullptr, &sums);
    return sums.loss / kFewRows;
  }

  Network network;
  Matrix x = RandomMatrix(kFewRows, kInputs, DType::kF64, 1);
  Matrix y = RandomMatrix(kFewRows, 2, DType::kF64, 2);
};

std::vector<double> Numbers(const AlignedBuffer& buffer) {
  const auto* first = static_cast<const double*>(buffer.data());
  return {first, first + buffer.size_bytes() / 8};
}

TEST(FrontScale, StepsFollowTheGradientOfBothFactorsAtTheirRates) {
  const Small problem;
  const std::vector<double> start = problem.Start();
  constexpr double kFront = 6;
  constexpr double kRate = 0.01;
  std::vector<double> factors(start.size());
  const auto set = [&](int64_t begin, int64_t count, double factor) {
    std::fill_n(factors.begin() + begin, count, factor);
  };
  const std::vector<LayerOffsets>& offsets = problem.network.offsets();
  constexpr double kBiasRate = 0.25;
  set(offsets[0].weights, 15, 1 / std::sqrt(3));
  set(offsets[0].bias, 5, kBiasRate);
  set(offsets[1].weights, 10, 1 / std::sqrt(5));
  set(offsets[1].bias, 2, kBiasRate);
  set(problem.network.parameter_bytes() / 8, kInputs, kFront);
  for (const int threads : {1, 2}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(threads)) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), threads));
      Executor executor(
          problem.network, *backend,
          {.max_batch = kFewRows,
           .training = true,
           .step = {.parametrization = Parametrization::kNtk, .bias_rate = kBiasRate, .front_scale = kFront}});
      EXPECT_TRUE(Mentions(executor.whole_steps().reason, "learning rates of single layers"));
      AlignedBuffer trained(static_cast<int64_t>(start.size() * 8));
      std::memcpy(trained.data(), start.data(), start.size() * 8);
      executor.SetTrainedParameters(trained);
      EXPECT_EQ(Numbers(executor.TrainedParameters()), start);
      UpdateRule rule;
      rule.learning_rate = kRate;
      LossSums sums;
      executor.Step(problem.x.view(), problem.y.view(), nullptr, &rule, &sums);
      EXPECT_NEAR(sums.loss / kFewRows, problem.Loss(*backend, start), 1e-12);
      const std::vector<double> after = Numbers(executor.TrainedParameters());
      for (size_t n = 0; n < start.size(); ++n) {
        constexpr double kStep = 1e-6;
        std::vector<double> moved = start;
        moved[n] = start[n] + kStep;
        const double above = problem.Loss(*backend, moved);
        moved[n] = start[n] - kStep;
        const double slope = (above - problem.Loss(*backend, moved)) / (2 * kStep);
        ASSERT_NEAR(start[n] - after[n], kRate * factors[n] * slope, 1e-9) << n;
      }
      const std::vector<double> folded = Numbers(executor.FoldedParameters());
      for (size_t n = 0; n < 15; ++n) {
        EXPECT_DOUBLE_EQ(folded[n], after[n] * after[folded.size() + n % kInputs]);
      }
    }
  }
}

// The loss of a network of members in plain loops: each member's own network, and the mean of their losses.
double MembersLoss(const Network& network, const Matrix& x, const Matrix& y, const std::vector<double>& weights,
                   bool of_mean) {
  double sum = 0;
  double sum_of_mean = 0;
  const auto& layers = network.layers();
  for (int64_t i = 0; i < x.rows(); ++i) {
    std::vector<double> mean(static_cast<size_t>(network.outputs()));
    for (int64_t m = 0; m < network.members(); ++m) {
      std::vector<double> value;
      for (int64_t c = 0; c < x.cols(); ++c) {
        value.push_back(x.view().Row<double>(i)[c] * network.MemberScales().Row<double>(m)[c]);
      }
      for (size_t l = 0; l < layers.size(); ++l) {
        const int64_t first = l + 1 == layers.size() ? m * layers[l].outputs : 0;
        std::vector<double> next;
        for (int64_t j = first; j < first + layers[l].outputs; ++j) {
          double z = static_cast<const double*>(network.Bias(l))[j];
          for (size_t c = 0; c < value.size(); ++c) {
            z += network.Weights(l).Row<double>(j)[c] * value[c];
          }
          next.push_back(l + 1 == layers.size() ? z : std::tanh(z));
        }
        value = next;
      }
      for (size_t j = 0; j < value.size(); ++j) {
        sum += weights[static_cast<size_t>(i)] * std::pow(value[j] - y.view().Row<double>(i)[j], 2);
        mean[j] += value[j] / static_cast<double>(network.members());
      }
    }
    for (size_t j = 0; j < mean.size(); ++j) {
      sum_of_mean += weights[static_cast<size_t>(i)] * std::pow(mean[j] - y.view().Row<double>(i)[j], 2);
    }
  }
  return of_mean ? sum_of_mean : sum / static_cast<double>(network.members());
}

TEST(Members, StepsFollowTheGradientOfTheMeanOfTheirLosses) {
  const Small problem;
  Network network({{kInputs, 5, Synapse::kDot, "tanh", true},
                   {5, 4, Synapse::kDot, "tanh", true},
                   {4, 2, Synapse::kDot, "identity", true}},
                  DType::kF64, 3);
  network.Initialize(Initialization::kNtk, 3);
  std::vector<double> weights;
  for (int64_t i = 0; i < kFewRows; ++i) {
    weights.push_back(0.5 + 0.25 * static_cast<double>(i));
  }
  constexpr double kRate = 0.01;
  const int64_t count = network.parameter_bytes() / 8;
  std::vector<double> slopes;
  auto* parameters = static_cast<double*>(network.parameters());
  for (int64_t n = 0; n < count; ++n) {
    constexpr double kStep = 1e-6;
    const double value = parameters[n];
    parameters[n] = value + kStep;
    const double above = MembersLoss(network, problem.x, problem.y, weights, false);
    parameters[n] = value - kStep;
    slopes.push_back((above - MembersLoss(network, problem.x, problem.y, weights, false)) / (2 * kStep) / kFewRows);
    parameters[n] = value;
  }
  for (const int threads : {1, 2}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(threads)) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), threads));
      Executor executor(network, *backend, {.max_batch = kFewRows + 2, .training = true, .step = {.front_scale = 2}});
      UpdateRule rule;
      rule.learning_rate = kRate;
      LossSums sums;
      executor.Step(problem.x.view(), problem.y.view(), weights.data(), &rule, &sums);
      EXPECT_NEAR(sums.loss, MembersLoss(network, problem.x, problem.y, weights, true), 1e-12) << "of the mean answer";
      EXPECT_EQ(sums.samples, kFewRows);
      const std::vector<double> after = Numbers(executor.TrainedParameters());
      for (int64_t n = 0; n < count; ++n) {
        const double factor = n >= network.member_offset() ? 2 : 1;
        ASSERT_NEAR(parameters[n] - after[static_cast<size_t>(n)], kRate * factor * slopes[static_cast<size_t>(n)],
                    1e-9)
            << n;
      }
    }
  }
}

// The masks are drawn anew here; given them, the gradient is that of a network whose hidden outputs are multiplied.
TEST(Dropout, GradientsAreThoseOfTheNetworkWithoutWhatIsDropped) {
  const Small problem;
  constexpr double kDropout = 0.4;
  Network network({{kInputs, 5, Synapse::kDot, "tanh", true}, {5, 2, Synapse::kDot, "identity", true}}, DType::kF64);
  network.Initialize(Initialization::kNtk, 3);
  Matrix mask(kFewRows, 5, DType::kF64);
  HostElementwise({}).DropoutMask(kDropout, 9, kDropoutStreams + 2 * 7, mask.view());  // step 7, layer 0 of 2
  int64_t dropped = 0;
  for (int64_t n = 0; n < kFewRows * 5; ++n) {
    const double factor = mask.view().Row<double>(0)[n];
    EXPECT_TRUE(factor == 0 || factor == 1 / (1 - kDropout));
    dropped += factor == 0 ? 1 : 0;
  }
  EXPECT_GT(dropped, 4);
  EXPECT_LT(dropped, 25);
  const auto loss = [&] {
    double sum = 0;
    for (int64_t i = 0; i < kFewRows; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        double out = static_cast<const double*>(network.Bias(1))[j];
        for (int64_t h = 0; h < 5; ++h) {
          double z = static_cast<const double*>(network.Bias(0))[h];
          for (int64_t c = 0; c < kInputs; ++c) {
            z += network.Weights(0).Row<double>(h)[c] * problem.x.view().Row<double>(i)[c];
          }
          out += network.Weights(1).Row<double>(j)[h] * std::tanh(z) * mask.view().Row<double>(i)[h];
        }
        sum += std::pow(out - problem.y.view().Row<double>(i)[j], 2);
      }
    }
    return sum / kFewRows;
  };
  auto* parameters = static_cast<double*>(network.parameters());
  std::vector<double> slopes;
  for (int64_t n = 0; n < network.parameter_bytes() / 8; ++n) {
    constexpr double kStep = 1e-6;
    const double value = parameters[n];
    parameters[n] = value + kStep;
    const double above = loss();
    parameters[n] = value - kStep;
    slopes.push_back((above - loss()) / (2 * kStep));
    parameters[n] = value;
  }
  for (const int threads : {1, 2}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(threads)) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), threads));
      Executor executor(network, *backend,
                        {.max_batch = kFewRows, .training = true, .step = {.dropout = kDropout, .seed = 9}});
      UpdateRule rule;
      rule.learning_rate = 0.01;
      rule.step = 7;
      LossSums sums;
      executor.Step(problem.x.view(), problem.y.view(), nullptr, &rule, &sums);
      EXPECT_NEAR(sums.loss / kFewRows, loss(), 1e-12);
      const std::vector<double> after = Numbers(executor.TrainedParameters());
      for (size_t n = 0; n < slopes.size(); ++n) {
        ASSERT_NEAR(parameters[n] - after[n], 0.01 * slopes[n], 1e-9) << n;
      }
    }
  }
}

TEST(Members, SingleAnswersAreThoseOfBatches) {
  for (const char* last : {"identity", "softmax"}) {
    Network network({{kInputs, 5, Synapse::kDot, "selu", true}, {5, 2, Synapse::kDot, last, true}}, DType::kF64, 4);
    network.Initialize(Initialization::kNtk, 3);
    EXPECT_EQ(network.parameter_count(), 4 * kInputs + 5 * kInputs + 5 + 4 * (5 * 2 + 2));
    for (int64_t n = 0; n < 4 * kInputs; ++n) {
      EXPECT_EQ(std::abs(network.MemberScales().Row<double>(0)[n]), 1);
    }
    const std::unique_ptr<Backend> backend = std::move(HostBackends(1).front());
    Executor executor(network, *backend, {.max_batch = kFewRows});
    const Small problem;
    const ConstMatrixView batch = executor.Forward(problem.x.view());
    const Predictor predictor(network);
    PredictorScratch scratch = predictor.MakeScratch();
    for (int64_t i = 0; i < kFewRows; ++i) {
      double answer[2];
      predictor.Predict(problem.x.view().Row<double>(i), answer, scratch);
      EXPECT_NEAR(answer[0], batch.Row<double>(i)[0], 1e-12) << last;
      EXPECT_NEAR(answer[1], batch.Row<double>(i)[1], 1e-12) << last;
    }
  }
}

TEST(Members, AreRefusedWhereTheyCannotBe) {
  const LayerSpec hidden{3, 2, Synapse::kDot, "tanh", true};
  const LayerSpec output{2, 1, Synapse::kDot, "identity", true};
  const auto reason = [](std::vector<LayerSpec> layers, int64_t members) {
    return Network::CheckLayers(layers, DType::kF64, members).reason;
  };
  EXPECT_TRUE(Network::CheckLayers(std::vector<LayerSpec>{hidden, output}, DType::kF64, 32));
  EXPECT_TRUE(Mentions(reason({hidden, output}, 0), "not 0"));
  EXPECT_TRUE(Mentions(reason({hidden}, 2), "hidden layers"));
  EXPECT_TRUE(Mentions(reason({{3, 2, Synapse::kL1, "triangle", false}, output}, 2), "dot"));
}

TEST(FrontScale, BeginsAtOneAndTheNetworkAnswersWithTheProduct) {
  Small problem;
  const std::unique_ptr<Backend> backend = std::move(HostBackends(1).front());
  Executor executor(problem.network, *backend, {.max_batch = kFewRows, .training = true, .step = {.front_scale = 2}});
  Network stored(problem.network.layers(), DType::kF64);
  executor.StoreParameters(stored);
  EXPECT_EQ(ParameterBytes(stored), ParameterBytes(problem.network));
  UpdateRule rule;
  rule.learning_rate = 0.1;
  LossSums sums;
  executor.Step(problem.x.view(), problem.y.view(), nullptr, &rule, &sums);
  executor.StoreParameters(stored);
  Executor answers(stored, *backend, {.max_batch = kFewRows});
  const ConstMatrixView expected = executor.Forward(problem.x.view());
  const ConstMatrixView got = answers.Forward(problem.x.view());
  for (int64_t i = 0; i < kFewRows; ++i) {
    EXPECT_DOUBLE_EQ(got.Row<double>(i)[0], expected.Row<double>(i)[0]);
  }
}

TEST(FrontScale, IsRefusedWhereItCannotBe) {
  const std::unique_ptr<Backend> backend = std::move(HostBackends(1).front());
  Small problem;
  ExecutorOptions options{.max_batch = 2, .training = true, .step = {.front_scale = 1}};
  Network distances({{2, 3, Synapse::kL1, "triangle", false}, {3, 1, Synapse::kDot, "identity", true}}, DType::kF64);
  EXPECT_TRUE(Mentions(CaughtError([&] { Executor(distances, *backend, options); }).what(), "dot products"));
  options.step.frozen = {true, false};
  EXPECT_TRUE(Mentions(CaughtError([&] { Executor(problem.network, *backend, options); }).what(), "frozen"));
}

}  // namespace
}  // namespace lamina
