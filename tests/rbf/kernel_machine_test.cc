// Kernel machines against plain loops in double precision: systems, rows really left out, slopes by differences, and a
// search done in NumPy.
#include "lamina/rbf/kernel_machine.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/kernel_solver.h"
#include "tests/caught_error.h"
#include "tests/rbf/kernel_oracle.h"
#include "tests/rbf/kernel_places.h"

namespace lamina {
namespace {

LAMINA_AT_KERNEL_PLACES(KernelMachineAt);

TEST(KernelSolver, SolvesInvertsAndLeavesOutBlocks) {
  for (const int64_t n : {1, 5, 8, 9, 63, 64, 65, 130, 200}) {
    Table2 a(static_cast<size_t>(n), std::vector<double>(static_cast<size_t>(n)));
    const Table2 x = RandomTable(static_cast<size_t>(n), 3, 7);
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t j = 0; j < x.size(); ++j) {
        a[i][j] = KernelOf(x[i], x[j], {1, 1, 1}, 1, 1, 2) + (i == j ? 0.1 : 0);
      }
    }
    const Table2 y = TargetsFor(x, 3);
    Table2 unit(x.size(), std::vector<double>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      unit[i][i] = 1;
    }
    const Table2 alpha = SolvedByElimination(a, y);
    const Table2 inverse = SolvedByElimination(a, unit);
    std::vector<double> bits;
    const auto solve = [&]<class T>(KernelSolverOf<T>& solver) {
      std::vector<double> targets(static_cast<size_t>(2 * solver.stride()));
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          solver.At(i, j) = static_cast<T>(a[static_cast<size_t>(i)][static_cast<size_t>(j)]);
        }
        for (int64_t k = 0; k < 2; ++k) {
          targets[static_cast<size_t>(k * solver.stride() + i)] = y[static_cast<size_t>(i)][static_cast<size_t>(k)];
        }
      }
      return solver.Solve(targets.data());
    };
    for (const int threads : {1, 3}) {
      KernelSolver without(n, 2, threads, /*inverse=*/false);
      ASSERT_TRUE(solve(without));
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_NEAR(without.alpha()[i], alpha[static_cast<size_t>(i)][0], 1e-9) << n << " " << i;
        ASSERT_NEAR(without.alpha()[without.stride() + i], alpha[static_cast<size_t>(i)][1], 1e-9) << n << " " << i;
      }
      KernelSolverOf<float> narrow(n, 2, threads);
      ASSERT_TRUE(solve(narrow));
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_NEAR(narrow.alpha()[i], alpha[static_cast<size_t>(i)][0], 1e-3) << n << " " << i;
        ASSERT_NEAR(narrow.InverseDiagonal(i), inverse[static_cast<size_t>(i)][static_cast<size_t>(i)], 1e-3) << n;
      }
      KernelSolver solver(n, 2, threads);
      ASSERT_TRUE(solve(solver));
      std::vector<double> found(solver.alpha(), solver.alpha() + 2 * solver.stride());
      for (int64_t i = 0; i < n; ++i) {
        const auto row = static_cast<size_t>(i);
        ASSERT_NEAR(solver.InverseDiagonal(i), inverse[row][row], 1e-10) << n << " " << i;
        for (int64_t k = 0; k < 2; ++k) {
          ASSERT_NEAR(solver.alpha()[k * solver.stride() + i], alpha[row][static_cast<size_t>(k)], 1e-9)
              << n << " " << i;
        }
      }
      if (threads == 1) {
        bits = found;
      }
      EXPECT_EQ(std::memcmp(bits.data(), found.data(), found.size() * 8), 0) << n << ": bits depend on the threads";
      // Three rows, which need not stand beside each other: (their block of the inverse)^-1 alpha.
      if (n >= 8) {
        const std::vector<int64_t> members{n - 1, 0, n / 2};
        Table2 block;
        Table2 of_members;
        for (const int64_t i : members) {
          block.emplace_back();
          for (const int64_t j : members) {
            block.back().push_back(inverse[static_cast<size_t>(i)][static_cast<size_t>(j)]);
          }
          of_members.push_back(alpha[static_cast<size_t>(i)]);
        }
        const Table2 wanted = SolvedByElimination(block, of_members);
        std::vector<double> errors(6);
        solver.LeftOut(members, errors.data());
        std::vector<double> rough(6);
        narrow.LeftOut(members, rough.data());
        for (size_t m = 0; m < 3; ++m) {
          for (size_t k = 0; k < 2; ++k) {
            EXPECT_NEAR(errors[2 * m + k], wanted[m][k], 1e-8) << n;
            EXPECT_NEAR(rough[2 * m + k], wanted[m][k], 1e-3) << n;
          }
        }
      }
    }
  }
}

TEST(KernelSolver, SaysWhatIsNotPositive) {
  for (const int64_t bad : {0, 7, 70, 129}) {
    KernelSolver solver(130, 1, 2);
    for (int64_t i = 0; i < 130; ++i) {
      solver.At(i, i) = i == bad ? -1e-3 : 1;
    }
    EXPECT_FALSE(solver.Solve(std::vector<double>(static_cast<size_t>(solver.stride())).data())) << bad;
  }
}

TEST_P(KernelMachineAt, ErrorsAreThoseOfRowsReallyLeftOut) {
  const Table2 x = RandomTable(40, 3, 1);
  const Table2 y = TargetsFor(x, 2);
  const std::vector<double> s{1, 0.5, 0.1};
  Random random(9);
  std::vector<double> sample_weights(x.size());
  std::generate(sample_weights.begin(), sample_weights.end(), [&] { return random.Uniform(0.2, 3); });
  std::vector<int64_t> groups(x.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<int64_t>(i * i % 7) - 3;
  }
  for (const Case& c : kCases) {
    for (const bool weighted : {false, true}) {
      for (const bool grouped : {false, true}) {
        KernelMachineOptions options = Fixed(c.kind, c.relative, c.ridge, s);
        options.backend = backend();
        if (weighted) {
          options.sample_weights = sample_weights;
        }
        if (grouped) {
          options.groups = groups;
        }
        options.threads = 2;
        const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
        ASSERT_TRUE(machine.complete);
        double sum = 0;
        double total = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          const std::vector<double> answer =
              AnswerWithout(x, y, s, c, machine.scale, i, weighted ? sample_weights : std::vector<double>(),
                            [&](size_t row) { return grouped ? groups[row] != groups[i] : row != i; });
          for (size_t k = 0; k < 2; ++k) {
            const double error = y[i][k] - answer[k];
            ASSERT_NEAR(machine.left_out.Row<double>(static_cast<int64_t>(i))[k], error, 1e-8)
                << c.kind.p << " " << c.kind.power << " row " << i << (weighted ? " weighted" : "")
                << (grouped ? " grouped" : "");
            sum += (weighted ? sample_weights[i] : 1) * error * error;
          }
          total += 2 * (weighted ? sample_weights[i] : 1);
        }
        EXPECT_NEAR(machine.error, sum / total, 1e-9);
      }
    }
  }
}

TEST(KernelMachine, SlopesAreDifferences) {
  const Table2 x = RandomTable(25, 3, 4);
  const Matrix rows = AsMatrix(x);
  const std::vector<double> s{1, 0.5, 0.2};
  for (const Case& c : kCases) {
    const KernelMachine machine =
        FitKernelMachine(rows.view(), AsMatrix(TargetsFor(x, 5)).view(), Fixed(c.kind, c.relative, c.ridge, s));
    std::vector<double> wanted(3);
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t j = 0; j < 3; ++j) {
        for (int64_t k = 0; k < 2; ++k) {
          double slope = 0;  // without the row's own neuron, whose curve has a corner there
          for (const double step : {1e-6, -1e-6}) {
            std::vector<double> moved = x[i];
            moved[j] += step;
            for (size_t m = 0; m < x.size(); ++m) {
              slope += m == i ? 0
                              : machine.alpha.Row<double>(static_cast<int64_t>(m))[k] *
                                    KernelOf(moved, x[m], s, c.kind.p, c.kind.power, machine.scale) / (2 * step);
            }
          }
          wanted[j] += slope * slope / static_cast<double>(x.size());
        }
      }
    }
    const std::vector<double> found = MeanSquaredSlopes(rows.view(), machine, 2);
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(found[j], wanted[j], 1e-6 * std::max(1.0, wanted[j])) << c.kind.p << " " << c.kind.power << " " << j;
    }
  }
}

struct GoldenMachine {
  int p;
  double power;
  double error;
  double relative;
  double scale;
  double ridge;
  int round;
  double weights[3];
  double answers[12];
};
#include "tests/rbf/kernel_golden.inc"

TEST_P(KernelMachineAt, FindsWhatASearchInNumPyFinds) {
  Table2 x;
  Table2 y;
  std::vector<double> means(2);
  for (size_t i = 0; i < std::size(kInputs); ++i) {
    x.emplace_back(std::begin(kInputs[i]), std::end(kInputs[i]));
    y.emplace_back(std::begin(kTargets[i]), std::end(kTargets[i]));
    means[0] += y.back()[0] / static_cast<double>(std::size(kInputs));
    means[1] += y.back()[1] / static_cast<double>(std::size(kInputs));
  }
  for (std::vector<double>& row : y) {
    row[0] -= means[0];
    row[1] -= means[1];
  }
  KernelMachineOptions all;
  all.choices.all = true;
  all.backend = backend();
  double least = INFINITY;
  for (const GoldenMachine& golden : kGolden) {
    KernelMachineOptions options = all;
    options.choices.kinds = {{golden.p, golden.power}};
    const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
    EXPECT_NEAR(machine.error, golden.error, 1e-9);
    EXPECT_EQ(machine.relative, golden.relative);
    EXPECT_NEAR(machine.scale, golden.scale, 1e-8);
    EXPECT_EQ(machine.ridge, golden.ridge);
    EXPECT_EQ(machine.round, golden.round);
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(machine.feature_weights[j], golden.weights[j], 1e-8);
    }
    for (size_t i = 0; i < std::size(kAsked); ++i) {
      for (int64_t k = 0; k < 2; ++k) {
        double answer = means[static_cast<size_t>(k)];
        for (size_t m = 0; m < x.size(); ++m) {
          answer += machine.alpha.Row<double>(static_cast<int64_t>(m))[k] *
                    KernelOf({std::begin(kAsked[i]), std::end(kAsked[i])}, x[m], machine.feature_weights, golden.p,
                             golden.power, machine.scale);
        }
        EXPECT_NEAR(answer, golden.answers[2 * i + static_cast<size_t>(k)], 1e-7);
      }
    }
    least = std::min(least, golden.error);
  }
  const KernelMachine best = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), all);
  EXPECT_NEAR(best.error, least, 1e-9);
  for (size_t kind = 0; kind < 4; ++kind) {
    EXPECT_NEAR(best.errors_of_kinds[kind], kGolden[kind].error, 1e-9);
  }
  // Downhill alone: as good, with fewer systems.
  all.choices.all = false;
  const KernelMachine walked = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), all);
  EXPECT_LT(walked.error, 1.05 * best.error);
  EXPECT_LT(walked.tried, best.tried / 2);
}

TEST(KernelMachine, TheSameBitsForAnyNumberOfThreads) {
  const Table2 x = RandomTable(150, 4, 8);
  const Matrix rows = AsMatrix(x);
  const Matrix targets = AsMatrix(TargetsFor(x, 6));
  std::vector<double> bits;
  for (const int threads : {1, 2, 5}) {
    KernelMachineOptions options;
    options.threads = threads;
    const KernelMachine machine = FitKernelMachine(rows.view(), targets.view(), options);
    std::vector<double> all(machine.alpha.Row<double>(0), machine.alpha.Row<double>(0) + 300);
    all.insert(all.end(), machine.feature_weights.begin(), machine.feature_weights.end());
    all.push_back(machine.error);
    if (bits.empty()) {
      bits = all;
    }
    EXPECT_EQ(std::memcmp(bits.data(), all.data(), all.size() * 8), 0) << threads;
  }
}

TEST(KernelMachine, EqualRowsShareAGroup) {
  Table2 x = RandomTable(6, 2, 3);
  EXPECT_TRUE(GroupsOfEqualRows(AsMatrix(x).view()).empty());
  x[4] = x[1];
  x[5] = x[1];
  EXPECT_EQ(GroupsOfEqualRows(AsMatrix(x).view()), (std::vector<int64_t>{0, 1, 2, 3, 1, 1}));
}

TEST_P(KernelMachineAt, EqualRowsWithoutARidgeGetOneAndItIsSaid) {
  Table2 x = RandomTable(20, 2, 3);
  x[7] = x[3];
  KernelMachineOptions options = Fixed({1, 1.0}, 1.0, 0);
  options.backend = backend();
  const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), AsMatrix(TargetsFor(x, 1)).view(), options);
  EXPECT_GT(machine.jitter, 0);
  EXPECT_LT(machine.jitter, 1e-6);
  EXPECT_TRUE(std::isfinite(machine.error));
  Table2 different = RandomTable(20, 2, 3);
  EXPECT_EQ(FitKernelMachine(AsMatrix(different).view(), AsMatrix(TargetsFor(different, 1)).view(), options).jitter, 0);
}

TEST_P(KernelMachineAt, OddRowsHaveAnAnswer) {
  // One row; all rows alike; a target that is always the same; columns that are.
  KernelMachineOptions options;
  options.backend = backend();
  const Table2 one{{1.0, 2.0}};
  EXPECT_TRUE(FitKernelMachine(AsMatrix(one).view(), AsMatrix(Table2{{0.0}}).view(), options).complete);
  const Table2 alike(12, {1.0, 2.0});
  Table2 y(12, {0.0});
  y[3] = {1.0};
  EXPECT_TRUE(FitKernelMachine(AsMatrix(alike).view(), AsMatrix(y).view(), options).complete);
  Table2 x = RandomTable(12, 2, 5);
  const KernelMachine nothing = FitKernelMachine(AsMatrix(x).view(), AsMatrix(Table2(12, {0.0})).view(), options);
  EXPECT_EQ(nothing.error, 0);
  for (std::vector<double>& row : x) {
    row[1] = 3;
  }
  const KernelMachine constant = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
  EXPECT_TRUE(std::isfinite(constant.error));
}

// On both sides of the number of rows from which factors are in f32.
TEST_P(KernelMachineAt, RowsApartAreAnsweredByTheRowsBefore) {
  for (const int64_t count : {150, GetParam() == kProcessor ? 2100 : 151}) {
    constexpr int64_t kApart = 37;
    const Table2 x = RandomTable(static_cast<size_t>(count), 3, 11);
    const Table2 y = TargetsFor(x, 5);
    KernelMachineOptions options;
    options.threads = 2;
    options.backend = backend();
    KernelMachine chosen;
    chosen.kind = {2, 1.4};
    chosen.scale = 1.5;
    chosen.ridge = 1e-2;
    chosen.feature_weights = {1, 0.5, 0.8};
    const Matrix rows = AsMatrix(x);
    const Matrix targets = AsMatrix(y);
    options.apart = kApart;
    const KernelMachine all = SolveKernelMachine(rows.view(), targets.view(), chosen, options);
    ASSERT_EQ(all.apart.rows(), kApart);
    options.apart = 0;
    const int64_t begin = count - kApart;
    const KernelMachine before =
        SolveKernelMachine(rows.view().Rows(0, begin), targets.view().Rows(0, begin), chosen, options);
    EXPECT_TRUE(before.apart.empty());
    for (int64_t i = 0; i < kApart; ++i) {
      for (int64_t c = 0; c < targets.cols(); ++c) {
        double answer = 0;
        for (int64_t j = 0; j < begin; ++j) {
          answer += before.alpha.Row<double>(j)[c] * KernelOf(x[static_cast<size_t>(begin + i)],
                                                              x[static_cast<size_t>(j)], chosen.feature_weights,
                                                              chosen.kind.p, chosen.kind.power, chosen.scale);
        }
        EXPECT_NEAR(all.apart.Row<double>(i)[c], targets.Row<double>(begin + i)[c] - answer, count < 2000 ? 1e-9 : 2e-4)
            << count << " " << i;
      }
    }
  }
}

TEST(KernelMachine, RefusesWhatItCannotUse) {
  const Matrix x = AsMatrix(RandomTable(5, 2, 1));
  const Matrix y = AsMatrix(RandomTable(5, 1, 2));
  Table2 odd = RandomTable(5, 2, 1);
  odd[3][1] = NAN;
  EXPECT_TRUE(Mentions(CaughtError([&] { FitKernelMachine(AsMatrix(odd).view(), y.view(), {}); }).what(), "row 4"));
  EXPECT_THROW(FitKernelMachine(x.view(), AsMatrix(RandomTable(4, 1, 2)).view(), {}), Error);
  EXPECT_THROW(FitKernelMachine(x.view(), y.view(), Fixed({3, 1.0}, 1, 1)), Error);
  EXPECT_THROW(FitKernelMachine(x.view(), y.view(), Fixed({1, 1.0}, 1, -1)), Error);
  EXPECT_THROW(FitKernelMachine(x.view(), y.view(), Fixed({1, 1.0}, 1, 1, {1, 2, 3})), Error);
}

TEST_P(KernelMachineAt, ARequestToStopEndsIt) {
  const Table2 x = RandomTable(100, 3, 1);
  KernelMachineOptions options;
  options.backend = backend();
  int64_t tried = 0;
  options.progress = [&](int64_t count) { tried = count; };
  options.stop_requested = [&] { return tried >= 3; };
  EXPECT_FALSE(FitKernelMachine(AsMatrix(x).view(), AsMatrix(TargetsFor(x, 1)).view(), options).complete);
  EXPECT_EQ(tried, 3);
}

}  // namespace
}  // namespace lamina
