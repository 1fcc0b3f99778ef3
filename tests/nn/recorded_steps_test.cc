// Steps recorded once and repeated by a device: backend cuda, or its emulation, against the plain loops.
#include <fmt/format.h>

#include <barrier>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/runs_beside.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/routes.h"
#include "tests/conformance/configurations.h"
#include "tests/cuda/emulated_joint.h"
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

Trained TrainLikeTabular(
    const Backend& backend, int64_t members, const UpdateRule& first, int calls = 3,
    const std::function<void()>& starts = [] {}) {
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
  starts();
  for (int call = 0; call < calls; ++call) {
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

// Runs that differ in everything, the number of steps included, side by side: the bits of each alone.
TEST(RecordedSteps, SideBySide) {
  if (conformance::CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "the emulation counts launches";
  }
  struct OneRun {
    int64_t members;
    UpdateRule rule;
    int calls;
  };
  const std::vector<UpdateRule> rules = ReferenceRules();
  const std::vector<OneRun> runs = {{1, rules.front(), 9}, {3, rules.back(), 12}, {2, rules.front(), 9}};
  for (const bool late : {false, true}) {
    cuda_emulated::SetLateQueues(late ? 1 : 0);
    const auto first = cuda_emulated::MakeBackend({});
    const int64_t before = cuda_emulated::LaunchesTogether();
    std::vector<Trained> got(runs.size());
    std::vector<std::unique_ptr<Backend>> backends;
    std::vector<std::thread> threads;
    std::barrier meeting(std::ssize(runs));
    for (size_t i = 0; i < runs.size(); ++i) {
      backends.push_back(dynamic_cast<const RunsBeside&>(*first).MakeBeside());
      threads.emplace_back([&, i] {
        got[i] = TrainLikeTabular(*backends[i], runs[i].members, runs[i].rule, runs[i].calls,
                                  [&] { meeting.arrive_and_wait(); });
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_GT(cuda_emulated::LaunchesTogether(), before + 10) << "late " << late;
    for (size_t i = 0; i < runs.size(); ++i) {
      const Trained alone =
          TrainLikeTabular(*cuda_emulated::MakeBackend({}), runs[i].members, runs[i].rule, runs[i].calls);
      EXPECT_EQ(got[i].parameters, alone.parameters) << "run " << i << ", late " << late;
      EXPECT_EQ(got[i].losses, alone.losses) << "run " << i << ", late " << late;
    }
  }
  cuda_emulated::SetLateQueues(0);
}

// A run that fails in the middle does not keep the others waiting.
TEST(RecordedSteps, SideBySideWithOneThatFails) {
  if (conformance::CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "two runs of the emulation";
  }
  const auto first = cuda_emulated::MakeBackend({});
  const auto second = dynamic_cast<const RunsBeside&>(*first).MakeBeside();
  std::barrier meeting(2);
  std::thread fails([&] {
    const auto recorded = second->MakeRecordedSteps();
    const std::vector<int64_t> order(8);
    TrainingSteps steps;
    steps.order = order.data();
    steps.end = 8;
    meeting.arrive_and_wait();
    int asked = 0;
    EXPECT_THROW(recorded->Run(steps,
                               [&](int64_t, int64_t, const UpdateRule&) {
                                 if (++asked == 2) {  // the first is outside of a recording
                                   throw Error(ErrorCode::kUnsupported, "no more");
                                 }
                               }),
                 Error);
  });
  const Trained trained = TrainLikeTabular(*first, 1, ReferenceRules().front(), 9, [&] { meeting.arrive_and_wait(); });
  fails.join();
  EXPECT_EQ(trained.parameters,
            TrainLikeTabular(*cuda_emulated::MakeBackend({}), 1, ReferenceRules().front(), 9).parameters);
}

}  // namespace
}  // namespace lamina
