// Executor: update rules through whole steps, prediction in batches, refusals.
#include "lamina/nn/executor.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "tests/caught_error.h"
#include "tests/conformance/configurations.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

std::vector<LayerSpec> TwoLayers(const Activation& output = "identity") {
  return {{5, 19, Synapse::kDot, "tanh", true}, {19, 3, Synapse::kDot, output, true}};
}

// The reference parameters of `network`, in its layout.
std::vector<ReferenceParameter> ReferenceOf(const Network& network) {
  std::vector<ReferenceParameter> reference(static_cast<size_t>(network.parameter_bytes() / 8));
  for (size_t n = 0; n < reference.size(); ++n) {
    reference[n].w = static_cast<const double*>(network.parameters())[n];
  }
  return reference;
}

void StepReference(const Network& network, const UpdateRule& rule, const std::vector<double>& gradient,
                   std::vector<ReferenceParameter>& reference) {
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const auto weights = static_cast<size_t>(network.offsets()[l].weights);
    const auto bias = static_cast<size_t>(network.offsets()[l].bias);
    for (size_t n = weights; n < weights + static_cast<size_t>(network.layers()[l].weight_count()); ++n) {
      reference[n].Step(rule, /*decay=*/true, gradient[n], rule.step);
    }
    for (size_t n = bias; n < bias + static_cast<size_t>(network.layers()[l].outputs); ++n) {
      reference[n].Step(rule, /*decay=*/false, gradient[n], rule.step);
    }
  }
}

void RunRule(const Backend& backend, UpdateRule rule) {
  SCOPED_TRACE(fmt::format("{} {}", backend.name(), ReferenceRuleName(rule)));
  Network network(TwoLayers(), DType::kF64);
  network.Initialize(Initialization::kGlorotNormal, 3);
  const Matrix x = RandomMatrix(11, 5, DType::kF64, 1);
  const Matrix y = RandomMatrix(11, 3, DType::kF64, 2);
  Executor executor(network, backend, {.max_batch = 11, .training = true, .state_count = rule.StateCount()});
  std::vector<ReferenceParameter> reference = ReferenceOf(network);
  std::vector<double> gradient(reference.size());
  for (rule.step = 1; rule.step <= 5; ++rule.step) {
    LossSums sums;
    executor.Step(x.view(), y.view(), nullptr, nullptr, &sums);
    backend.Download(gradient.data(), executor.gradients().data(), network.parameter_bytes());
    executor.Step(x.view(), y.view(), nullptr, &rule, &sums);
    StepReference(network, rule, gradient, reference);
    executor.StoreParameters(network);
    for (size_t n = 0; n < reference.size(); ++n) {
      ASSERT_NEAR(static_cast<const double*>(network.parameters())[n], reference[n].w, 1e-12)
          << "step " << rule.step << ", parameter " << n;
    }
  }
}

TEST(Executor, StepsFollowTheUpdateRulesOnEveryBackend) {
  for (const int threads : {1, 2}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(threads)) {
      for (const UpdateRule& rule : ReferenceRules()) {
        RunRule(*backend, rule);
      }
    }
  }
}

// A step whose gradient is longer than `norm` against the rule with that gradient shortened, on any backend.
void RunClipped(const Backend& backend, UpdateRule rule, double norm) {
  SCOPED_TRACE(fmt::format("{} {} norm {}", backend.name(), ReferenceRuleName(rule), norm));
  Network network(TwoLayers(), DType::kF64);
  network.Initialize(Initialization::kGlorotNormal, 3);
  const Matrix x = RandomMatrix(11, 5, DType::kF64, 1);
  const Matrix y = RandomMatrix(11, 3, DType::kF64, 2);
  Executor executor(network, backend,
                    {.max_batch = 11, .training = true, .step = {.clip_norm = norm}, .state_count = rule.StateCount()});
  EXPECT_FALSE(executor.whole_steps());
  Staging staging(backend);
  const ConstMatrixView x_there = staging.In(x.view());
  const ConstMatrixView y_there = staging.In(y.view());
  const std::unique_ptr<Buffer> sums = backend.Allocate(sizeof(LossSums));
  std::vector<ReferenceParameter> reference = ReferenceOf(network);
  std::vector<double> gradient(reference.size());
  int clipped = 0;
  for (rule.step = 1; rule.step <= 4; ++rule.step) {
    executor.Step(x_there, y_there, nullptr, nullptr, static_cast<LossSums*>(sums->data()));
    backend.Download(gradient.data(), executor.gradients().data(), network.parameter_bytes());
    executor.Step(x_there, y_there, nullptr, &rule, static_cast<LossSums*>(sums->data()));
    const double length = std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
    clipped += length > norm ? 1 : 0;
    for (double& each : gradient) {
      each *= std::min(1.0, norm / length);
    }
    StepReference(network, rule, gradient, reference);
    executor.StoreParameters(network);
    for (size_t n = 0; n < reference.size(); ++n) {
      ASSERT_NEAR(static_cast<const double*>(network.parameters())[n], reference[n].w, 1e-12)
          << "step " << rule.step << ", parameter " << n;
    }
  }
  EXPECT_EQ(clipped, norm < 1 ? 4 : 0) << "both kinds of steps are to be seen";
}

TEST(Executor, GradientsAreClippedOnEveryBackend) {
  for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
    for (const UpdateRule& rule : ReferenceRules()) {
      RunClipped(*backend, rule, 0.125);
      RunClipped(*backend, rule, 1000);
    }
  }
}

// Large enough for every thread: the same bits on any number of them.
TEST(Executor, ClippedStepsHaveTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<LayerSpec> layers{{130, 150, Synapse::kDot, "tanh", true},
                                      {150, 3, Synapse::kDot, "identity", true}};
  const Matrix x = RandomMatrix(8, 130, DType::kF32, 1);
  const Matrix y = RandomMatrix(8, 3, DType::kF32, 2);
  std::string expected;
  for (const int threads : {1, 2, 3}) {
    Network network(layers, DType::kF32);
    network.Initialize(Initialization::kGlorotNormal, 3);
    const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = threads});
    Executor executor(network, *backend, {.max_batch = 8, .training = true, .step = {.clip_norm = 0.01}});
    const UpdateRule rule{.learning_rate = 1};
    LossSums sums;
    executor.Step(x.view(), y.view(), nullptr, &rule, &sums);
    executor.StoreParameters(network);
    expected = expected.empty() ? ParameterBytes(network) : expected;
    EXPECT_TRUE(ParameterBytes(network) == expected) << threads << " threads";
  }
}

// What is not finite is not made to look as if it were.
TEST(Executor, AGradientThatIsNotFiniteIsNotClipped) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      double gradient[] = {1, bad, -3};
      std::vector<double> parts(ClipArgs::kParts);
      backend->ClipGradient({gradient, 3, DType::kF64, 0.5, parts.data()});
      EXPECT_EQ(gradient[0], 1);
      EXPECT_FALSE(std::isfinite(gradient[1]));
    }
  }
}

TEST(Executor, PredictsInBatchesOfAnySize) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Network network(TwoLayers("softmax"), dtype);
    network.Initialize(Initialization::kGlorotNormal, 3);
    const Matrix x = RandomMatrix(23, 5, dtype, 1);
    for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
      Matrix whole(23, 3, dtype);
      Executor(network, *backend, {.max_batch = 23}).Predict(x.view(), whole.view());
      for (const int64_t batch : {1, 4, 22, 64}) {
        Matrix parts(23, 3, dtype);
        Executor(network, *backend, {.max_batch = batch}).Predict(x.view(), parts.view());
        DispatchFloat(dtype, [&]<class T>(T) {
          for (int64_t i = 0; i < 23 * 3; ++i) {
            EXPECT_NEAR(parts.Row<T>(0)[i], whole.Row<T>(0)[i], 1e-6);
          }
        });
      }
    }
  }
}

TEST(Executor, EvaluateCountsCorrectAnswers) {
  Network network({{2, 2, Synapse::kDot, "softmax", false}}, DType::kF64);
  network.Weights(0).Row<double>(0)[0] = 1;  // class 0 where x0 > x1
  network.Weights(0).Row<double>(1)[1] = 1;
  const double x[] = {2, 1, 1, 2, 3, 0};
  const double y[] = {1, 0, 1, 0, 1, 0};
  for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
    Executor executor(network, *backend, {.max_batch = 3, .step = {.loss = Loss::kCrossEntropy}});
    LossSums sums;
    executor.Evaluate(ViewOf(x, 3, 2), ViewOf(y, 3, 2), nullptr, &sums);
    executor.Evaluate(ViewOf(x, 1, 2), ViewOf(y, 1, 2), nullptr, &sums);
    EXPECT_EQ(sums.correct, 3);
    EXPECT_EQ(sums.samples, 4);
    EXPECT_NEAR(
        sums.loss,
        3 * std::log1p(std::exp(-1)) - std::log1p(std::exp(-1)) + std::log1p(std::exp(1)) + std::log1p(std::exp(-3)),
        1e-12);
  }
}

TEST(Executor, ASingleOutputIsCorrectOnTheTargetsSide) {
  const Network network({{1, 1, Synapse::kDot, "identity", false}}, DType::kF64);
  static_cast<double*>(network.parameters())[0] = 1;
  const double x[] = {-0.9, 0.1, 0.6, 2};
  const double y[] = {-1, -1, 1, 1};
  for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
    for (const auto& [threshold, correct] : std::vector<std::pair<double, int64_t>>{{0.0, 3}, {0.5, 4}, {0.7, 3}}) {
      Executor executor(network, *backend, {.max_batch = 4, .step = {.class_threshold = threshold}});
      LossSums sums;
      executor.Evaluate(ViewOf(x, 4, 1), ViewOf(y, 4, 1), nullptr, &sums);
      EXPECT_EQ(sums.correct, correct) << threshold;
    }
  }
}

TEST(Executor, AnySlicingGivesARowTheSameBitsInEveryBatch) {
  Network network(TwoLayers("softmax"), DType::kF32);
  network.Initialize(Initialization::kGlorotNormal, 3);
  const Matrix x = RandomMatrix(300, 5, DType::kF32, 1);
  Matrix expected(300, 3, DType::kF32);
  const std::unique_ptr<Backend> one = MakeBackend("cpu", {.threads = 1});
  Executor(network, *one, {.max_batch = 300, .any_slicing = true}).Predict(x.view(), expected.view());
  for (const auto& [batch, threads] : std::vector<std::pair<int64_t, int>>{{1, 1}, {7, 2}, {299, 3}}) {
    const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = threads});
    Matrix found(300, 3, DType::kF32);
    Executor(network, *backend, {.max_batch = batch, .any_slicing = true}).Predict(x.view(), found.view());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), 300 * 3 * sizeof(float)), 0) << batch;
  }
}

TEST(Executor, RefusesALossThatTheOutputCannotServe) {
  const Network network(TwoLayers(), DType::kF32);
  for (const std::unique_ptr<Backend>& backend : AllBackends(1)) {
    const Error error =
        CaughtError([&] { Executor(network, *backend, {.training = true, .step = {.loss = Loss::kCrossEntropy}}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(Mentions(error.what(), "softmax"));
  }
}

TEST(Executor, DescribesEachLayer) {
  const Network network(TwoLayers(), DType::kF32);
  for (const std::unique_ptr<Backend>& backend : AllBackends(1)) {
    const std::vector<std::string> lines = Executor(network, *backend, {}).Describe();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(Mentions(lines[0], std::string(backend->name())));
  }
}

}  // namespace
}  // namespace lamina
