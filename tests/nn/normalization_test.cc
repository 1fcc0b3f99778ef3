// Batch normalization. Steps of every backend meet central differences of a network of plain loops in double. Answers
// of folded weights meet the same network by its running statistics.
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

constexpr int64_t kSmallRows = 7;
constexpr int64_t kFeatureCount = 3;
constexpr double kEpsilon = 1e-5;
using Values = std::vector<std::vector<double>>;  // rows × columns
int64_t Padded(int64_t n) { return (n + 15) / 16 * 16; }

std::vector<double> NumbersIn(const AlignedBuffer& buffer) {
  const auto* first = static_cast<const double*>(buffer.data());
  return {first, first + buffer.size_bytes() / 8};
}

AlignedBuffer BufferOf(const std::vector<double>& numbers) {
  AlignedBuffer buffer(static_cast<int64_t>(numbers.size() * 8));
  std::memcpy(buffer.data(), numbers.data(), numbers.size() * 8);
  return buffer;
}

double Activate(const std::string& name, double y) {
  return name == "tanh"   ? std::tanh(y)
         : name == "mish" ? y * std::tanh(std::log1p(std::exp(y)))
         : name == "relu" ? std::max(y, 0.0)
                          : y;
}

/// A network of plain loops over the flat array of an executor. It holds the network's own numbers, a front scale if
/// there is one, then gamma, mean and variance of every hidden layer.
struct Plain {
  explicit Plain(bool front = false) : front_scale(front) {
    network.Initialize(Initialization::kGlorotUniform, 3);
    int64_t at = network.parameter_bytes() / 8;
    front_at = at;
    at += front ? Padded(kFeatureCount) : 0;
    for (size_t l = 0; l + 1 < network.layers().size(); ++l) {
      behind.push_back(at);
      at += 3 * Padded(network.layers()[l].outputs);
    }
    size = at;
  }

  int64_t Gamma(size_t l) const { return behind[l]; }
  int64_t Mean(size_t l) const { return behind[l] + Padded(network.layers()[l].outputs); }
  int64_t Variance(size_t l) const { return behind[l] + 2 * Padded(network.layers()[l].outputs); }

  /// Random numbers everywhere, gaps zero; variances positive.
  std::vector<double> Start() const {
    std::vector<double> flat(static_cast<size_t>(size));
    std::copy_n(static_cast<const double*>(network.parameters()), front_at, flat.begin());
    Random random(17);
    const auto fill = [&](int64_t begin, int64_t count, double low, double high) {
      for (int64_t n = begin; n < begin + count; ++n) {
        flat[static_cast<size_t>(n)] = random.Uniform(low, high);
      }
    };
    fill(front_at, front_scale ? kFeatureCount : 0, 0.5, 2);
    for (size_t l = 0; l < behind.size(); ++l) {
      const int64_t outputs = network.layers()[l].outputs;
      fill(network.offsets()[l].bias, outputs, -0.5, 0.5);
      fill(Gamma(l), outputs, 0.5, 1.5);
      fill(Mean(l), outputs, -0.3, 0.3);
      fill(Variance(l), outputs, 0.5, 2);
    }
    return flat;
  }

  /// What layer l gives for `in`; by the batch (whose statistics go to `mean` and `variance`) or by the running ones.
  Values Layer(size_t l, const Values& in, const std::vector<double>& flat, bool by_batch, std::vector<double>* mean,
               std::vector<double>* variance) const {
    const LayerSpec& spec = network.layers()[l];
    const bool hidden = l + 1 < network.layers().size();
    const auto at = [&](int64_t n) { return flat[static_cast<size_t>(n)]; };
    Values out(in.size(), std::vector<double>(static_cast<size_t>(spec.outputs)));
    for (int64_t j = 0; j < spec.outputs; ++j) {
      const auto column = static_cast<size_t>(j);
      for (size_t i = 0; i < in.size(); ++i) {
        double z = 0;
        for (int64_t c = 0; c < spec.inputs; ++c) {
          const double scale = l == 0 && front_scale ? at(front_at + c) : 1;
          z += at(network.offsets()[l].weights + j * spec.inputs + c) * scale * in[i][static_cast<size_t>(c)];
        }
        out[i][column] = z;
      }
      const double beta = at(network.offsets()[l].bias + j);
      if (!hidden) {
        for (auto& row : out) {
          row[column] += beta;
        }
        continue;
      }
      double m = at(Mean(l) + j);
      double v = at(Variance(l) + j);
      if (by_batch) {
        const auto rows = static_cast<double>(in.size());
        m = v = 0;
        for (const auto& row : out) {
          m += row[column] / rows;
        }
        for (const auto& row : out) {
          v += (row[column] - m) * (row[column] - m) / rows;
        }
      }
      if (mean != nullptr) {
        mean->push_back(m);
        variance->push_back(v);
      }
      for (auto& row : out) {
        row[column] =
            Activate(spec.activation.name(), at(Gamma(l) + j) * (row[column] - m) / std::sqrt(v + kEpsilon) + beta);
      }
    }
    return out;
  }

  Values Answers(const std::vector<double>& flat, int64_t rows, bool by_batch) const {
    Values value;
    for (int64_t i = 0; i < rows; ++i) {
      value.emplace_back(x.Row<double>(i), x.Row<double>(i) + kFeatureCount);
    }
    for (size_t l = 0; l < network.layers().size(); ++l) {
      value = Layer(l, value, flat, by_batch, nullptr, nullptr);
      for (size_t i = 0; !masks.empty() && l < masks.size() && i < value.size(); ++i) {
        for (size_t j = 0; j < value[i].size(); ++j) {
          value[i][j] *= masks[l].Row<double>(static_cast<int64_t>(i))[j];
        }
      }
    }
    return value;
  }

  double Loss(const std::vector<double>& flat, int64_t rows, bool by_batch) const {
    const Values answers = Answers(flat, rows, by_batch);
    double sum = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        const double off = answers[static_cast<size_t>(i)][static_cast<size_t>(j)] - y.Row<double>(i)[j];
        sum += weights[static_cast<size_t>(i)] * off * off;
      }
    }
    return sum;
  }

  bool IsStatistic(int64_t n) const {
    bool found = false;
    for (size_t l = 0; l < behind.size(); ++l) {
      found = found || (n >= Mean(l) && n < behind[l] + 3 * Padded(network.layers()[l].outputs));
    }
    return found;
  }

  Network network{{{kFeatureCount, 5, Synapse::kDot, "mish", true},
                   {5, 4, Synapse::kDot, "tanh", true},
                   {4, 2, Synapse::kDot, "identity", true}},
                  DType::kF64};
  bool front_scale;
  int64_t front_at = 0;
  std::vector<int64_t> behind;  // of each hidden layer
  int64_t size = 0;
  Matrix x = RandomMatrix(kSmallRows, kFeatureCount, DType::kF64, 1);
  Matrix y = RandomMatrix(kSmallRows, 2, DType::kF64, 2);
  std::vector<double> weights{0.5, 1, 1.5, 2, 0.25, 1, 0.75};
  std::vector<Matrix> masks;  // of dropout, a hidden layer each; empty: none
};

const ExecutorOptions kNormalizing{
    .max_batch = kSmallRows, .training = true, .step = {.normalization = Normalization::kBatch}};
void ExpectStepFollowsGradient(const Plain& plain, const Backend& backend, const ExecutorOptions& options, int rows) {
  constexpr double kRate = 0.01;
  const std::vector<double> start = plain.Start();
  Executor executor(plain.network, backend, options);
  ASSERT_EQ(executor.TrainedParameters().size_bytes(), plain.size * 8);
  executor.SetTrainedParameters(BufferOf(start));
  UpdateRule rule;
  rule.learning_rate = kRate;
  rule.step = 7;
  LossSums sums;
  executor.Step(plain.x.view().Rows(0, rows), plain.y.view().Rows(0, rows), plain.weights.data(), &rule, &sums);
  const bool by_batch = rows > 1;
  EXPECT_NEAR(sums.loss, plain.Loss(start, rows, by_batch), 1e-12);
  const std::vector<double> after = NumbersIn(executor.TrainedParameters());
  for (size_t n = 0; n < start.size(); ++n) {
    const auto place = static_cast<int64_t>(n);
    if (plain.IsStatistic(place)) {
      continue;
    }
    constexpr double kStep = 1e-6;
    std::vector<double> moved = start;
    moved[n] = start[n] + kStep;
    const double above = plain.Loss(moved, rows, by_batch);
    moved[n] = start[n] - kStep;
    const double slope = (above - plain.Loss(moved, rows, by_batch)) / (2 * kStep) / static_cast<double>(rows);
    const bool of_front =
        plain.front_scale && place >= plain.front_at && place < plain.front_at + Padded(kFeatureCount);
    ASSERT_NEAR(start[n] - after[n], kRate * (of_front ? options.step.front_scale : 1) * slope, 1e-9) << n;
  }
}

TEST(Normalization, StepsFollowTheGradientThroughTheStatisticsOfTheBatch) {
  for (const int threads : {1, 2}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(threads)) {
      for (const bool front : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", backend->name(), threads, front));
        ExecutorOptions options = kNormalizing;
        options.step.front_scale = front ? 6 : 0;
        Plain plain(front);
        ExpectStepFollowsGradient(plain, *backend, options, kSmallRows);
        ExpectStepFollowsGradient(plain, *backend, options, 2);
        options.step.dropout = 0.4;
        options.step.seed = 9;
        for (uint64_t l = 0; l < 2; ++l) {
          plain.masks.emplace_back(kSmallRows, plain.network.layers()[l].outputs, DType::kF64);
          HostElementwise({}).DropoutMask(options.step.dropout, options.step.seed, kDropoutStreams + 3 * 7 + l,
                                          plain.masks.back().view());
        }
        ExpectStepFollowsGradient(plain, *backend, options, kSmallRows);
      }
    }
  }
}

// One row has no variance: its step is by the running statistics, which stay.
TEST(Normalization, AStepOfOneRowTakesTheRunningStatistics) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
    const Plain plain;
    ExpectStepFollowsGradient(plain, *backend, kNormalizing, 1);
    Executor executor(plain.network, *backend, kNormalizing);
    executor.SetTrainedParameters(BufferOf(plain.Start()));
    const UpdateRule rule;
    LossSums sums;
    executor.Step(plain.x.view().Rows(0, 1), plain.y.view().Rows(0, 1), nullptr, &rule, &sums);
    const std::vector<double> start = plain.Start();
    const std::vector<double> after = NumbersIn(executor.TrainedParameters());
    for (int64_t n = 0; n < plain.size; ++n) {
      if (plain.IsStatistic(n)) {
        EXPECT_EQ(after[static_cast<size_t>(n)], start[static_cast<size_t>(n)]);
      }
    }
  }
}

TEST(Normalization, AnswersAreByTheRunningStatisticsFoldedIntoTheWeights) {
  for (const bool front : {false, true}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
      SCOPED_TRACE(fmt::format("{} {}", backend->name(), front));
      const Plain plain(front);
      ExecutorOptions options = kNormalizing;
      options.step.front_scale = front ? 1 : 0;
      Executor executor(plain.network, *backend, options);
      UpdateRule rule;
      rule.learning_rate = 0.05;
      std::vector<double> expected = NumbersIn(executor.TrainedParameters());  // running statistics only
      for (rule.step = 1; rule.step <= 13; ++rule.step) {
        const std::vector<double> before = NumbersIn(executor.TrainedParameters());
        Values value;
        for (int64_t i = 0; i < kSmallRows; ++i) {
          value.emplace_back(plain.x.Row<double>(i), plain.x.Row<double>(i) + kFeatureCount);
        }
        for (size_t l = 0; l < 2; ++l) {
          std::vector<double> mean;
          std::vector<double> variance;
          value = plain.Layer(l, value, before, true, &mean, &variance);
          const double share = rule.step < 10 ? 1 / static_cast<double>(rule.step) : 0.1;
          for (size_t j = 0; j < mean.size(); ++j) {
            double& m = expected[static_cast<size_t>(plain.Mean(l)) + j];
            double& v = expected[static_cast<size_t>(plain.Variance(l)) + j];
            m = (1 - share) * m + share * mean[j];
            v = (1 - share) * v + share * variance[j] * kSmallRows / (kSmallRows - 1);
          }
        }
        LossSums sums;
        executor.Step(plain.x.view(), plain.y.view(), nullptr, &rule, &sums);
        const std::vector<double> trained = NumbersIn(executor.TrainedParameters());
        for (int64_t n = 0; n < plain.size; ++n) {
          if (plain.IsStatistic(n)) {
            ASSERT_NEAR(trained[static_cast<size_t>(n)], expected[static_cast<size_t>(n)], 1e-12) << rule.step;
          }
        }
        const Values answers = plain.Answers(trained, kSmallRows, false);
        Network folded(plain.network.layers(), DType::kF64);
        executor.StoreParameters(folded);
        const Predictor predictor(folded);
        PredictorScratch scratch = predictor.MakeScratch();
        const ConstMatrixView own = executor.Forward(plain.x.view());
        for (int64_t i = 0; i < kSmallRows; ++i) {
          double single[2];
          predictor.Predict(plain.x.Row<double>(i), single, scratch);
          for (int64_t j = 0; j < 2; ++j) {
            const double answer = answers[static_cast<size_t>(i)][static_cast<size_t>(j)];
            ASSERT_NEAR(own.Row<double>(i)[j], answer, 1e-12) << rule.step;
            ASSERT_NEAR(single[j], answer, 1e-12) << rule.step;
          }
        }
      }
    }
  }
}

TEST(Normalization, GivesTheSameBitsOnAnyNumberOfThreads) {
  Network network({{20, 200, Synapse::kDot, "relu", true},
                   {200, 150, Synapse::kDot, "tanh", true},
                   {150, 3, Synapse::kDot, "softmax", true}},
                  DType::kF32);
  network.Initialize(Initialization::kHeUniform, 4);
  const Matrix x = RandomMatrix(300, 20, DType::kF32, 5);
  const Matrix y = RandomMatrix(300, 3, DType::kF32, 6, 0, 1);
  std::string first;
  for (const int threads : {1, 2, 3, 4}) {
    const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = threads});
    Executor executor(network, *backend,
                      {.max_batch = 300,
                       .training = true,
                       .step = {.loss = Loss::kCrossEntropy, .normalization = Normalization::kBatch},
                       .state_count = 2});
    EXPECT_TRUE(Mentions(executor.whole_steps().reason, "normalized"));
    EXPECT_TRUE(Mentions(executor.Describe()[0], "normalized"));
    UpdateRule rule;
    rule.kind = UpdateKind::kAdam;
    for (rule.step = 1; rule.step <= 5; ++rule.step) {
      LossSums sums;
      executor.Step(x.view(), y.view(), nullptr, &rule, &sums);
    }
    const AlignedBuffer trained = executor.TrainedParameters();
    const std::string bits(static_cast<const char*>(trained.data()), static_cast<size_t>(trained.size_bytes()));
    first = first.empty() ? bits : first;
    EXPECT_TRUE(bits == first) << threads;
  }
}

TEST(Normalization, ATrainedNetworkGoesOnFromItsAnswers) {
  const Plain plain;
  for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
    ExecutorOptions options = kNormalizing;
    options.step.starts_trained = true;
    Executor executor(plain.network, *backend, options);
    Executor without(plain.network, *backend, {.max_batch = kSmallRows, .training = true});
    UpdateRule rule;
    rule.learning_rate = 1e-12;
    for (rule.step = 1; rule.step <= 10; ++rule.step) {
      LossSums sums;
      const int64_t first = rule.step % 4;  // batches of other statistics
      executor.Step(plain.x.view().Rows(first, 3), plain.y.view().Rows(first, 3), nullptr, &rule, &sums);
      const ConstMatrixView expected = without.Forward(plain.x.view());
      const ConstMatrixView got = executor.Forward(plain.x.view());
      for (int64_t i = 0; i < kSmallRows; ++i) {
        ASSERT_NEAR(got.Row<double>(i)[0], expected.Row<double>(i)[0], 1e-4) << rule.step;  // ε beside a variance of 1
      }
    }
  }
}

TEST(Normalization, IsOfTrainedHiddenLayersOfDotProducts) {
  const LayerSpec dot{3, 3, Synapse::kDot, "relu", true};
  const std::vector<LayerSpec> layers{dot, {3, 3, Synapse::kL1, "triangle", false}, dot, dot, dot};
  const auto of = [&](int64_t embeddings, const std::vector<bool>& frozen) {
    return NormalizedLayers(layers, Normalization::kBatch, embeddings, frozen);
  };
  EXPECT_EQ(of(0, {}), std::vector<bool>({true, false, true, true, false}));
  EXPECT_EQ(of(1, {}), std::vector<bool>({false, false, true, true, false}));
  EXPECT_EQ(of(0, {true, false, false, true, false}), std::vector<bool>({false, false, true, false, false}));
  EXPECT_TRUE(NormalizedLayers(layers, Normalization::kNone, 0, {}).empty());
}

TEST(Normalization, IsRefusedWhereItCannotBe) {
  const std::unique_ptr<Backend> backend = std::move(HostBackends(1).front());
  const ExecutorOptions options{.max_batch = 2, .training = true, .step = {.normalization = Normalization::kBatch}};
  const LayerSpec output{3, 1, Synapse::kDot, "identity", true};
  const auto said = [&](const std::vector<LayerSpec>& layers, int64_t members = 1) {
    const Network network(layers, DType::kF64, members);
    return std::string(CaughtError([&] { Executor(network, *backend, options); }).what());
  };
  EXPECT_TRUE(Mentions(said({output}), "no layer to normalize"));
  EXPECT_TRUE(Mentions(said({{2, 3, Synapse::kL1, "triangle", false}, output}), "no layer to normalize"));
  EXPECT_TRUE(Mentions(said({{2, 3, Synapse::kDot, "relu", false}, output}), "dot-relu-nobias"));
  EXPECT_TRUE(Mentions(said({{2, 3, Synapse::kDot, "relu", true}, output}, 2), "members"));
}

}  // namespace
}  // namespace lamina
