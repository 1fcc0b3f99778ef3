// Which entries of the portfolio are not begun, since they would take too long.
#include "lamina/run/portfolio_cost.h"

#include <string>

#include "gtest/gtest.h"
#include "lamina/run/portfolio.h"

namespace lamina {
namespace {

constexpr double kMuchTime_seconds = 1e9;

TrainSettings Kernels() {
  TrainSettings settings;
  settings.method = "rfm";
  return settings;
}

TEST(PortfolioCost, NetworksAlwaysBegin) {
  for (const PortfolioEntry& entry : Portfolio()) {
    const TrainSettings settings = WithEntry(TrainSettings(), entry);
    const bool kernels = settings.method == "rfm";
    EXPECT_EQ(WhyTooLarge(settings, {50'000'000, 10, 1}, {5, 5, 2, 1}).empty(), !kernels) << entry.name;
    EXPECT_EQ(RefitSeconds(settings, {5000, 10, 1}, 2) > 0, kernels) << entry.name;
  }
}

TEST(PortfolioCost, KernelMachinesBeginWithTimeAndRowsOfOneMachine) {
  EXPECT_EQ(WhyTooLarge(Kernels(), {600, 10, 1}, {5, 15, 2, 60}), "");
  EXPECT_EQ(WhyTooLarge(Kernels(), {20'001, 10, 1}, {5, 5, 2, kMuchTime_seconds}),
            "one machine has at most 20,000 rows");
  const std::string slow = WhyTooLarge(Kernels(), {10'000, 10, 1}, {5, 5, 2, 1e-3});
  EXPECT_TRUE(slow.starts_with("machines of 8,000 rows would take some ")) << slow;
  const std::string large = WhyTooLarge(Kernels(), {20'000, 10, 1}, {5, 5, 1'000'000, kMuchTime_seconds});
  EXPECT_TRUE(large.ends_with("need more than the memory")) << large;
}

TEST(PortfolioCost, TimeGrowsWithTheCubeOfTheRows) {
  const double of_one = RefitSeconds(Kernels(), {2000, 10, 1}, 1);
  const double of_double = RefitSeconds(Kernels(), {4000, 10, 1}, 1);
  EXPECT_GT(of_double, 6 * of_one);
  EXPECT_LT(of_double, 8 * of_one);
  EXPECT_DOUBLE_EQ(RefitSeconds(Kernels(), {2000, 10, 1}, 2), of_one / 2);
}

}  // namespace
}  // namespace lamina
