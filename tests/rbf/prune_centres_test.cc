// Centers dropped one by one against systems solved anew by elimination, and what a pruned machine answers.
#include "lamina/rbf/prune_centres.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_network.h"
#include "lamina/rbf/needed_centres.h"
#include "tests/rbf/kernel_oracle.h"

namespace lamina {
namespace {

KernelMachine ChosenMachine(const Case& c) {
  KernelMachine chosen;
  chosen.kind = c.kind;
  chosen.scale = 1.3;
  chosen.ridge = c.ridge;
  chosen.feature_weights = {1, 0.5, 0.1};
  return chosen;
}

// The least sum over rows of weight times squared error plus ridge alpha' K alpha, with these centers.
double LeastSum(const Table2& x, const Table2& y, const std::vector<double>& weights,
                const std::vector<int64_t>& centres, const KernelMachine& chosen) {
  const auto kernel = [&](size_t row, size_t centre) {
    return KernelOf(x[row], x[static_cast<size_t>(centres[centre])], chosen.feature_weights, chosen.kind.p,
                    chosen.kind.power, chosen.scale);
  };
  const size_t count = centres.size();
  Table2 sums(count, std::vector<double>(count));
  Table2 wanted(count, std::vector<double>(y.front().size()));
  double left = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t m = 0; m < count; ++m) {
      for (size_t k = 0; k < count; ++k) {
        sums[m][k] += weights[i] * kernel(i, m) * kernel(i, k);
      }
      for (size_t c = 0; c < y[i].size(); ++c) {
        wanted[m][c] += weights[i] * kernel(i, m) * y[i][c];
      }
    }
    left += weights[i] * std::inner_product(y[i].begin(), y[i].end(), y[i].begin(), 0.0);
  }
  for (size_t m = 0; m < count; ++m) {
    for (size_t k = 0; k < count; ++k) {
      sums[m][k] += chosen.ridge * kernel(static_cast<size_t>(centres[m]), k);
    }
  }
  const Table2 alpha = SolvedByElimination(sums, wanted);
  for (size_t m = 0; m < count; ++m) {
    left -= std::inner_product(alpha[m].begin(), alpha[m].end(), wanted[m].begin(), 0.0);
  }
  return left;
}

TEST(PruneCentres, EachOneDroppedIsTheOneThatIsNeededLeast) {
  const Table2 x = RandomTable(40, 3, 1);
  const Table2 y = TargetsFor(x, 2);
  std::vector<double> weights;
  for (int64_t i = 0; i < 40; ++i) {
    weights.push_back(1 + 0.5 * std::sin(static_cast<double>(i)));
  }
  for (const Case& c : kCases) {
    const KernelMachine chosen = ChosenMachine(c);
    KernelMachineOptions options;
    options.sample_weights = weights;
    options.threads = 2;
    std::vector<int64_t> candidates = EvenPlaces(40, 12);
    const std::vector<int64_t> order =
        CentresByNeed(AsMatrix(x).view(), AsMatrix(y).view(), candidates, chosen, options);
    ASSERT_TRUE(std::is_permutation(order.begin(), order.end(), candidates.begin(), candidates.end()));
    for (size_t left = order.size(); left > 1; --left) {
      const double found =
          LeastSum(x, y, weights, {order.begin(), order.begin() + static_cast<int64_t>(left) - 1}, chosen);
      for (size_t gone = 0; gone < left; ++gone) {
        std::vector<int64_t> others(order.begin(), order.begin() + static_cast<int64_t>(left));
        others.erase(others.begin() + static_cast<int64_t>(gone));
        ASSERT_LE(found, LeastSum(x, y, weights, others, chosen) * (1 + 1e-9)) << left << " " << gone;
      }
    }
  }
}

// y of two columns with noise: few neurons tell what there is to tell.
std::pair<Table2, Table2> NoisyTable(size_t rows, uint64_t seed) {
  const Table2 x = RandomTable(rows, 2, seed);
  Random random(seed + 1);
  Table2 y;
  for (const std::vector<double>& row : x) {
    y.push_back({std::sin(4 * row[0]) + std::cos(3 * row[1]) + random.Uniform(-0.5, 0.5)});
  }
  return {x, y};
}

double MeanSquare(const Table2& x, const Table2& y, const KernelMachine& machine, const std::vector<int64_t>& centres,
                  const Table2& of_centres) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double error = y[i][0];
    for (size_t m = 0; m < centres.size(); ++m) {
      error -= machine.alpha.Row<double>(static_cast<int64_t>(m))[0] *
               KernelOf(x[i], of_centres[static_cast<size_t>(centres[m])], machine.feature_weights, machine.kind.p,
                        machine.kind.power, machine.scale);
    }
    sum += error * error;
  }
  return sum / static_cast<double>(x.size());
}

TEST(PruneCentres, TheErrorOfOtherRowsGrowsByNoMoreThanTheShare) {
  const auto [x, y] = NoisyTable(400, 3);
  const auto [new_x, new_y] = NoisyTable(4000, 7);
  KernelMachineOptions options;
  options.threads = 2;
  const Matrix rows = AsMatrix(x);
  const Matrix targets = AsMatrix(y);
  const KernelMachine machine = FitKernelMachine(rows.view(), targets.view(), options);
  std::vector<int64_t> all(400);
  std::iota(all.begin(), all.end(), int64_t{0});
  const double whole = MeanSquare(new_x, new_y, machine, all, x);
  size_t before = 400;
  for (const double share : {0.02, 0.2}) {
    const PrunedCentres pruned = PruneCentres(rows.view(), targets.view(), 400, machine, options, share);
    ASSERT_FALSE(pruned.kept.empty());
    EXPECT_TRUE(std::is_sorted(pruned.kept.begin(), pruned.kept.end()));
    EXPECT_LT(pruned.kept.size(), before);
    EXPECT_LE(pruned.growth, share);
    before = pruned.kept.size();
    const KernelMachine fewer = SolveByCentres(rows.view(), targets.view(), pruned.kept, machine, options);
    EXPECT_LT(MeanSquare(new_x, new_y, fewer, pruned.kept, x), (1 + 2 * share) * whole);
    KernelMachineOptions other = options;
    other.threads = 1;
    EXPECT_EQ(PruneCentres(rows.view(), targets.view(), 400, machine, other, share).kept, pruned.kept);
  }
  EXPECT_LT(before, 60U);
}

TEST(PruneCentres, WhereEveryRowCountsNoneGoes) {
  const Table2 x = RandomTable(60, 3, 5);
  Table2 y;
  for (const std::vector<double>& row : x) {
    y.push_back({row[0] + std::sin(row[1]) - row[2]});
  }
  KernelMachine chosen = ChosenMachine({{1, 1.0}, 1, 1e-6});
  chosen.scale = 20;
  chosen.feature_weights = {1, 1, 1};
  const PrunedCentres most = PruneCentres(AsMatrix(x).view(), AsMatrix(y).view(), 60, chosen, {}, 0.001);
  EXPECT_TRUE(most.kept.empty()) << most.kept.size() << " " << most.growth;
  EXPECT_TRUE(PruneCentres(AsMatrix(Table2(10, {1, 2, 3})).view(), AsMatrix(Table2(10, {0})).view(), 10, chosen, {}, 1)
                  .kept.empty());  // too few rows
  // Rows that are all alike have one that stands for them.
  const PrunedCentres alike =
      PruneCentres(AsMatrix(Table2(40, {1, 2, 3})).view(), AsMatrix(Table2(40, {1})).view(), 40, chosen, {}, 0.01);
  EXPECT_FALSE(alike.kept.empty());
}

TEST(PruneCentres, GroupsAreAskedAsAWholeAndTimesLater) {
  const auto [x, y] = NoisyTable(240, 9);
  Table2 levels = y;  // a level a group, which its own rows tell one another, and new groups cannot know
  std::vector<int64_t> groups;
  std::vector<double> times;
  Random random(3);
  std::vector<double> level(24);
  std::generate(level.begin(), level.end(), [&] { return random.Uniform(-3, 3); });
  Table2 near = x;
  for (size_t i = 0; i < x.size(); ++i) {
    groups.push_back(static_cast<int64_t>(i % 24));
    times.push_back(static_cast<double>(i / 10));
    near[i].push_back(static_cast<double>(i % 24) * 3);
    levels[i][0] = y[i][0] / 4 + level[i % 24];
  }
  KernelMachine chosen = ChosenMachine({{1, 1.0}, 1, 0.1});
  chosen.feature_weights = {1, 1, 1};
  KernelMachineOptions options;
  const Matrix rows = AsMatrix(near);
  const Matrix targets = AsMatrix(levels);
  const PrunedCentres alone = PruneCentres(rows.view(), targets.view(), 240, chosen, options, 0.1);
  options.groups = groups;
  const PrunedCentres grouped = PruneCentres(rows.view(), targets.view(), 240, chosen, options, 0.1);
  // Rows of the same group need their level, so that a neuron in each is kept; of new groups nothing is known.
  const auto size = [](const PrunedCentres& pruned) { return pruned.kept.empty() ? 240 : std::ssize(pruned.kept); };
  EXPECT_LT(size(grouped), size(alone));
  options.groups = {};
  options.times = times;
  EXPECT_GT(size(PruneCentres(
                AsMatrix(x).view(), AsMatrix(y).view(), 240,
                [&] {
                  KernelMachine two = ChosenMachine({{1, 1.0}, 1, 0.1});
                  two.feature_weights = {1, 1};
                  return two;
                }(),
                options, 0.1)),
            0);
}

TEST(PruneCentres, ANetworkSaysWhatIsLeft) {
  const auto [x, y] = NoisyTable(760, 11);
  Dataset data;
  data.features = AsMatrix(x);
  data.targets = AsMatrix(y);
  KernelNetworkOptions options;
  options.choices.kinds = {{2, 1.0}};
  options.choices.scales = {1.0};
  options.choices.ridges = {0.1};
  options.choices.rounds = 0;
  options.threads = 2;
  options.prune = 0.05;
  const KernelNetwork fitted = FitKernelNetwork(data, options);
  EXPECT_EQ(fitted.unpruned, 760);
  EXPECT_LT(fitted.centres, 200);
  EXPECT_LE(fitted.growth, 0.05);
  EXPECT_EQ(fitted.network.layers()[fitted.network.layers().size() - 2].outputs, fitted.centres);
  EXPECT_EQ(fitted.machine.alpha.rows(), fitted.centres);
  options.stop_requested = [&, asked = 0]() mutable { return ++asked > 300; };
  const KernelNetwork stopped = FitKernelNetwork(data, options);
  EXPECT_FALSE(stopped.machine.complete);
}

}  // namespace
}  // namespace lamina
