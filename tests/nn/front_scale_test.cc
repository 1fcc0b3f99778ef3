// Learning rates of layers and the front scale: a step of every backend against central differences of the loss, with
// the scale multiplied in here.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

constexpr int64_t kRows = 7;
constexpr int64_t kInputs = 3;

struct Problem {
  Problem() : network({{kInputs, 5, Synapse::kDot, "tanh", true}, {5, 2, Synapse::kDot, "identity", true}}, DType::kF64) {
    network.Initialize(Initialization::kNtk, 3);
  }

  // The trained numbers: the flat array of the network, and one factor for each input behind it.
  std::vector<double> Start() const {
    const auto* first = static_cast<const double*>(network.parameters());
    std::vector<double> flat(first, first + network.parameter_bytes() / 8);
    for (const double scale : {0.5, -1.5, 2.0}) {
      flat.push_back(scale);
    }
    flat.resize(static_cast<size_t>(FlatSize_bytes(network, true) / 8));
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
    Executor executor(folded, backend, {.max_batch = kRows, .training = true});
    LossSums sums;
    executor.Evaluate(x.view(), y.view(), nullptr, &sums);
    return sums.loss / kRows;
  }

  Network network;
  Matrix x = RandomMatrix(kRows, kInputs, DType::kF64, 1);
  Matrix y = RandomMatrix(kRows, 2, DType::kF64, 2);
};

std::vector<double> Numbers(const AlignedBuffer& buffer) {
  const auto* first = static_cast<const double*>(buffer.data());
  return {first, first + buffer.size_bytes() / 8};
}

TEST(FrontScale, StepsFollowTheGradientOfBothFactorsAtTheirRates) {
  const Problem problem;
  const std::vector<double> start = problem.Start();
  const std::vector<LayerRates> rates{{0.5, 0.25}, {2, 3}};
  constexpr double kFront = 6;
  constexpr double kRate = 0.01;
  std::vector<double> factors(start.size());
  const auto set = [&](int64_t begin, int64_t count, double factor) {
    std::fill_n(factors.begin() + begin, count, factor);
  };
  const std::vector<LayerOffsets>& offsets = problem.network.offsets();
  set(offsets[0].weights, 15, 0.5);
  set(offsets[0].bias, 5, 0.25);
  set(offsets[1].weights, 10, 2);
  set(offsets[1].bias, 2, 3);
  set(problem.network.parameter_bytes() / 8, kInputs, kFront);
  for (const int threads : {1, 2}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(threads)) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), threads));
      Executor executor(problem.network, *backend,
                        {.max_batch = kRows, .training = true, .rates = rates, .front_scale = kFront});
      EXPECT_TRUE(Mentions(executor.whole_steps().reason, "learning rates of their own"));
      AlignedBuffer trained(static_cast<int64_t>(start.size() * 8));
      std::memcpy(trained.data(), start.data(), start.size() * 8);
      executor.SetTrainedParameters(trained);
      EXPECT_EQ(Numbers(executor.TrainedParameters()), start);
      UpdateRule rule;
      rule.learning_rate = kRate;
      LossSums sums;
      executor.Step(problem.x.view(), problem.y.view(), nullptr, &rule, &sums);
      EXPECT_NEAR(sums.loss / kRows, problem.Loss(*backend, start), 1e-12);
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

TEST(FrontScale, BeginsAtOneAndTheNetworkAnswersWithTheProduct) {
  Problem problem;
  const std::unique_ptr<Backend> backend = HostBackends(1).front();
  Executor executor(problem.network, *backend, {.max_batch = kRows, .training = true, .front_scale = 2});
  Network stored(problem.network.layers(), DType::kF64);
  executor.StoreParameters(stored);
  EXPECT_EQ(ParameterBytes(stored), ParameterBytes(problem.network));
  UpdateRule rule;
  rule.learning_rate = 0.1;
  LossSums sums;
  executor.Step(problem.x.view(), problem.y.view(), nullptr, &rule, &sums);
  executor.StoreParameters(stored);
  Executor answers(stored, *backend, {.max_batch = kRows});
  const ConstMatrixView expected = executor.Forward(problem.x.view());
  const ConstMatrixView got = answers.Forward(problem.x.view());
  for (int64_t i = 0; i < kRows; ++i) {
    EXPECT_DOUBLE_EQ(got.Row<double>(i)[0], expected.Row<double>(i)[0]);
  }
}

TEST(FrontScale, IsRefusedWhereItCannotBe) {
  const std::unique_ptr<Backend> backend = HostBackends(1).front();
  Problem problem;
  ExecutorOptions options{.max_batch = 2, .training = true, .front_scale = 1};
  Network distances({{2, 3, Synapse::kL1, "triangle", false}, {3, 1, Synapse::kDot, "identity", true}}, DType::kF64);
  EXPECT_TRUE(Mentions(CaughtError([&] { Executor(distances, *backend, options); }).what(), "dot products"));
  options.frozen = {true, false};
  EXPECT_TRUE(Mentions(CaughtError([&] { Executor(problem.network, *backend, options); }).what(), "frozen"));
  options.frozen.clear();
  const std::unique_ptr<Backend> device = conformance::Chosen::Make({std::string(conformance::CudaUnderTest())});
  if (device != nullptr && device->space() != Space::kHost) {
    EXPECT_TRUE(Mentions(CaughtError([&] { Executor(problem.network, *device, options); }).what(), "host memory"));
  }
}

}  // namespace
}  // namespace lamina
