// Whole training steps: small networks on backend cpu against the plain loops layer by layer, and what a call of
// Executor::Steps promises on every backend.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "tests/conformance/configurations.h"
#include "tests/neuron/custom_activations.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/steps_work.h"

namespace lamina {
namespace {

using namespace steps_work;  // NOLINT(google-build-using-namespace)

void Check(const Work& work, const std::string& what) {
  SCOPED_TRACE(fmt::format("{}, batch {}", what, work.batch));
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  const Outcome expected = Run(work, *serial, DType::kF64);
  EXPECT_FALSE(expected.whole);
  for (const std::string& target : CpuTargets()) {
    SCOPED_TRACE(target);
    const conformance::Chosen cpu({"cpu", "auto", target, 2});
    const Outcome wide = Run(work, cpu.get(), DType::kF64);
    ASSERT_NE(wide.described.find(target), std::string::npos) << wide.described;
    ExpectSame(wide, expected, 1e-12);
    const Outcome narrow = Run(work, cpu.get(), DType::kF32);
    ASSERT_NE(narrow.described.find(target), std::string::npos) << narrow.described;
    ExpectSame(narrow, expected, BoundInF32(work.rule));
  }
}

TEST(SmallNetwork, EveryShapeAndBatch) {
  // Turned and plain weights, ragged and whole vectors, one neuron, tiles of every height.
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{8, 4, 2, 1}, {1, 1}, {3, 40, 5}, {40, 3, 17, 2}, {70, 2}, {16, 16, 16}}) {
    for (const int64_t batch : {1, 2, 7, 23, 32}) {
      Check({Layers(shape, Synapse::kDot, "bipolar_sigmoid", "bipolar_sigmoid"), Loss::kMse, Sgd(), batch},
            fmt::format("{}", fmt::join(shape, "-")));
    }
  }
}

TEST(SmallNetwork, EveryActivation) {
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

TEST(SmallNetwork, AnActivationOfOnesOwn) {
  for (const int64_t batch : {1, 5}) {
    const Activation own = Activation::Custom(Swish{});
    Check({Layers({6, 9, 3}, Synapse::kDot, own, own), Loss::kMse, Sgd(), batch}, "swish");
  }
}

TEST(SmallNetwork, EveryLossWithSampleWeights) {
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

TEST(SmallNetwork, EveryRuleWithAndWithoutBias) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const bool bias : {true, false}) {
      for (const int64_t batch : {1, 6}) {
        Check({Layers({5, 21, 3}, Synapse::kDot, "tanh", "tanh", bias), Loss::kMse, rule, batch},
              fmt::format("{}, bias {}", ReferenceRuleName(rule), bias));
      }
    }
  }
}

TEST(SmallNetwork, EverySynapse) {
  for (const std::string& name : SynapseNames()) {
    const Synapse synapse = ParseSynapse(name);
    for (const int64_t batch : {1, 3, 8}) {
      Check({Layers({6, 20, 2}, synapse, "gaussian(radius=3)", "identity"), Loss::kMse, Sgd(), batch}, name);
      Check({Layers({20, 6, 7, 2}, synapse, "gaussian(radius=3)", "identity"), Loss::kMse, Sgd(), batch}, name);
    }
  }
}

TEST(SmallNetwork, TheSameBitsOnAnyNumberOfThreads) {
  const auto run = [](const Work& work, int threads) {
    return steps_work::Run(work, *MakeBackend("cpu", {.threads = threads}), DType::kF32);
  };
  for (const std::string& name : SynapseNames()) {
    SCOPED_TRACE(name);
    const Work work{Layers({70, 200, 60, 3}, ParseSynapse(name), "gaussian(radius=3)", "softmax"), Loss::kCrossEntropy,
                    Sgd(), 20, true};
    Check(work, name);
    const Outcome alone = run(work, 1);
    EXPECT_NE(alone.described.find("1 thread"), std::string::npos) << alone.described;
    for (const int threads : {2, 3}) {
      const Outcome together = run(work, threads);
      EXPECT_NE(together.described.find("small network, "), std::string::npos) << together.described;
      EXPECT_NE(together.described.find(fmt::format("{} threads", threads)), std::string::npos) << together.described;
      EXPECT_EQ(together.values, alone.values);
      EXPECT_EQ(together.sums.loss, alone.sums.loss);
    }
  }
}

TEST(SmallNetwork, SaysWhyNot) {
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
  EXPECT_NE(verdict(large_batch).reason.find("2000 samples"), std::string::npos);
  Work radii = small;
  radii.layers = ParseLayers("rbf(radius=2)-radius:4,dot-identity:1", 8, true);
  EXPECT_NE(verdict(radii).reason.find("radii"), std::string::npos);
  Work clipped = small;
  clipped.clip_norm = 1;
  EXPECT_NE(verdict(clipped).reason.find("clipped"), std::string::npos);
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
