// The performance model beside numbers computed by hand, and the measurement of a network that is memory.
#include "lamina/cluster/performance_model.h"

#include <gtest/gtest.h>

#include "lamina/cluster/thread_ranks.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

// 784-1024-10 in f32 over 10 Gbit/s without latency: 2 (p - 1) / p S / B is 2.6 ms for two ranks and 4.6 ms for eight.
TEST(PerformanceModel, ExchangesOfTheNetworkOf2016) {
  const StepCost step{.shard_seconds = 1e-3, .fixed_seconds = 2e-3, .gradient_bytes = 4 * 814090};
  const NetworkCost network{.latency_seconds = 0, .bytes_per_second = 1.25e9};
  EXPECT_NEAR(PredictStep(step, network, 8, 2).exchange_seconds, 2.6e-3, 0.05e-3);
  EXPECT_NEAR(PredictStep(step, network, 8, 8).exchange_seconds, 4.56e-3, 0.05e-3);
  EXPECT_EQ(PredictStep(step, network, 8, 1).exchange_seconds, 0);
  EXPECT_DOUBLE_EQ(PredictStep(step, network, 8, 1).compute_seconds, 10e-3);
  EXPECT_DOUBLE_EQ(PredictStep(step, network, 8, 3).compute_seconds, 5e-3);  // one rank has three shards
  EXPECT_DOUBLE_EQ(PredictStep(step, network, 8, 8).compute_seconds, 3e-3);
}

TEST(PerformanceModel, LatencyCountsForEveryMessage) {
  const StepCost step{.shard_seconds = 1e-3, .fixed_seconds = 0, .gradient_bytes = 0};
  const NetworkCost network{.latency_seconds = 1e-4, .bytes_per_second = 1e9};
  EXPECT_DOUBLE_EQ(PredictStep(step, network, 8, 4).exchange_seconds, 3 * 4 * 1e-4);
}

// Four parts of 10 ms each, of which one takes 4 ms to exchange: only the last one is seen. Where it takes 16 ms, all
// but the 30 ms computed after the first part are.
TEST(PerformanceModel, PartsTravelWhileOthersAreComputed) {
  StepCost step{.shard_seconds = 60e-3, .fixed_seconds = 0, .gradient_bytes = 4'000'000};
  step.part_bytes.assign(4, 1'000'000);
  step.parts_seconds = 40e-3;
  const NetworkCost fast{.latency_seconds = 0, .bytes_per_second = 250e6};
  const StepTime quick = PredictStep(step, fast, 2, 2);
  EXPECT_NEAR(quick.exchange_seconds, 16e-3, 1e-9);
  EXPECT_NEAR(quick.hidden_seconds, 12e-3, 1e-9);
  EXPECT_NEAR(quick.seconds(), 64e-3, 1e-9);
  const NetworkCost slow{.latency_seconds = 0, .bytes_per_second = 62.5e6};
  EXPECT_NEAR(PredictStep(step, slow, 2, 2).seconds(), 60e-3 + 64e-3 - 30e-3, 1e-9);
  step.part_bytes.clear();
  EXPECT_NEAR(PredictStep(step, fast, 2, 2).seconds(), 76e-3, 1e-9);
  EXPECT_EQ(PredictStep(step, fast, 2, 1).hidden_seconds, 0);
}

TEST(PerformanceModel, AdviceSaysWhetherItPays) {
  const StepCost step{.shard_seconds = 1e-2, .fixed_seconds = 1e-3, .gradient_bytes = 4 * 814090};
  const auto fast = PredictSteps(step, {1e-6, 1e11}, 8, 8);
  ASSERT_EQ(fast.size(), 4U);
  EXPECT_EQ(fast.back().ranks, 8);
  EXPECT_TRUE(Mentions(AdviceOn(fast), "8 ranks should be fastest, 7."));
  EXPECT_TRUE(Mentions(AdviceOn(PredictSteps(step, {1e-1, 1e6}, 8, 8)), "will not make this training faster"));
  EXPECT_EQ(PredictSteps(step, {1e-6, 1e11}, 8, 6).back().ranks, 6);
}

TEST(PerformanceModel, ANetworkIsMeasuredAlikeByAllRanks) {
  RunRanks(3, [](Communicator& ranks) {
    NetworkCost cost = MeasureNetwork(ranks);
    EXPECT_GT(cost.latency_seconds, 0);
    EXPECT_GT(cost.bytes_per_second, 1e6);
    NetworkCost first = cost;
    ranks.Broadcast(&first, sizeof(first), 0);
    EXPECT_EQ(cost.bytes_per_second, first.bytes_per_second);
    EXPECT_EQ(cost.latency_seconds, first.latency_seconds);
  });
}

}  // namespace
}  // namespace lamina
