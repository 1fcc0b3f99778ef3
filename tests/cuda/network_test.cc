// Small networks on the GPU as one launch for many steps: the GPU where there is one, else its emulation, with all
// blocks at once. Against the plain loops layer by layer, and the same bits in every run.
#include <fmt/format.h>

#include <limits>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "lamina/settings/meanings.h"
#include "tests/conformance/configurations.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/steps_work.h"

namespace lamina {
namespace {

using namespace steps_work;  // NOLINT(google-build-using-namespace)

std::unique_ptr<Backend> Gpu() { return conformance::Chosen::Make({std::string(conformance::CudaUnderTest())}); }

// `blocks`: that the emulated GPU's three multiprocessors have of it; a GPU may have others.
void CheckNetwork(const Work& work, const std::string& what, int blocks = 1) {
  SCOPED_TRACE(fmt::format("{}, batch {}", what, work.batch));
  const std::unique_ptr<Backend> gpu = Gpu();
  const Outcome got = Run(work, *gpu, DType::kF32);
  ASSERT_TRUE(got.whole);
  if (conformance::CudaUnderTest() == conformance::kEmulatedCuda) {
    EXPECT_NE(got.described.find(fmt::format("of {} blocks", blocks)), std::string::npos) << got.described;
  }
  ExpectSame(got, Run(work, *MakeBackend("serial"), DType::kF64), BoundInF32(work.rule));
}

TEST(CudaNetwork, OneBlockOfEveryDepth) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{8, 4, 2, 1}, {1, 1, 1}, {3, 40, 5}, {40, 3, 17, 2}, {5, 9, 4, 3, 2}}) {
    for (const int64_t batch : {1, 7}) {
      CheckNetwork({Layers(shape, Synapse::kDot, "bipolar_sigmoid", "bipolar_sigmoid"), Loss::kMse, Sgd(), batch},
                   fmt::format("{}", fmt::join(shape, "-")));
    }
  }
}

// Blocks that meet: even and uneven shares, groups of two and of one, rows that stay in shared memory and others.
TEST(CudaNetwork, ManyBlocks) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{40, 120, 3}, {41, 121, 5}, {600, 20, 4, 3}, {1028, 17, 2}}) {
    for (const bool bias : {true, false}) {
      CheckNetwork({Layers(shape, Synapse::kDot, "tanh", "sigmoid", bias), Loss::kMse, Sgd(), 12},
                   fmt::format("{}", fmt::join(shape, "-")), 3);
    }
  }
  CheckNetwork({Layers({1028, 20, 2}, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), 23}, "not all rows kept",
               3);
}

// From 32 rows on a warp adds up a parameter's gradient.
TEST(CudaNetwork, ManyRowsInManyBlocks) {
  for (const int64_t batch : {32, 64}) {
    Work work{Layers({40, 120, 3}, Synapse::kDot, "tanh", "sigmoid"), Loss::kMse, Sgd(), batch};
    work.rows = 150;
    CheckNetwork(work, "many rows", 3);
  }
}

TEST(CudaNetwork, EveryActivation) {
  for (const std::string& name : ActivationNames()) {
    const Activation hidden = name == "exp" || name == "softmax" ? Activation("tanh") : Activation(name);
    CheckNetwork({Layers({6, 9, 3}, Synapse::kDot, hidden, Activation(name)), Loss::kMse, Sgd(), 5}, name);
  }
}

TEST(CudaNetwork, EveryLossWithSampleWeights) {
  for (const bool weighted : {false, true}) {
    CheckNetwork({Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), 4, weighted},
                 "cross_entropy");
    CheckNetwork({Layers({5, 8, 1}, Synapse::kDot, "tanh", "sigmoid"), Loss::kBinaryCrossEntropy, Sgd(), 4, weighted},
                 "binary_cross_entropy");
    for (const std::string& name : LossNames()) {
      if (const Loss loss = Loss::Parse(name); LossAccepts(loss, "identity")) {
        CheckNetwork({Layers({5, 8, 2}, Synapse::kDot, "tanh", "identity"), loss, Sgd(), 4, weighted, false}, name);
      }
    }
    CheckNetwork(
        {Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), 4, weighted, true, 0.2},
        "smoothed");
  }
}

TEST(CudaNetwork, EveryRuleWithAndWithoutBias) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const bool bias : {true, false}) {
      CheckNetwork({Layers({5, 21, 3}, Synapse::kDot, "tanh", "tanh", bias), Loss::kMse, rule, 6},
                   fmt::format("{}, bias {}", ReferenceRuleName(rule), bias));
    }
  }
}

TEST(CudaNetwork, EverySynapse) {
  for (const std::string& name : SynapseNames()) {
    const Synapse synapse = ParseSynapse(name);
    CheckNetwork({Layers({6, 20, 2}, synapse, "gaussian(radius=3)", "identity"), Loss::kMse, Sgd(), 3}, name);
    UpdateRule slow = Sgd();  // 120 neurons of one sign
    slow.learning_rate = 0.001;
    CheckNetwork({Layers({40, 120, 2}, synapse, "gaussian(radius=9)", "identity"), Loss::kMse, slow, 9}, name, 3);
  }
}

// Only the rows are rounded: those of bf16 numbers give the bits of f32, however many rows stay and wherever they are.
TEST(CudaNetwork, RowsInBFloat16) {
  const std::unique_ptr<Backend> gpu = Gpu();
  const auto run = [&](Work work, Precision precision, bool rounded_rows) {
    work.precision = precision;
    work.rounded_rows = rounded_rows;
    return steps_work::Run(work, *gpu, DType::kF32);
  };
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{8, 4, 2, 1}, {40, 120, 3}, {41, 121, 5}, {600, 20, 4, 3}, {1028, 20, 2}}) {
    for (const int64_t batch : {7, 23}) {
      SCOPED_TRACE(fmt::format("{}, batch {}", fmt::join(shape, "-"), batch));
      const Work work{Layers(shape, Synapse::kDot, "tanh", "sigmoid"), Loss::kMse, Sgd(), batch};
      const Outcome wanted = run(work, Precision::kExact, true);
      for (const bool rounded_rows : {true, false}) {
        const Outcome got = run(work, Precision::kBFloat16, rounded_rows);
        ASSERT_TRUE(got.whole);
        EXPECT_NE(got.described.find("kept in bf16"), std::string::npos) << got.described;
        EXPECT_EQ(got.values, wanted.values);
        EXPECT_EQ(got.sums.loss, wanted.sums.loss);
      }
      EXPECT_NE(run(work, Precision::kExact, false).values, wanted.values);
    }
  }
}

// Precision auto takes them for classes, where not all rows stay in f32.
TEST(CudaNetwork, RowsInBFloat16AreTwiceAsManyAndOnlyWhereAskedFor) {
  if (conformance::CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "a GPU has other memory";
  }
  const std::unique_ptr<Backend> gpu = Gpu();
  const Network network(Layers({1028, 20, 2}, Synapse::kDot, "tanh", "softmax"), DType::kF32);
  EXPECT_EQ(FastestPrecision(*gpu, network, 23, /*classes=*/true, /*whole=*/true), "exact") << "they take as long";
  const auto kept = [&](Precision precision) {
    Work work{Layers({1028, 20, 2}, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), 23};
    work.precision = precision;
    const std::string described = steps_work::Run(work, *gpu, DType::kF32).described;
    const size_t end = described.find(" of 23 rows kept");
    return std::stoi(described.substr(described.rfind(' ', end - 1)));
  };
  EXPECT_LT(kept(Precision::kExact), 23);
  EXPECT_EQ(kept(Precision::kBFloat16), std::min(23, 2 * kept(Precision::kExact)));
}

TEST(CudaNetwork, TheSameBitsInEveryRunAndHoweverCutIntoCalls) {
  const Work work{Layers({40, 120, 3}, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), 7};
  const std::unique_ptr<Backend> gpu = Gpu();
  const std::vector<double> once = steps_work::Run(work, *gpu, DType::kF32).values;
  EXPECT_EQ(steps_work::Run(work, *gpu, DType::kF32).values, once);
  const Data data(work, DType::kF32);
  const auto run = [&](const std::vector<std::pair<int64_t, int64_t>>& calls) {
    Executor executor(StartOf(work, DType::kF32), *gpu, PlanOf(work));
    Resident resident(*gpu);
    LossSums sums;
    TrainingSteps steps = StepsOver(data, work, &sums);
    resident.Take(steps);
    for (const auto& [begin, end] : calls) {
      steps.begin = begin;
      steps.end = end;
      steps.rule.step = 1 + begin / work.batch;
      EXPECT_EQ(executor.Steps(steps), steps.count());
    }
    gpu->Download(&sums, steps.sums, sizeof(sums));
    EXPECT_EQ(sums.samples, kRows);
    std::string bytes(static_cast<size_t>(executor.parameters().size_bytes()), '\0');
    gpu->Download(bytes.data(), executor.parameters().data(), executor.parameters().size_bytes());
    return std::pair(bytes, sums.loss);
  };
  EXPECT_TRUE(run({{0, kRows}}) == run({{0, 14}, {14, 21}, {21, kRows}}));
}

TEST(CudaNetwork, EndsAtTheFirstLossThatIsNotFiniteAndWhereAskedTo) {
  const Work work{Layers({5, 19, 3}, Synapse::kDot, "tanh", "identity"), Loss::kMse, Sgd(), 4};
  const std::unique_ptr<Backend> gpu = Gpu();
  const auto steps_of = [&](const Data& data, const std::function<bool()>* stop) {
    Executor executor(StartOf(work, DType::kF32), *gpu, PlanOf(work));
    Resident resident(*gpu);
    LossSums sums;
    TrainingSteps steps = StepsOver(data, work, &sums);
    resident.Take(steps);
    steps.stop_requested = stop;
    return executor.Steps(steps);
  };
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Data data(work, DType::kF32);
    data.y.Row<float>(data.order[9])[0] = bad;  // the third step
    EXPECT_EQ(steps_of(data, nullptr), 3);
  }
  int asked = 0;
  const std::function<bool()> stop = [&] { return ++asked > 0; };
  EXPECT_EQ(steps_of(Data(work, DType::kF32), &stop), 6) << "fewer than are done between two questions";
}

TEST(CudaNetwork, SaysWhyNot) {
  const auto reason = [](const Work& work, DType dtype, const std::string& kernel = "auto") {
    const std::unique_ptr<Backend> gpu = conformance::Chosen::Make({std::string(conformance::CudaUnderTest()), kernel});
    const Executor executor(StartOf(work, dtype), *gpu, PlanOf(work));
    return executor.whole_steps().reason;
  };
  const Work small{Layers({8, 4, 1}, Synapse::kDot, "tanh", "identity")};
  EXPECT_EQ(reason(small, DType::kF32), "");
  EXPECT_NE(reason(small, DType::kF64).find("f32 only"), std::string::npos);
  EXPECT_NE(reason(small, DType::kF32, "cublaslt").find("kernel cublaslt computes layer by layer"), std::string::npos);
  Work large_batch = small;
  large_batch.batch = 300;
  EXPECT_NE(reason(large_batch, DType::kF32).find("300 samples"), std::string::npos);
  EXPECT_NE(reason({Layers({8, 4}, Synapse::kDot, "tanh", "identity")}, DType::kF32).find("2 to 4 layers"),
            std::string::npos);
  EXPECT_NE(reason({Layers({8, 4, 33}, Synapse::kDot, "tanh", "identity")}, DType::kF32).find("33 outputs"),
            std::string::npos);
  EXPECT_NE(reason({ParseLayers("rbf(radius=2)-radius:4,dot-identity:1", 8, true)}, DType::kF32).find("radii"),
            std::string::npos);
  EXPECT_NE(reason({ParseLayers("dot-tanh:4,l1-triangle(radius=2):3,dot-identity:1", 8, true)}, DType::kF32)
                .find("above the first"),
            std::string::npos);
  EXPECT_NE(reason({Layers({20000, 400, 2}, Synapse::kDot, "tanh", "identity")}, DType::kF32).find("KiB a block"),
            std::string::npos);
}

}  // namespace
}  // namespace lamina
