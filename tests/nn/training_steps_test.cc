// Whole training steps: small networks on backend cpu against the plain loops layer by layer, and what a call of
// Executor::Steps promises on every backend.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/cpu/row_block_plan.h"
#include "lamina/nn/executor.h"
#include "tests/conformance/configurations.h"
#include "tests/neuron/custom_activations.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/steps_work.h"

namespace lamina {
namespace {

using namespace steps_work;  // NOLINT(google-build-using-namespace)

// The ways of backend cpu, and what each says of itself.
constexpr std::pair<const char*, const char*> kWays[] = {{"small", "small network, "},
                                                         {"rows", "rows through the whole network"}};

void Check(const Work& work, const std::string& what, const char* way) {
  SCOPED_TRACE(fmt::format("{}, {}, batch {}", way, what, work.batch));
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  const Outcome expected = Run(work, *serial, DType::kF64);
  EXPECT_FALSE(expected.whole);
  for (const std::string& target : CpuTargets()) {
    SCOPED_TRACE(target);
    const conformance::Chosen cpu({"cpu", way, target, 2});
    const Outcome wide = Run(work, cpu.get(), DType::kF64);
    ASSERT_NE(wide.described.find(target), std::string::npos) << wide.described;
    ExpectSame(wide, expected, 1e-12);
    const Outcome narrow = Run(work, cpu.get(), DType::kF32);
    ASSERT_NE(narrow.described.find(target), std::string::npos) << narrow.described;
    ExpectSame(narrow, expected, BoundInF32(work.rule));
  }
}

void Check(const Work& work, const std::string& what) {
  for (const auto& [way, says] : kWays) {
    Check(work, what, way);
  }
}

TEST(WholeSteps, EveryShapeAndBatch) {
  // Turned and plain weights, ragged and whole vectors, one neuron, tiles of every height.
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{8, 4, 2, 1}, {1, 1}, {3, 40, 5}, {40, 3, 17, 2}, {70, 2}, {16, 16, 16}}) {
    for (const int64_t batch : {1, 2, 7, 23, 32}) {
      Check({Layers(shape, Synapse::kDot, "bipolar_sigmoid", "bipolar_sigmoid"), Loss::kMse, Sgd(), batch},
            fmt::format("{}", fmt::join(shape, "-")));
    }
  }
}

TEST(WholeSteps, EveryActivation) {
  for (const std::string& name : ActivationNames()) {
    for (const int64_t batch : {1, 5}) {
      if (name != "softmax") {
        const Activation hidden = name == "exp" ? Activation("tanh") : Activation(name);  // e^e^z diverges
        Check({Layers({6, 9, 3}, Synapse::kDot, hidden, Activation(name)), Loss::kMse, Sgd(), batch}, name);
      } else {
        Check({Layers({6, 9, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kMse, Sgd(), batch}, name);
      }
    }
  }
}

TEST(WholeSteps, AnActivationOfOnesOwn) {
  for (const int64_t batch : {1, 5}) {
    const Activation own = Activation::Custom(Swish{});
    Check({Layers({6, 9, 3}, Synapse::kDot, own, own), Loss::kMse, Sgd(), batch}, "swish");
  }
}

TEST(WholeSteps, EveryLossWithSampleWeights) {
  for (const bool weighted : {false, true}) {
    for (const int64_t batch : {1, 4}) {
      Check({Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), batch, weighted},
            "cross_entropy");
      Check({Layers({5, 8, 1}, Synapse::kDot, "tanh", "sigmoid"), Loss::kBinaryCrossEntropy, Sgd(), batch, weighted},
            "binary_cross_entropy");
      for (const std::string& name : LossNames()) {
        if (const Loss loss = Loss::Parse(name); LossAccepts(loss, "identity")) {
          Check({Layers({5, 8, 2}, Synapse::kDot, "tanh", "identity"), loss, Sgd(), batch, weighted, false}, name);
        }
      }
      Check(
          {Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), batch, weighted, true, 0.2},
          "smoothed");
    }
  }
}

TEST(WholeSteps, EveryRuleWithAndWithoutBias) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const bool bias : {true, false}) {
      for (const int64_t batch : {1, 6}) {
        Check({Layers({5, 21, 3}, Synapse::kDot, "tanh", "tanh", bias), Loss::kMse, rule, batch},
              fmt::format("{}, bias {}", ReferenceRuleName(rule), bias));
      }
    }
  }
}

TEST(WholeSteps, EverySynapse) {
  for (const std::string& name : SynapseNames()) {
    const Synapse synapse = ParseSynapse(name);
    for (const int64_t batch : {1, 3, 8}) {
      Check({Layers({6, 20, 2}, synapse, "gaussian(radius=3)", "identity"), Loss::kMse, Sgd(), batch}, name);
      Check({Layers({20, 6, 7, 2}, synapse, "gaussian(radius=3)", "identity"), Loss::kMse, Sgd(), batch}, name);
    }
  }
}

TEST(WholeSteps, TheSameBitsOnAnyNumberOfThreads) {
  const auto run = [](const Work& work, const char* way, int threads) {
    return steps_work::Run(work, *MakeBackend("cpu", {.threads = threads, .kernel = way}), DType::kF32);
  };
  for (const std::string& name : SynapseNames()) {
    Work work{Layers({70, 200, 60, 3}, ParseSynapse(name), "gaussian(radius=3)", "softmax"), Loss::kCrossEntropy, Sgd(),
              20, true};
    Check(work, name);
    for (const auto& [way, says] : kWays) {
      SCOPED_TRACE(fmt::format("{}, {}", name, way));
      if (way == std::string_view("rows")) {  // has something to part
        work.batch = 700;
        work.rows = 1000;
      }
      const Outcome alone = run(work, way, 1);
      EXPECT_NE(alone.described.find("1 thread"), std::string::npos) << alone.described;
      for (const int threads : {2, 3, 7}) {
        const Outcome together = run(work, way, threads);
        EXPECT_NE(together.described.find(says), std::string::npos) << together.described;
        EXPECT_EQ(together.described.find("1 thread"), std::string::npos) << together.described;
        EXPECT_EQ(together.values, alone.values);
        EXPECT_EQ(together.sums.loss, alone.sums.loss);
      }
    }
  }
}

// One row, vectors and blocks with a row more or less, groups of several blocks; the second step is shorter.
TEST(WholeSteps, EveryEdgeOfABlock) {
  for (const int64_t batch : {1, 2, 15, 17, 48, 49, 63, 129, 300, 433, 2000}) {
    Work work{Layers({5, 37, 6, 3}, Synapse::kDot, "gelu", "softmax"), Loss::kCrossEntropy, Sgd(), batch};
    work.rows = batch + (batch + 1) / 2;
    work.weighted = batch % 2 == 0;
    work.shuffled = batch % 3 != 0;
    Check(work, "edges", "rows");
  }
}

// Every block is in one group, those of one block come last, and buffers have room for all.
TEST(WholeSteps, GroupsPartTheBlocks) {
  for (const int64_t rows : {1, 16, 143, 144, 145, 3000, 10000, 60000, 1000003}) {
    for (const int64_t most_vectors : {3, 9}) {
      const cpu::RowCuts cuts(rows, 16, 3, most_vectors);
      SCOPED_TRACE(fmt::format("{} rows, {} vectors", rows, most_vectors));
      EXPECT_GE(cuts.blocks * cuts.block_rows, rows);
      EXPECT_LT((cuts.blocks - 1) * cuts.block_rows, rows);
      EXPECT_LE(cuts.groups, std::min(cuts.blocks, cpu::RowCuts::kMostGroups));
      EXPECT_EQ(cuts.BeginOf(0), 0);
      EXPECT_EQ(cuts.BeginOf(cuts.groups), cuts.blocks);
      for (int64_t group = 0; group < cuts.groups; ++group) {
        EXPECT_LT(cuts.BeginOf(group), cuts.BeginOf(group + 1));
      }
      if (cuts.blocks >= 64) {
        EXPECT_LT(cuts.small_blocks, cuts.large_blocks);
        EXPECT_LE(cuts.blocks - cuts.BeginOf(cuts.groups - 1), cuts.small_blocks);
      }
    }
  }
}

TEST(WholeSteps, SaysWhyNot) {
  const auto verdict = [](const Work& work, const BackendOptions& options = {}) {
    const std::unique_ptr<Backend> cpu = MakeBackend("cpu", options);
    const Executor executor(StartOf(work, DType::kF32), *cpu, PlanOf(work));
    return executor.whole_steps();
  };
  const Work small{Layers({8, 4, 1}, Synapse::kDot, "tanh", "identity")};
  EXPECT_TRUE(verdict(small));
  EXPECT_NE(verdict(small, {.kernel = "own"}).reason.find("layer by layer"), std::string::npos);
  Work wide{Layers({784, 1024, 10}, Synapse::kDot, "tanh", "identity")};
  EXPECT_NE(verdict(wide).reason.find("KiB"), std::string::npos) << verdict(wide).reason;
  Work large_batch = small;
  large_batch.batch = 2000;
  EXPECT_TRUE(verdict(large_batch)) << verdict(large_batch).reason;
  large_batch.layers = wide.layers;
  EXPECT_NE(verdict(large_batch).reason.find("KiB"), std::string::npos) << verdict(large_batch).reason;
  Work radii = small;
  radii.layers = ParseLayers("rbf(radius=2)-radius:4,dot-identity:1", 8, true);
  EXPECT_NE(verdict(radii).reason.find("radii"), std::string::npos);
  Work clipped = small;
  clipped.clip_norm = 1;
  EXPECT_NE(verdict(clipped).reason.find("clipped"), std::string::npos);
  Work rounded = small;
  rounded.precision = Precision::kBFloat16;
  EXPECT_NE(verdict(rounded).reason.find("precision"), std::string::npos) << "four rows";
  EXPECT_NE(verdict(rounded, {.kernel = "small"}).reason.find("precision"), std::string::npos);
}

// Which way is taken by itself: blocks of rows where they are measured to win.
TEST(WholeSteps, TheWayFollowsFromTheSize) {
  const auto described = [](const std::vector<int64_t>& shape, int64_t batch, Precision precision = Precision::kExact) {
    Work work{Layers(shape, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), batch};
    work.precision = precision;
    const std::unique_ptr<Backend> cpu = MakeBackend("cpu");
    return Executor(StartOf(work, DType::kF32), *cpu, PlanOf(work)).Describe().back();
  };
  EXPECT_NE(described({4, 32, 16, 4}, 10000).find(kWays[1].second), std::string::npos);
  EXPECT_NE(described({24, 8, 2}, 200).find(kWays[1].second), std::string::npos);
  EXPECT_NE(described({4, 32, 16, 4}, 16).find(kWays[0].second), std::string::npos);
  EXPECT_NE(described({64, 64, 10}, 256).find(kWays[0].second), std::string::npos);
  EXPECT_EQ(described({784, 1024, 10}, 4096).find("training steps"), std::string::npos);
  for (const Precision precision : {Precision::kBFloat16, Precision::kFast}) {
    EXPECT_NE(described({4, 32, 16, 4}, 10000, precision).find(kWays[1].second), std::string::npos);
    EXPECT_NE(described({4, 32, 16, 4}, 16, precision).find(kWays[1].second), std::string::npos);
    EXPECT_EQ(described({64, 256, 10}, 4096, precision).find("training steps"), std::string::npos);
  }
}

// What Steps() promises whoever computes it.
class Steps : public testing::Test {
 protected:
  Work work_{Layers({5, 19, 3}, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), 4};
};

std::string BytesOf(const Buffer& buffer) {
  return {static_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size_bytes())};
}

TEST_F(Steps, TheSameBitsHoweverCutIntoCalls) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
    SCOPED_TRACE(backend->name());
    const Data data(work_, DType::kF32);
    const Network start = StartOf(work_, DType::kF32);
    Executor whole(start, *backend, PlanOf(work_));
    Executor cut(start, *backend, PlanOf(work_));
    LossSums whole_sums, cut_sums;
    TrainingSteps steps = StepsOver(data, work_, &whole_sums);
    EXPECT_EQ(whole.Steps(steps), 6);
    steps.sums = &cut_sums;
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 8}, {8, 8}, {8, 12}, {12, kRows}}) {
      steps.begin = begin;
      steps.end = end;
      steps.rule.step = 1 + begin / 4;
      EXPECT_EQ(cut.Steps(steps), steps.count());
    }
    EXPECT_EQ(BytesOf(cut.parameters()), BytesOf(whole.parameters()));
    EXPECT_EQ(BytesOf(cut.state(0)), BytesOf(whole.state(0)));
    EXPECT_EQ(cut_sums.loss, whole_sums.loss);
    EXPECT_EQ(cut_sums.samples, kRows);
  }
}

TEST_F(Steps, StopWhereAskedTo) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
    SCOPED_TRACE(backend->name());
    const Data data(work_, DType::kF32);
    Executor executor(StartOf(work_, DType::kF32), *backend, PlanOf(work_));
    LossSums sums;
    TrainingSteps steps = StepsOver(data, work_, &sums);
    int asked = 0;
    const std::function<bool()> stop = [&] { return ++asked == 3; };
    steps.stop_requested = &stop;
    EXPECT_EQ(executor.Steps(steps), 3);
    EXPECT_EQ(sums.samples, 12);
    asked = 10;
    EXPECT_EQ(executor.Steps(steps), 6);
    EXPECT_EQ(asked, 15) << "not after the last step";
  }
}

TEST_F(Steps, EndAtTheFirstLossThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::unique_ptr<Backend>& backend : HostBackends(1)) {
      SCOPED_TRACE(backend->name());
      Data data(work_, DType::kF32);
      data.x.Row<float>(data.order[9])[2] = bad;  // the third step
      data.y.Row<float>(data.order[9])[0] = bad;
      Executor executor(StartOf(work_, DType::kF32), *backend, PlanOf(work_));
      LossSums sums;
      EXPECT_EQ(executor.Steps(StepsOver(data, work_, &sums)), 3);
      EXPECT_FALSE(std::isfinite(sums.loss));
    }
  }
}

}  // namespace
}  // namespace lamina
