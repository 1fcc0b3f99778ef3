// Residual blocks beside loops of this file: answers, gradients by central differences of the loss, texts and refusals.
// On every backend and the emulated GPU.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

constexpr int64_t kResidualBatch = 5;
constexpr int64_t kResidualInputs = 4;

// The answers for `x` in double: activations by the library's scalar formulas, sums and blocks by loops.
std::vector<double> AnswersOf(const Network& network, const std::vector<double>& x) {
  std::vector<double> a = x;
  std::vector<std::vector<double>> inputs;
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerSpec& spec = network.layers()[l];
    inputs.push_back(a);
    std::vector<double> z(static_cast<size_t>(spec.outputs));
    for (int64_t j = 0; j < spec.outputs; ++j) {
      double sum = spec.bias ? static_cast<const double*>(network.Bias(l))[j] : 0;
      for (int64_t i = 0; i < spec.inputs; ++i) {
        const double w = network.Weights(l).Row<double>(j)[i];
        const double value = a[static_cast<size_t>(i)];
        sum += spec.synapse == Synapse::kL1 ? std::abs(value - w) : value * w;
      }
      z[static_cast<size_t>(j)] = sum;
    }
    a.resize(z.size());
    spec.activation.Value(z.data(), a.data(), spec.outputs);
    if (spec.residual > 0) {
      const std::vector<double>& skipped = inputs[l + 1 - static_cast<size_t>(spec.residual)];
      for (size_t j = 0; j < a.size(); ++j) {
        a[j] += skipped[j];
      }
    }
  }
  return a;
}

std::vector<double> RowOf(const Matrix& x, int64_t i) { return {x.Row<double>(i), x.Row<double>(i) + x.cols()}; }

// Loss::kMse as docs/training.md has it: the mean over the rows of the squared errors' sum.
double LossOf(const Network& network, const Matrix& x, const Matrix& y) {
  double loss = 0;
  for (int64_t i = 0; i < x.rows(); ++i) {
    const std::vector<double> answer = AnswersOf(network, RowOf(x, i));
    for (int64_t j = 0; j < y.cols(); ++j) {
      const double error = answer[static_cast<size_t>(j)] - y.Row<double>(i)[j];
      loss += error * error;
    }
  }
  return loss / static_cast<double>(x.rows());
}

const char* const kBlocks[] = {
    "residual(dot-tanh:4),dot-identity:2",                                                    // of the network's input
    "dot-tanh:6,residual(dot-silu:6),dot-identity:2",                                         // a slope that reads z
    "dot-sigmoid:6,residual(dot-tanh:3,dot-identity:6),residual(dot-gelu:6),dot-identity:2",  // one behind the other
    "l1-gaussian(radius=4):5,residual(l1-laplace(radius=6,power=1):5),dot-identity:2",
    "dot-tanh:5,residual(dot-tanh:7,dot-tanh:3,dot-tanh:5),dot-tanh:3,residual(dot-mish:3),dot-identity:2"};

Network NetworkOf(const char* text) {
  Network network(ParseLayers(text, kResidualInputs, true), DType::kF64);
  network.Initialize(Initialization::kGlorotNormal, 5);
  return network;
}

// blas has no distances.
std::vector<std::unique_ptr<Backend>> BackendsFor(const Network& network) {
  std::vector<std::unique_ptr<Backend>> backends = AllBackends(2);
  std::erase_if(backends, [&](const std::unique_ptr<Backend>& backend) {
    return !backend->Supports({network.layers().front(), Pass::kForward, kResidualBatch, DType::kF64});
  });
  return backends;
}

TEST(Residual, AnswersOfEveryBackend) {
  const Matrix x = RandomMatrix(kResidualBatch, kResidualInputs, DType::kF64, 1);
  for (const char* text : kBlocks) {
    const Network network = NetworkOf(text);
    for (const std::unique_ptr<Backend>& backend : BackendsFor(network)) {
      SCOPED_TRACE(fmt::format("{} on {}", text, backend->name()));
      Executor executor(network, *backend, {.max_batch = 3});  // less than the rows
      Matrix y(kResidualBatch, 2, DType::kF64);
      executor.Predict(x.view(), y.view());
      for (int64_t i = 0; i < kResidualBatch; ++i) {
        const std::vector<double> expected = AnswersOf(network, RowOf(x, i));
        for (int64_t j = 0; j < 2; ++j) {
          ASSERT_NEAR(y.Row<double>(i)[j], expected[static_cast<size_t>(j)], 1e-12);
        }
      }
    }
  }
}

TEST(Residual, GradientsOfEveryBackend) {
  const Matrix x = RandomMatrix(kResidualBatch, kResidualInputs, DType::kF64, 1);
  const Matrix y = RandomMatrix(kResidualBatch, 2, DType::kF64, 2);
  for (const char* text : kBlocks) {
    Network network = NetworkOf(text);
    std::vector<double> expected;
    auto* const parameters = static_cast<double*>(network.parameters());
    const int64_t count = network.parameter_bytes() / static_cast<int64_t>(sizeof(double));
    for (int64_t n = 0; n < count; ++n) {
      constexpr double kStep = 1e-6;
      const double kept = parameters[n];
      parameters[n] = kept + kStep;
      const double above = LossOf(network, x, y);
      parameters[n] = kept - kStep;
      expected.push_back((above - LossOf(network, x, y)) / (2 * kStep));
      parameters[n] = kept;
    }
    for (const std::unique_ptr<Backend>& backend : BackendsFor(network)) {
      SCOPED_TRACE(fmt::format("{} on {}", text, backend->name()));
      Executor executor(network, *backend, {.max_batch = kResidualBatch, .training = true});
      backend->Upload(executor.InputBatch(kResidualBatch).data, x.data(), x.rows() * x.cols() * 8);
      backend->Upload(executor.TargetBatch(kResidualBatch).data, y.data(), y.rows() * y.cols() * 8);
      const std::unique_ptr<Buffer> sums = backend->Allocate(sizeof(LossSums));
      executor.Step(executor.InputBatch(kResidualBatch), executor.TargetBatch(kResidualBatch), nullptr, nullptr,
                    static_cast<LossSums*>(sums->data()));
      std::vector<double> got(expected.size());
      backend->Download(got.data(), executor.gradients().data(), count * 8);
      for (size_t n = 0; n < got.size(); ++n) {
        ASSERT_NEAR(got[n], expected[n], 1e-7) << "number " << n;
      }
    }
  }
}

TEST(Residual, TextsAreReadAsTheyAreWritten) {
  for (const char* text : kBlocks) {
    EXPECT_EQ(LayersText(ParseLayers(text, kResidualInputs, true)), text);
  }
  const Network network = NetworkOf(kBlocks[4]);
  EXPECT_EQ(network.layers()[3].residual, 3);
  EXPECT_EQ(network.layers()[5].residual, 1);
  for (size_t l = 0; l < network.layers().size(); ++l) {
    EXPECT_EQ(network.BeginsResidual(l), l == 1 || l == 5) << l;
  }
}

TEST(Residual, IsRefusedWhereItCannotBe) {
  const auto why = [](const char* text) {
    return std::string(CaughtError([&] { Network(ParseLayers(text, kResidualInputs, true), DType::kF32); }).what());
  };
  EXPECT_TRUE(Mentions(why("residual(dot-tanh:5),dot-identity:1"), "takes 4 inputs and gives 5"));
  EXPECT_TRUE(Mentions(why("dot-tanh:5,residual(dot-identity:5)"), "output layer"));
  EXPECT_TRUE(Mentions(why("residual(dot-tanh:4,residual(dot-tanh:4)),dot-identity:1"), "none inside"));
  std::vector<LayerSpec> overlapping = ParseLayers("dot-tanh:4,dot-tanh:4,dot-tanh:4,dot-identity:1", 4, true);
  overlapping[1].residual = 2;
  overlapping[2].residual = 2;
  EXPECT_TRUE(Mentions(Network::CheckLayers(overlapping, DType::kF32).reason, "1 are free"));
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  const Network network = NetworkOf(kBlocks[0]);
  EXPECT_EQ(CaughtError([&] {
              Executor(network, *serial, {.max_batch = 2, .training = true, .first_sums_given = true});
            }).code(),
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace lamina
