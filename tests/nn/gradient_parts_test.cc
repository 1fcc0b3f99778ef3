// Gradients in parts: every trained parameter in one of them, and the bits of gradients in one piece.
#include "lamina/nn/gradient_parts.h"

#include <gtest/gtest.h>

#include <cstring>

#include "lamina/backend/training_steps.h"
#include "lamina/nn/executor.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

// Layers with slightly more neurons than a part has at least, and a softmax, which reads a whole row.
std::vector<LayerSpec> LayersInParts(Synapse synapse) {
  return {{37, 339, synapse, IsDistance(synapse) ? "triangle(radius=30)" : "tanh", true},
          {339, 18, Synapse::kDot, "sigmoid", true},
          {18, 3, Synapse::kDot, "softmax", false}};
}

TEST(GradientParts, HoldEveryTrainedParameterOnce) {
  for (const std::vector<LayerSpec>& layers :
       {LayersInParts(Synapse::kDot), std::vector<LayerSpec>{{784, 1024}, {1024, 10}}, std::vector<LayerSpec>{{3, 1}},
        std::vector<LayerSpec>(20, {100, 100})}) {
    const Network network(layers, DType::kF32);
    for (size_t frozen = 0; frozen < layers.size(); ++frozen) {  // so many layers from the first
      std::vector<bool> left_out(layers.size());
      std::fill_n(left_out.begin(), frozen, true);
      const std::vector<GradientPart> parts = GradientPartsOf(layers, network.offsets(), left_out);
      std::vector<int> seen(static_cast<size_t>(network.parameter_bytes() / 4));
      for (const GradientPart& part : parts) {
        const LayerSpec& layer = layers[part.layer];
        EXPECT_GE(part.layer, frozen);
        EXPECT_TRUE(part.end - part.begin >= PreparedLayer::kNeuronsApart ||
                    (part.begin == 0 && part.end == layer.outputs));
        for (int64_t i = 0; i < part.weight_count; ++i) {
          ++seen[static_cast<size_t>(part.weights + i)];
        }
        for (int64_t i = 0; i < part.bias_count; ++i) {
          ++seen[static_cast<size_t>(part.bias + i)];
        }
      }
      int64_t once = 0;
      int64_t expected = 0;
      for (size_t l = frozen; l < layers.size(); ++l) {
        expected += layers[l].parameter_count();
      }
      for (const int times : seen) {
        EXPECT_LE(times, 1);
        once += times;
      }
      EXPECT_EQ(once, expected);
    }
  }
}

TEST(GradientParts, ALargeLayerIsCut) {
  const std::vector<LayerSpec> layers{{784, 1024}, {1024, 10}};
  const Network network(layers, DType::kF32);
  const std::vector<GradientPart> parts = GradientPartsOf(layers, network.offsets(), {});
  ASSERT_EQ(parts.size(), 7U);
  EXPECT_EQ(parts[0].layer, 1U);
  for (size_t i = 1; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].begin % 16, 0);
    EXPECT_NEAR(static_cast<double>(parts[i].end - parts[i].begin), 1024 / 6.0, 16);
  }
}

class PartsOfGradients : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(, PartsOfGradients, testing::Values(DType::kF32, DType::kF64),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

// On every backend that says it can, for every synapse, with dense inputs and mostly zeros. Rows are shuffled or not,
// in several ranges of those that are kept.
TEST_P(PartsOfGradients, HaveTheBitsOfThoseInOnePiece) {
  constexpr int64_t kRows = 90;
  const Matrix targets = RandomMatrix(kRows, 3, GetParam(), 2);
  const Matrix weights = RandomMatrix(kRows, 1, GetParam(), 3, 0.5, 2);
  std::vector<int64_t> order(kRows);
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  int computed = 0;
  for (const auto& backend : HostBackends(2)) {
    for (size_t s = 0; s < SynapseNames().size(); ++s) {
      for (const bool sparse : {false, true}) {
        Matrix x = RandomMatrix(kRows, 37, GetParam(), 1);
        for (int64_t i = 0; sparse && i < kRows; ++i) {
          std::memset(x.view().Rows(i, 1).data, 0, static_cast<size_t>(30 * DTypeSize_bytes(GetParam())));
        }
        const Synapse synapse = static_cast<Synapse>(s);
        if (!backend->Supports({LayersInParts(synapse).front(), Pass::kWeightGradient, 40, GetParam()})) {
          continue;
        }
        Network network(LayersInParts(synapse), GetParam());
        network.Initialize(Initialization::kGlorotUniform, 1);
        const ExecutorOptions options{.max_batch = 40, .training = true, .step = {.loss = Loss::kMse}};
        Executor whole(network, *backend, options);
        Executor parts(network, *backend, options);
        if (!parts.ComputesByParts()) {
          continue;
        }
        ++computed;
        parts.KeepRows(kRows);
        for (const int64_t* sequence :
             {static_cast<const int64_t*>(nullptr), static_cast<const int64_t*>(order.data())}) {
          LossSums of_whole;
          LossSums of_parts;
          TrainingSteps work{
              .x = x.view(), .targets = targets.view(), .sample_weights = weights.data(), .order = sequence};
          struct Range {
            int64_t begin, rows;
            ConstMatrixView x;
          };
          std::vector<Range> ranges{{0, 40, {}}, {40, 11, {}}, {51, 39, {}}};
          for (Range& range : ranges) {
            work.sums = &of_parts;
            range.x = parts.Deltas(work, range.begin, range.rows, range.begin);
          }
          for (const Range& range : ranges) {
            work.sums = &of_whole;
            whole.Gradient(work, range.begin, range.rows);
            const auto* expected = static_cast<const char*>(whole.gradients().data());
            for (const GradientPart& part : parts.Parts()) {
              const int64_t element = DTypeSize_bytes(GetParam());
              AlignedBuffer gradient(part.count() * element);
              parts.PartGradient(part, range.x, range.begin, gradient.data());
              const auto* got = static_cast<const char*>(gradient.data());
              const auto same = [&](int64_t at, int64_t count, int64_t from) {
                return std::memcmp(got + from * element, expected + at * element,
                                   static_cast<size_t>(count * element)) == 0;
              };
              EXPECT_TRUE(same(part.weights, part.weight_count, 0) &&
                          same(part.bias, part.bias_count, part.weight_count))
                  << backend->name() << " " << SynapseNames()[s] << " layer " << part.layer << " from " << part.begin
                  << (sparse ? " sparse" : "");
            }
          }
          EXPECT_EQ(of_parts.loss, of_whole.loss);
        }
      }
    }
  }
  EXPECT_GT(computed, 0);
}

TEST(GradientParts, WhatCannotBeComputedSoSaysWhy) {
  const auto backend = MakeBackend("cpu", {.threads = 1});
  Network radii({{5, 300, Synapse::kL1, "triangle(radius=2)", false, true}, {300, 1}}, DType::kF32);
  const Executor executor(radii, *backend, {.max_batch = 4, .training = true});
  EXPECT_NE(executor.ComputesByParts().reason.find("radii"), std::string::npos);
  Network dots({{5, 300}, {300, 1}}, DType::kF32);
  const Executor dropped(dots, *backend, {.max_batch = 4, .training = true, .step = {.dropout = 0.5}});
  EXPECT_NE(dropped.ComputesByParts().reason.find("dropout"), std::string::npos);
}

}  // namespace
}  // namespace lamina
