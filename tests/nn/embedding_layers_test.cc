// Embedding layers: a step of every backend against central differences of a loss that is computed here. Mixed samples
// against samples that were mixed before.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/host_elementwise.h"
#include "lamina/backend/training_steps.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/mixup.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

constexpr int64_t kSamples = 6;
constexpr int64_t kColumns = 3;
constexpr int64_t kWaves = 4;

// Waves 0 and 1 are of the first column, 2 of the second, 3 of the third.
struct Embedded {
  Embedded()
      : network({{kColumns, kWaves, Synapse::kDot, "sine", true},
                 {kWaves, 5, Synapse::kDot, "tanh", true},
                 {5, 2, Synapse::kDot, "identity", true}},
                DType::kF64) {
    network.Initialize(Initialization::kNtk, 3);
    for (int64_t j = 0; j < kWaves; ++j) {
      for (int64_t i = 0; i < kColumns; ++i) {
        if (i != std::max<int64_t>(0, j - 1)) {
          network.Weights(0).Row<double>(j)[i] = 0;
        }
      }
    }
  }

  std::vector<double> Start(bool front_scale) const {
    const auto* first = static_cast<const double*>(network.parameters());
    std::vector<double> flat(first, first + network.parameter_bytes() / 8);
    if (front_scale) {
      flat.insert(flat.end(), {0.5, -1.5, 2.0, 0.75});
    }
    flat.resize(
        static_cast<size_t>(TrainedSize_bytes(network, {.embedding_layers = 1, .front_scale = front_scale}) / 8));
    return flat;
  }

  // The factors, where there are any, multiply the columns of the second layer's weights.
  double Loss(const Backend& backend, const std::vector<double>& flat) const {
    Network folded(network.layers(), DType::kF64);
    const auto front = static_cast<size_t>(network.parameter_bytes() / 8);
    auto* parameters = static_cast<double*>(folded.parameters());
    std::copy_n(flat.begin(), front, parameters);
    for (int64_t n = 0; n < 5 * kWaves && flat.size() > front; ++n) {
      parameters[network.offsets()[1].weights + n] *= flat[front + static_cast<size_t>(n % kWaves)];
    }
    Executor executor(folded, backend, {.max_batch = kSamples, .training = true});
    LossSums sums;
    executor.Evaluate(x.view(), y.view(), nullptr, &sums);
    return sums.loss / kSamples;
  }

  Network network;
  Matrix x = RandomMatrix(kSamples, kColumns, DType::kF64, 1);
  Matrix y = RandomMatrix(kSamples, 2, DType::kF64, 2);
};

std::vector<double> NumbersOf(const AlignedBuffer& buffer) {
  const auto* first = static_cast<const double*>(buffer.data());
  return {first, first + buffer.size_bytes() / 8};
}

TEST(EmbeddingLayers, ZerosStayAndAllElseFollowsTheGradient) {
  const Embedded problem;
  constexpr double kRate = 0.01;
  for (const double front_scale : {0.0, 6.0}) {
    const std::vector<double> start = problem.Start(front_scale > 0);
    for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), front_scale));
      Executor executor(
          problem.network, *backend,
          {.max_batch = kSamples, .training = true, .step = {.embedding_layers = 1, .front_scale = front_scale}});
      AlignedBuffer trained(static_cast<int64_t>(start.size() * 8));
      std::memcpy(trained.data(), start.data(), start.size() * 8);
      executor.SetTrainedParameters(trained);
      UpdateRule rule;
      rule.learning_rate = kRate;
      LossSums sums;
      executor.Step(problem.x.view(), problem.y.view(), nullptr, &rule, &sums);
      EXPECT_NEAR(sums.loss / kSamples, problem.Loss(*backend, start), 1e-12);
      const std::vector<double> after = NumbersOf(executor.TrainedParameters());
      for (size_t n = 0; n < start.size(); ++n) {
        constexpr double kStep = 1e-6;
        std::vector<double> moved = start;
        moved[n] = start[n] + kStep;
        const double above = problem.Loss(*backend, moved);
        moved[n] = start[n] - kStep;
        const double slope = (above - problem.Loss(*backend, moved)) / (2 * kStep);
        const bool zero = n < kWaves * kColumns && start[n] == 0;
        const bool is_scale = n >= static_cast<size_t>(problem.network.parameter_bytes() / 8);
        ASSERT_NEAR(start[n] - after[n], zero ? 0 : kRate * (is_scale ? front_scale : 1) * slope, 1e-9) << n;
      }
    }
  }
}

TEST(EmbeddingLayers, ZerosStayInManyStepsOfEveryRule) {
  const Embedded problem;
  const std::unique_ptr<Backend> backend = std::move(HostBackends(1).front());
  for (const std::string& name : UpdateKindNames()) {
    SCOPED_TRACE(name);
    UpdateRule rule;
    rule.kind = ParseUpdateKind(name);
    rule.learning_rate = 0.01;
    rule.weight_decay = 0.01;
    Executor executor(problem.network, *backend,
                      {.max_batch = kSamples,
                       .training = true,
                       .step = {.clip_norm = 1, .embedding_layers = 1},
                       .state_count = rule.StateCount()});
    LossSums sums;
    for (rule.step = 1; rule.step <= 10; ++rule.step) {
      executor.Step(problem.x.view(), problem.y.view(), nullptr, &rule, &sums);
    }
    Network trained(problem.network.layers(), DType::kF64);
    executor.StoreParameters(trained);
    for (int64_t n = 0; n < kWaves * kColumns; ++n) {
      const double before = problem.network.Weights(0).Row<double>(0)[n];
      const double after = trained.Weights(0).Row<double>(0)[n];
      EXPECT_EQ(after == 0, before == 0) << n;
      EXPECT_TRUE(before == 0 || after != before) << n;
    }
  }
}

TEST(Mixup, RowsAreMixedWithTheOnesBehindThem) {
  Matrix rows(3, 2, DType::kF32);
  for (int64_t n = 0; n < 6; ++n) {
    rows.Row<float>(0)[n] = static_cast<float>(n);
  }
  HostElementwise({}).MixRows(0.75, rows.view());
  const float expected[] = {0.5F, 1.5F, 2.5F, 3.5F, 3, 4};
  for (int64_t n = 0; n < 6; ++n) {
    EXPECT_FLOAT_EQ(rows.Row<float>(0)[n], expected[n]) << n;
  }
}

TEST(Mixup, SharesAreByBeta) {
  for (const double alpha : {5e-324, 1e-300, 1e-12, 0.001, 0.1, 0.4, 1.0}) {
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 20'000;
    for (uint64_t stream = 0; stream < kDraws; ++stream) {
      const double share = MixupShare(alpha, 7, stream);
      ASSERT_TRUE(share >= 0 && share <= 1);
      sum += share;
      squares += (share - 0.5) * (share - 0.5);
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 0.02) << alpha;
    EXPECT_NEAR(squares / kDraws, 0.25 / (2 * alpha + 1), 0.006) << alpha;  // the variance of Beta(alpha, alpha)
  }
}

TEST(Mixup, AStepIsThatOfMixedSamples) {
  const Embedded problem;
  Matrix weights = RandomMatrix(kSamples, 1, DType::kF64, 4, 0.5, 2);
  for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
    for (const bool shuffled : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), shuffled));
      const int64_t order[kSamples] = {3, 1, 5, 0, 2, 4};
      const auto taken = [&](const Matrix& from) {
        Matrix to(kSamples, from.cols(), DType::kF64);
        for (int64_t i = 0; i < kSamples; ++i) {
          std::copy_n(from.Row<double>(shuffled ? order[i] : i), from.cols(), to.Row<double>(i));
        }
        HostElementwise({}).MixRows(MixupShare(0.4, 11, kMixupStreams + 5), to.view());
        return to;
      };
      const Matrix x = taken(problem.x);
      const Matrix y = taken(problem.y);
      const Matrix w = taken(weights);
      UpdateRule rule;
      rule.learning_rate = 0.1;
      rule.step = 5;
      Executor expected(problem.network, *backend, {.max_batch = kSamples, .training = true});
      LossSums sums;
      expected.Step(x.view(), y.view(), w.data(), &rule, &sums);
      Executor mixed(problem.network, *backend,
                     {.max_batch = kSamples, .training = true, .step = {.mixup = 0.4, .seed = 11}});
      LossSums own;
      TrainingSteps work;
      work.x = problem.x.view();
      work.targets = problem.y.view();
      work.sample_weights = weights.data();
      work.order = shuffled ? order : nullptr;
      work.end = kSamples;
      work.batch = kSamples;
      work.rule = rule;
      work.sums = &own;
      EXPECT_EQ(mixed.Steps(work), 1);
      EXPECT_DOUBLE_EQ(own.loss, sums.loss);
      EXPECT_EQ(NumbersOf(mixed.TrainedParameters()), NumbersOf(expected.TrainedParameters()));
    }
  }
}

}  // namespace
}  // namespace lamina
