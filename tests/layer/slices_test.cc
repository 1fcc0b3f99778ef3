// The planner: the paper's example, and that every plan covers the layer within its budget.
#include "lamina/layer/slices.h"

#include <cmath>
#include <string>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

LayerSpec LayerOf(int64_t inputs, int64_t outputs, const char* neuron = "l1-triangle") {
  LayerSpec layer = ParseNeuron(neuron);
  layer.inputs = inputs;
  layer.outputs = outputs;
  return layer;
}

// 2017 paper, section II.A: 8000 nodes for 10000 samples, M = n = N = 4096, less than 0.6 Gbytes of 8-byte numbers.
TEST(PlanSlices, TheExampleOfThePaper) {
  const LayerSpec layer = LayerOf(4096, 8000);
  EXPECT_EQ(SliceBytes(layer, DType::kF64, 4096, 4096), 8 * 3 * 4096LL * 4096);  // eq. (4)
  for (const int64_t budget : {int64_t{402'653'184}, int64_t{600'000'000}, int64_t{1'000'000'000}}) {
    const SlicePlan plan = PlanSlices(layer, 10'000, DType::kF64, {.budget_bytes = budget});
    EXPECT_EQ(plan.samples, 4096);
    EXPECT_EQ(plan.neurons, 4096);
    EXPECT_EQ(plan.sample_slices(), 3);
    EXPECT_EQ(plan.neuron_slices(), 2);
    EXPECT_EQ(plan.count(), 6);
    EXPECT_EQ(plan.slice_bytes, 402'653'184);
  }
  EXPECT_EQ(PlanSlices(layer, 10'000, DType::kF64, {.budget_bytes = 402'653'183}).samples, 2048);
}

TEST(PlanSlices, Asymmetry) {
  const LayerSpec layer = LayerOf(784, 100'000);
  const SlicePlan plan = PlanSlices(layer, 100'000, DType::kF64, {.budget_bytes = 200'000'000, .asymmetry = 4});
  EXPECT_EQ(plan.samples, 8192);  // M = 2048
  EXPECT_EQ(plan.neurons, 512);
  const SlicePlan wide = PlanSlices(layer, 100'000, DType::kF64, {.budget_bytes = 200'000'000, .asymmetry = 0.25});
  EXPECT_EQ(wide.samples, 512);
  EXPECT_EQ(wide.neurons, 8192);
}

TEST(PlanSlices, OutputsHaveTheirOwnSize) {
  const LayerSpec layer = LayerOf(100, 1000);
  EXPECT_EQ(SliceBytes(layer, DType::kU8, 10, 20), (100 * 20 + 10 * 100) + 4 * 10 * 20);
  EXPECT_EQ(SliceBytes(layer, DType::kI32, 10, 20), 4 * (100 * 20 + 10 * 100) + 8 * 10 * 20);
  EXPECT_EQ(SliceBytes(LayerOf(int64_t{1} << 40, 8), DType::kF64, int64_t{1} << 40, 8), INT64_MAX);
}

// Any layer, budget and asymmetry: the slices cover it once, stay within the budget, and M is the largest power of two.
TEST(PlanSlices, CoversEveryOutputOnceWithinTheBudget) {
  Random random(7);
  const DType dtypes[] = {DType::kF64, DType::kF32, DType::kF16, DType::kU8};
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto size = [&](int bits) {
      return static_cast<int64_t>(1 + random.Below(uint64_t{1} << (1 + random.Below(static_cast<uint64_t>(bits)))));
    };
    const LayerSpec layer = LayerOf(size(12), size(20), random.Below(8) == 0 ? "dot-softmax" : "l1-triangle");
    const int64_t batch = size(24);
    const DType dtype = dtypes[random.Below(4)];
    SliceOptions options;
    options.budget_bytes = size(36);
    options.reserved_bytes = random.Below(2) == 0 ? 0 : size(16);
    options.asymmetry = std::exp2(random.Uniform(-5, 5));
    options.samples = random.Below(4) == 0 ? size(12) : 0;
    options.neurons = random.Below(4) == 0 && !layer.activation.is_softmax() ? size(12) : 0;
    SlicePlan plan;
    try {
      plan = PlanSlices(layer, batch, dtype, options);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kResource) << error.what();
      ++errors;
      continue;
    }
    ASSERT_LE(SliceBytes(layer, dtype, plan.samples, plan.neurons) + options.reserved_bytes, options.budget_bytes);
    ASSERT_GE(plan.samples, 1);
    ASSERT_LE(plan.samples, batch);
    ASSERT_LE(plan.neurons, layer.outputs);
    ASSERT_LT((plan.sample_slices() - 1) * plan.samples, batch);
    ASSERT_GE(plan.sample_slices() * plan.samples, batch);
    ASSERT_LT((plan.neuron_slices() - 1) * plan.neurons, layer.outputs);
    ASSERT_GE(plan.neuron_slices() * plan.neurons, layer.outputs);
    if (layer.activation.is_softmax()) {
      ASSERT_EQ(plan.neurons, layer.outputs);
    }
    // Twice M would not fit: here with the slice's sides doubled as far as the layer goes.
    const bool free = options.samples == 0 && options.neurons == 0 && plan.samples >= 96 && plan.neurons >= 32;
    if (free && plan.samples < batch && plan.neurons < layer.outputs) {
      ASSERT_GT(SliceBytes(layer, dtype, std::min(batch, 2 * plan.samples + 2),
                           std::min(layer.outputs, 2 * plan.neurons + 2)) +
                    options.reserved_bytes,
                options.budget_bytes);
    }
  }
  EXPECT_GT(errors, 100);
  EXPECT_LT(errors, 2000);
}

// The budget named by the error is enough, and one byte less is not.
TEST(PlanSlices, TheLeastNeededIsExact) {
  for (const char* neuron : {"l1-triangle", "dot-softmax"}) {
    for (const int64_t reserved : {0, 1 << 26}) {
      const LayerSpec layer = LayerOf(784, 5000, neuron);
      SliceOptions options{.budget_bytes = 1, .reserved_bytes = reserved};
      const int64_t neurons = layer.activation.is_softmax() ? 5000 : 16;
      const int64_t least = reserved + 4 * (784 * neurons + 48 * 784 + 48 * neurons);
      EXPECT_EQ(SliceBytes(layer, DType::kF32, 48, neurons) + reserved, least);
      options.budget_bytes = least - 1;
      const Error error = CaughtError([&] { PlanSlices(layer, 60'000, DType::kF32, options); });
      EXPECT_EQ(error.code(), ErrorCode::kResource);
      std::string named;
      for (const char c : std::string(error.what()).substr(std::string(error.what()).find("at least "))) {
        named += c >= '0' && c <= '9' ? std::string(1, c) : "";
        if (c == 'b') {
          break;
        }
      }
      EXPECT_EQ(named, std::to_string(least)) << error.what();
      options.budget_bytes = least;
      EXPECT_EQ(PlanSlices(layer, 60'000, DType::kF32, options).samples, 48);
    }
  }
}

TEST(PlanSlices, Overrides) {
  const LayerSpec layer = LayerOf(10, 1000);
  const SlicePlan plan = PlanSlices(layer, 500, DType::kF32, {.budget_bytes = 1 << 20, .samples = 7, .neurons = 2000});
  EXPECT_EQ(plan.samples, 7);
  EXPECT_EQ(plan.neurons, 1000);
  EXPECT_TRUE(Mentions(CaughtError([&] {
                         PlanSlices(layer, 500, DType::kF32, {.budget_bytes = 100, .samples = 7, .neurons = 30});
                       }).what(),
                       "7 samples x 30 neurons"));
  const LayerSpec softmax = LayerOf(10, 1000, "dot-softmax");
  const Error error =
      CaughtError([&] { PlanSlices(softmax, 500, DType::kF32, {.budget_bytes = 1 << 20, .neurons = 30}); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), "softmax needs all 1000 neurons"));
  for (const double bad : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_EQ(
        CaughtError([&] { PlanSlices(layer, 500, DType::kF32, {.budget_bytes = 1 << 20, .asymmetry = bad}); }).code(),
        ErrorCode::kInvalidArgument);
  }
  EXPECT_THROW(PlanSlices(layer, 0, DType::kF32, {.budget_bytes = 1 << 20}), Error);
  EXPECT_THROW(PlanSlices(layer, 5, DType::kF32, {.budget_bytes = 1 << 20, .samples = -1}), Error);
}

TEST(DefaultBudget, IsSomeButNotAll) { EXPECT_GT(DefaultBudget_bytes(), 1 << 20); }

}  // namespace
}  // namespace lamina
