// The limits of a search, and machines that are solved for without one.
#include "lamina/rbf/kernel_search.h"

#include <algorithm>
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

// f32 compares errors of so many rows. What is kept has the bits of a search for this one machine, and leaves rows out.
TEST(KernelSearch, WhatF32FindsIsSolvedInF64) {
  const Table2 x = RandomTable(520, 3, 4);
  const Table2 y = TargetsFor(x, 2);
  std::vector<int64_t> groups(x.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<int64_t>(i / 3);
  }
  for (const bool grouped : {false, true}) {
    const auto fitted = [&](KernelMachineOptions of) {
      of.groups = grouped ? std::span<const int64_t>(groups) : std::span<const int64_t>();
      return FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), of);
    };
    const KernelMachine machine = fitted({});
    const KernelMachine alone = fitted(Fixed(machine.kind, machine.relative, machine.ridge, machine.feature_weights));
    EXPECT_EQ(alone.tried, 1) << "nothing is compared: in f64 at once";
    EXPECT_EQ(machine.error, alone.error);
    EXPECT_EQ(std::memcmp(machine.alpha.data(), alone.alpha.data(), x.size() * 16), 0);
    EXPECT_EQ(std::memcmp(machine.left_out.data(), alone.left_out.data(), x.size() * 16), 0);
    const std::vector<double> answer =
        AnswerWithout(x, y, machine.feature_weights, {machine.kind, machine.relative, machine.ridge}, machine.scale, 7,
                      {}, [&](size_t i) { return grouped ? groups[i] != groups[7] : i != 7; });
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(machine.left_out.Row<double>(7)[k], y[7][k] - answer[k], 1e-9);
    }
  }
}

// Column weights are learned in one place, and no place beside that of the best is better with them.
TEST(KernelSearch, TheBestOfAllHasNoBetterPlaceBesideIt) {
  for (const uint64_t seed : {2U, 5U, 9U}) {
    const Table2 x = RandomTable(90, 3, seed);
    const Table2 y = TargetsFor(x, 2);
    const KernelMachineOptions options;
    const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
    const auto& [kinds, scales, absolute, ridges, rounds, all, full] = options.choices;
    const auto scale = std::ranges::find(scales, machine.relative) - scales.begin();
    const auto ridge = std::ranges::find(ridges, machine.ridge) - ridges.begin();
    ASSERT_LT(scale, std::ssize(scales));
    ASSERT_LT(ridge, std::ssize(ridges));
    EXPECT_GT(machine.round, 0) << "weights are learned: one column says nothing of the target";
    int compared = 0;
    for (const auto& [right, up] : {std::pair{0, -1}, {0, 1}, {1, -1}, {1, 0}, {-1, 1}, {-1, 0}}) {
      const auto beside = scale + right;
      const auto above = ridge + up;
      if (beside >= 0 && beside < std::ssize(scales) && above >= 0 && above < std::ssize(ridges)) {
        const KernelMachine other =
            FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(),
                             Fixed(machine.kind, scales[static_cast<size_t>(beside)],
                                   ridges[static_cast<size_t>(above)], machine.feature_weights));
        EXPECT_GE(other.error, machine.error) << seed << ": " << other.relative << ", " << other.ridge;
        ++compared;
      }
    }
    EXPECT_GE(compared, 2);
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
