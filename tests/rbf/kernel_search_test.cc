// The limits of a search, and machines that are solved for without one.
#include "lamina/rbf/kernel_search.h"

#include <cmath>
#include <cstring>

#include "gtest/gtest.h"
#include "tests/rbf/kernel_oracle.h"

namespace lamina {
namespace {

TEST(KernelSearch, OneThatIsSolvedForIsOneThatLeavesRowsOut) {
  const Matrix x = AsMatrix(RandomTable(90, 3, 4));
  const Matrix y = AsMatrix(TargetsFor(RandomTable(90, 3, 4), 2));
  std::vector<double> weights(90, 1.0);
  weights[7] = 3;
  KernelMachineOptions options = Fixed({2, 1.4}, 1.0, 0.02, {1, 0.5, 2});
  options.sample_weights = weights;
  const KernelMachine machine = FitKernelMachine(x.view(), y.view(), options);
  std::vector<double> bits;
  for (const int threads : {1, 2, 3}) {
    options.threads = threads;
    const KernelMachine solved = SolveKernelMachine(x.view(), y.view(), machine, options);
    EXPECT_TRUE(solved.left_out.empty());
    EXPECT_EQ(solved.error, machine.error);
    for (int64_t i = 0; i < 90; ++i) {
      EXPECT_NEAR(solved.alpha.Row<double>(i)[1], machine.alpha.Row<double>(i)[1], 1e-9);
    }
    const std::vector<double> found(solved.alpha.Row<double>(0), solved.alpha.Row<double>(0) + 180);
    bits = bits.empty() ? found : bits;
    EXPECT_EQ(std::memcmp(bits.data(), found.data(), found.size() * 8), 0) << threads;
  }
}

TEST(KernelSearch, NoMoreAreSolvedThanAllowedAndTheWayBeginsWhereItShall) {
  const Matrix x = AsMatrix(RandomTable(60, 3, 4));
  const Matrix y = AsMatrix(TargetsFor(RandomTable(60, 3, 4), 2));
  KernelMachineOptions options;
  options.choices.kinds = {{1, 1.0}};
  options.start_scale = 0.3;
  options.start_ridge = 10;
  for (const int64_t most : {1, 2, 5}) {
    options.most_systems = most;
    const KernelMachine machine = FitKernelMachine(x.view(), y.view(), options);
    EXPECT_EQ(machine.tried, most);
    EXPECT_TRUE(std::isfinite(machine.error));
    if (most == 1) {
      EXPECT_EQ(machine.relative, 0.3);
      EXPECT_EQ(machine.ridge, 10);
    }
  }
}

TEST(KernelSearch, ALimitOfSystemsLeavesRoomForADiagonalThatGrows) {
  Table2 x = RandomTable(20, 2, 3);
  x[7] = x[3];
  KernelMachineOptions options = Fixed({1, 1.0}, 1.0, 0);
  options.most_systems = 1;
  EXPECT_GT(FitKernelMachine(AsMatrix(x).view(), AsMatrix(TargetsFor(x, 1)).view(), options).jitter, 0);
}

}  // namespace
}  // namespace lamina
