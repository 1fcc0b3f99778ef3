// Simulated steps beside the performance model and beside what slow ranks must cost.
#include "lamina/cluster/step_simulation.h"

#include <gtest/gtest.h>

namespace lamina {
namespace {

const StepCost kStep{.shard_seconds = 4e-3, .fixed_seconds = 1e-3, .gradient_bytes = 4 * 814090};

// The same, of which the gradient travels in nine parts.
StepCost StepInParts() {
  StepCost step = kStep;
  step.part_bytes.assign(9, 401'000);
  step.part_bytes[0] = 41'000;
  step.parts_seconds = 2e-3;
  return step;
}

TEST(StepSimulation, WithoutStragglersItIsTheModel) {
  for (const StepCost& step : {kStep, StepInParts()}) {
    for (const double gbits : {1.0, 10.0, 100.0}) {
      const NetworkCost network{.latency_seconds = 2e-5, .bytes_per_second = gbits * 1e9 / 8};
      for (const int ranks : {1, 2, 3, 8, 64, 200}) {
        const int64_t shards = ranks == 3 ? 8 : ranks;
        const double model = PredictStep(step, network, shards, ranks).seconds();
        EXPECT_NEAR(SimulateSteps(step, network, shards, ranks, 5), model, 0.1 * model)
            << gbits << " " << ranks << " " << step.part_bytes.size();
      }
    }
  }
}

// All wait for the slowest of p: the mean of the largest of p exponential numbers is 1 + 1/2 + ... + 1/p times theirs.
TEST(StepSimulation, AllWaitForTheSlowest) {
  const NetworkCost network{.latency_seconds = 0, .bytes_per_second = 1e15};
  const double compute = kStep.fixed_seconds + kStep.shard_seconds;
  for (const int ranks : {2, 8, 32}) {
    double largest = 0;
    for (int i = 1; i <= ranks; ++i) {
      largest += 1.0 / i;
    }
    const double seconds = SimulateSteps(kStep, network, ranks, ranks, 4000, {.mean = 0.1});
    EXPECT_NEAR(seconds / compute, 1 + 0.1 * largest, 0.01) << ranks;
  }
  const double one_slow = SimulateSteps(kStep, network, 8, 8, 10, {.slow_ranks = 1, .slowdown = 1.5});
  EXPECT_NEAR(one_slow / compute, 1.5, 1e-5);
}

TEST(StepSimulation, PartsTravelWhileOthersAreComputed) {
  const NetworkCost network{.latency_seconds = 2e-5, .bytes_per_second = 1e9};
  const double whole = SimulateSteps(kStep, network, 8, 2, 5);
  const double parts = SimulateSteps(StepInParts(), network, 8, 2, 5);
  const double exchanged = PredictStep(kStep, network, 8, 2).exchange_seconds;
  EXPECT_LT(parts, whole - 0.7 * exchanged);
  EXPECT_GT(parts, whole - exchanged);
}

TEST(StepSimulation, IsBySeed) {
  const NetworkCost network{.latency_seconds = 1e-5, .bytes_per_second = 1e9};
  const auto run = [&](uint64_t seed) {
    return SimulateSteps(kStep, network, 16, 16, 20, {.mean = 0.2, .seed = seed});
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace lamina
