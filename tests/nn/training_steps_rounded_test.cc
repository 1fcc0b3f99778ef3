// Whole training steps by blocks of rows whose products have operands rounded to bf16, against a loop in double that
// rounds the same operands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/half.h"
#include "lamina/nn/executor.h"
#include "tests/conformance/configurations.h"
#include "tests/nn/steps_work.h"

namespace lamina {
namespace {

using namespace steps_work;  // NOLINT(google-build-using-namespace)

double RoundedToBFloat16(double value) {
  return static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(value))));
}

// The parameters after one step by the gradient itself: tanh below an identity, squared error. `operand` is what
// products make of their operands; biases get the delta as it is.
template <class Fn>
std::vector<double> AfterOneStep(const Work& work, const Fn& operand) {
  const Data data(work, DType::kF64);
  const Network start = StartOf(work, DType::kF64);
  const size_t depth = work.layers.size();
  const auto weight = [&](size_t l, int64_t o, int64_t i) { return start.Weights(l).Row<double>(o)[i]; };
  std::vector<std::vector<double>> weights(depth), biases(depth);
  for (size_t l = 0; l < depth; ++l) {
    weights[l].assign(start.Weights(l).Row<double>(0), start.Weights(l).Row<double>(0) + work.layers[l].weight_count());
    const auto* const bias = static_cast<const double*>(start.Bias(l));
    biases[l].assign(bias, bias + work.layers[l].outputs);
  }
  for (int64_t r = 0; r < work.rows; ++r) {
    std::vector<std::vector<double>> a{{data.x.Row<double>(r), data.x.Row<double>(r) + data.x.cols()}};
    for (size_t l = 0; l < depth; ++l) {
      const LayerSpec& spec = work.layers[l];
      const auto* const bias = static_cast<const double*>(start.Bias(l));
      std::vector<double>& to = a.emplace_back(bias, bias + spec.outputs);
      for (int64_t o = 0; o < spec.outputs; ++o) {
        double& z = to[static_cast<size_t>(o)];
        for (int64_t i = 0; i < spec.inputs; ++i) {
          z += operand(weight(l, o, i)) * operand(a[l][static_cast<size_t>(i)]);
        }
        z = l + 1 < depth ? std::tanh(z) : z;
      }
    }
    std::vector<double> delta = a.back();
    for (size_t o = 0; o < delta.size(); ++o) {
      delta[o] = 2 * (delta[o] - data.y.Row<double>(r)[o]) / static_cast<double>(work.rows);
    }
    for (size_t l = depth; l-- > 0;) {
      const LayerSpec& spec = work.layers[l];
      std::vector<double> below(static_cast<size_t>(spec.inputs));
      for (int64_t o = 0; o < spec.outputs; ++o) {
        const double of_output = delta[static_cast<size_t>(o)];
        biases[l][static_cast<size_t>(o)] -= work.rule.learning_rate * of_output;
        for (int64_t i = 0; i < spec.inputs; ++i) {
          const auto at = static_cast<size_t>(i);
          weights[l][static_cast<size_t>(o * spec.inputs + i)] -=
              work.rule.learning_rate * operand(of_output) * operand(a[l][at]);
          below[at] += operand(weight(l, o, i)) * operand(of_output);
        }
      }
      for (size_t i = 0; i < below.size(); ++i) {
        below[i] *= 1 - a[l][i] * a[l][i];
      }
      delta = std::move(below);
    }
  }
  std::vector<double> all;
  for (size_t l = 0; l < depth; ++l) {
    all.insert(all.end(), weights[l].begin(), weights[l].end());
    all.insert(all.end(), biases[l].begin(), biases[l].end());
  }
  return all;
}

std::vector<double> ParametersAfterOneStep(const Work& work, const Backend& backend) {
  Network network = StartOf(work, DType::kF32);
  Executor executor(network, backend, PlanOf(work));
  EXPECT_TRUE(executor.whole_steps());
  const Data data(work, DType::kF32);
  LossSums sums;
  EXPECT_EQ(executor.Steps(StepsOver(data, work, &sums)), 1);
  executor.StoreParameters(network);
  std::vector<double> all;
  for (size_t l = 0; l < work.layers.size(); ++l) {
    all.insert(all.end(), network.Weights(l).Row<float>(0),
               network.Weights(l).Row<float>(0) + work.layers[l].weight_count());
    const auto* const bias = static_cast<const float*>(network.Bias(l));
    all.insert(all.end(), bias, bias + work.layers[l].outputs);
  }
  return all;
}

double LargestDifference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

// Weights, inputs and deltas as operands of products, at every edge of a block; gradients by lanes and by rows. A value
// between two bf16 numbers may be rounded the other way than in double: a part of a step far below what all give.
TEST(RoundedSteps, BlocksOfRowsRoundTheOperands) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{5, 37, 6, 3}, {70, 40, 20, 2}, {1, 1}, {33, 7}}) {
    for (const int64_t batch : {1, 15, 17, 48, 49, 129, 433, 2000}) {
      Work work{Layers(shape, Synapse::kDot, "tanh", "identity"), Loss::kMse, {.learning_rate = 0.5}, batch};
      work.rows = batch;
      work.precision = Precision::kBFloat16;
      const std::vector<double> expected = AfterOneStep(work, &RoundedToBFloat16);
      const double apart = LargestDifference(expected, AfterOneStep(work, [](double v) { return v; }));
      for (const std::string& target : CpuTargets()) {
        SCOPED_TRACE(fmt::format("{}, batch {}, {}", fmt::join(shape, "-"), batch, target));
        const conformance::Chosen cpu({"cpu", "rows", target, 2});
        const double error = LargestDifference(ParametersAfterOneStep(work, cpu.get()), expected);
        EXPECT_LE(error, apart / 20);
      }
    }
  }
}

TEST(RoundedSteps, TheSameBitsOnAnyNumberOfThreads) {
  Work work{Layers({70, 40, 20, 3}, Synapse::kDot, "gelu", "softmax"), Loss::kCrossEntropy, Sgd(), 700, true};
  work.rows = 2500;
  work.precision = Precision::kBFloat16;
  const auto run = [&](int threads) {
    return steps_work::Run(work, *MakeBackend("cpu", {.threads = threads, .kernel = "rows"}), DType::kF32);
  };
  const Outcome alone = run(1);
  EXPECT_NE(alone.described.find("1 thread, bf16 operands"), std::string::npos) << alone.described;
  for (const int threads : {2, 3, 7}) {
    const Outcome together = run(threads);
    EXPECT_EQ(together.described.find("1 thread"), std::string::npos) << together.described;
    EXPECT_EQ(together.values, alone.values);
    EXPECT_EQ(together.sums.loss, alone.sums.loss);
  }
}

}  // namespace
}  // namespace lamina
