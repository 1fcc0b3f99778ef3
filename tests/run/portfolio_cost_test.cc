// Which entries of the portfolio are not begun, since they would take too long or others are better.
#include "lamina/run/portfolio_cost.h"

#include <string>

#include "gtest/gtest.h"
#include "lamina/run/portfolio.h"

namespace lamina {
namespace {

constexpr double kMuchTime_seconds = 1e9;
constexpr PortfolioEntry kKernels = {"kernels", "method=rfm", true, 0.5};

TEST(PortfolioCost, NetworksBeginWithAnyRows) {
  for (const PortfolioEntry& entry : Portfolio()) {
    const bool kernels = WithEntry(TrainSettings(), entry).method == "rfm";
    EXPECT_EQ(WhyNotFor({50'000'000, 10, 1}, entry, {5, 5, 2, 1}).empty(), !kernels) << entry.name;
    EXPECT_EQ(CostOf({5000, 10, 1}, entry, {5, 5, 2, 1}).refit_seconds > 0, kernels) << entry.name;
  }
}

TEST(PortfolioCost, KernelMachinesBeginWithTimeAndRowsOfOneMachine) {
  EXPECT_EQ(WhyNotFor({600, 10, 1}, kKernels, {5, 15, 2, 60}), "");
  EXPECT_EQ(WhyNotFor({20'001, 10, 1}, kKernels, {5, 5, 2, kMuchTime_seconds}), "one machine has at most 20,000 rows");
  const std::string slow = WhyNotFor({10'000, 10, 1}, kKernels, {5, 5, 2, 1e-3});
  EXPECT_TRUE(slow.starts_with("machines of 8,000 rows would take some ")) << slow;
  const std::string large = WhyNotFor({20'000, 10, 1}, kKernels, {5, 5, 1'000'000, kMuchTime_seconds});
  EXPECT_TRUE(large.ends_with("need more than the memory")) << large;
}

TEST(PortfolioCost, AnEntryMayBeForManyRowsAlone) {
  constexpr PortfolioEntry kLarge = {"network", "hidden=8", false, 0, 5001};
  EXPECT_EQ(WhyNotFor({5000, 10, 1}, kLarge, {5, 5, 2, 60}), "it is for 5,001 rows and more");
  EXPECT_EQ(WhyNotFor({5001, 10, 1}, kLarge, {5, 5, 2, 60}), "");
}

TEST(PortfolioCost, TimeGrowsWithTheCubeOfTheRows) {
  const PortfolioCost of_one = CostOf({2000, 10, 1}, kKernels, {5, 5, 1, 60});
  const PortfolioCost of_double = CostOf({4000, 10, 1}, kKernels, {5, 5, 1, 60});
  EXPECT_GT(of_double.refit_seconds, 6 * of_one.refit_seconds);
  EXPECT_LT(of_double.refit_seconds, 8 * of_one.refit_seconds);
  const PortfolioCost together = CostOf({2000, 10, 1}, kKernels, {5, 5, 2, 60});
  EXPECT_DOUBLE_EQ(together.refit_seconds, of_one.refit_seconds / 2);
  EXPECT_DOUBLE_EQ(together.folds_seconds, of_one.folds_seconds / 5 * 3);  // one is alone
}

}  // namespace
}  // namespace lamina
