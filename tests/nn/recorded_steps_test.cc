// Steps recorded once and repeated by a device: backend cuda, or its emulation, against the plain loops.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/routes.h"
#include "tests/conformance/configurations.h"
#include "tests/neuron/reference_update.h"
#include "tests/nn/steps_work.h"

namespace lamina {
namespace {

using namespace steps_work;  // NOLINT(google-build-using-namespace)

// Backend cuda, or its emulation: 1-sample steps fill a graph of many and some single ones, 7-sample ones end short.
void CheckRecorded(const Work& work, const std::string& what) {
  SCOPED_TRACE(what);
  const Outcome expected = Run(work, *MakeBackend("serial"), DType::kF64);
  const conformance::Chosen cuda({std::string(conformance::CudaUnderTest())});
  ExpectSame(Run(work, cuda.get(), DType::kF64), expected, 1e-11);
  const conformance::Chosen by_layers({std::string(conformance::CudaUnderTest()), "large"});  // small ones in f32, too
  ExpectSame(Run(work, by_layers.get(), DType::kF32), expected, BoundInF32(work.rule));
}

TEST(RecordedSteps, EveryRule) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const int64_t batch : {1, 7}) {
      CheckRecorded({Layers({5, 21, 3}, Synapse::kDot, "tanh", "tanh"), Loss::kMse, rule, batch},
                    ReferenceRuleName(rule));
    }
  }
}

TEST(RecordedSteps, ClippedAndSmoothed) {
  for (const UpdateRule& rule : ReferenceRules()) {
    for (const int64_t batch : {1, 7}) {
      CheckRecorded({Layers({5, 21, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, rule, batch, false,
                     true, 0.1, 0.25},
                    ReferenceRuleName(rule));
    }
  }
  CheckRecorded(
      {ParseLayers("rbf(radius=9)-radius:6,dot-identity:2", 6, true), Loss::kHuber, Sgd(), 5, true, true, 0, 0.25},
      "radii");
}

TEST(RecordedSteps, SampleWeightsAndNoShuffling) {
  for (const bool shuffled : {true, false}) {
    CheckRecorded({Layers({5, 8, 3}, Synapse::kDot, "tanh", "softmax"), Loss::kCrossEntropy, Sgd(), 4, true, shuffled},
                  fmt::format("shuffled {}", shuffled));
  }
}

TEST(RecordedSteps, Distances) {
  for (const char* layers : {"l1-triangle(radius=9):12,dot-identity:2", "l2-gaussian(radius=3):12,dot-identity:2",
                             "rbf(radius=9)-radius:6,dot-identity:2"}) {
    CheckRecorded({ParseLayers(layers, 6, true), Loss::kMse, Sgd(), 5}, layers);
  }
}

// What recipe tabular asks of a step: rates of single layers, a front scale or members, a rate for every step. Answers
// between the calls are those of the steps before them.
struct Trained {
  std::vector<double> parameters;
  std::vector<double> losses;  // over all rows, after each call
};

Trained TrainLikeTabular(const Backend& backend, int64_t members, const UpdateRule& first) {
  const Work work{Layers({5, 21, 8, 3}, Synapse::kDot, "selu", "softmax"), Loss::kCrossEntropy, first, 4};
  Network network(work.layers, DType::kF64, members);
  network.Initialize(Initialization::kNtk, 7);
  ExecutorOptions plan = PlanOf(work);
  plan.max_batch = work.rows;
  plan.step.parametrization = Parametrization::kNtk;
  plan.step.bias_rate = 0.1;
  plan.step.front_scale = 6;
  plan.step.label_smoothing = 0.1;
  EXPECT_TRUE(Accepts(Route::kRecorded, TechniquesOf(network.layers(), members, plan.step)));
  Executor executor(network, backend, plan);
  const Data data(work, DType::kF64);
  LossSums sums;
  Resident resident(backend);
  TrainingSteps steps = StepsOver(data, work, &sums);
  resident.Take(steps);
  Trained trained;
  std::vector<double> rates;
  for (int call = 0; call < 3; ++call) {
    rates.clear();
    for (int64_t i = 0; i < steps.count(); ++i) {  // none at the start, as schedules with a warm-up have
      rates.push_back(first.learning_rate / 4 * static_cast<double>((call * steps.count() + i) % 9));
    }
    steps.rates = rates.data();
    EXPECT_EQ(executor.Steps(steps), steps.count());
    steps.rule.step += steps.count();
    const LossSums zero;
    backend.Upload(steps.sums, &zero, sizeof(zero));
    executor.Evaluate(steps.x, steps.targets, nullptr, steps.sums);
    backend.Download(&sums, steps.sums, sizeof(sums));
    trained.losses.push_back(sums.loss / static_cast<double>(work.rows));
  }
  const AlignedBuffer parameters = executor.FoldedParameters();
  const auto* const numbers = static_cast<const double*>(parameters.data());
  trained.parameters.assign(numbers, numbers + parameters.size_bytes() / 8);
  return trained;
}

TEST(RecordedSteps, RatesOfLayersAndOfStepsAFrontScaleAndMembers) {
  const conformance::Chosen cuda({std::string(conformance::CudaUnderTest())});
  for (const int64_t members : {1, 3}) {
    for (const UpdateRule& rule : ReferenceRules()) {
      SCOPED_TRACE(testing::Message() << members << " members, " << ReferenceRuleName(rule));
      const Trained wanted = TrainLikeTabular(*MakeBackend("serial"), members, rule);
      const Trained got = TrainLikeTabular(cuda.get(), members, rule);
      ASSERT_EQ(got.parameters.size(), wanted.parameters.size());
      for (size_t i = 0; i < wanted.parameters.size(); ++i) {
        ASSERT_NEAR(got.parameters[i], wanted.parameters[i], 1e-10 * (1 + std::abs(wanted.parameters[i]))) << i;
      }
      for (size_t call = 0; call < wanted.losses.size(); ++call) {
        EXPECT_NEAR(got.losses[call], wanted.losses[call], 1e-10 * (1 + wanted.losses[call])) << "call " << call;
      }
      EXPECT_NE(wanted.losses[0], wanted.losses[1]);
    }
  }
}

}  // namespace
}  // namespace lamina
