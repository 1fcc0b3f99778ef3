// Rows left out by groups and by times, against machines that have really not seen them.
#include "lamina/rbf/left_out_rows.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/kernel_network.h"
#include "tests/caught_error.h"
#include "tests/rbf/kernel_oracle.h"
#include "tests/rbf/kernel_places.h"

namespace lamina {
namespace {

LAMINA_AT_KERNEL_PLACES(LeftOutRowsAt);

TEST_P(LeftOutRowsAt, ByTimesEarlierRowsAnswer) {
  const Table2 x = RandomTable(90, 3, 1);
  const Table2 y = TargetsFor(x, 2);
  const std::vector<double> s{1, 0.5, 0.1};
  Random random(9);
  std::vector<double> sample_weights(x.size());
  std::generate(sample_weights.begin(), sample_weights.end(), [&] { return random.Uniform(0.2, 3); });
  std::vector<double> times;
  for (size_t i = 0; i < x.size(); ++i) {
    times.push_back(std::floor(static_cast<double>(i * i) / 300));  // some of the first rows share one, later ones less
  }
  for (const Case& c : kCases) {
    for (const bool weighted : {false, true}) {
      KernelMachineOptions options = Fixed(c.kind, c.relative, c.ridge, s);
      options.backend = backend();
      options.times = times;
      options.threads = 2;
      options.sample_weights = weighted ? std::span<const double>(sample_weights) : std::span<const double>();
      const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
      double sum = 0;
      double total = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double* const left_out = machine.left_out.Row<double>(static_cast<int64_t>(i));
        const bool asked = times[i] >= times[46];  // whose time begins first from the 45th row on
        EXPECT_EQ(std::isnan(left_out[0]), !asked) << i;
        if (!asked) {
          continue;
        }
        const std::vector<double> answer =
            AnswerWithout(x, y, s, c, machine.scale, i, weighted ? sample_weights : std::vector<double>(),
                          [&](size_t row) { return times[row] < times[i]; });
        for (size_t k = 0; k < 2; ++k) {
          ASSERT_NEAR(left_out[k], y[i][k] - answer[k], 1e-8) << c.kind.p << " " << c.kind.power << " row " << i;
          sum += (weighted ? sample_weights[i] : 1) * left_out[k] * left_out[k];
        }
        total += 2 * (weighted ? sample_weights[i] : 1);
      }
      EXPECT_NEAR(machine.error, sum / total, 1e-9);
    }
  }
}

TEST(LeftOutRows, TimesOfWhichOnlyTheFirstIsEarlyAskAllLater) {
  const Table2 x = RandomTable(20, 2, 1);
  std::vector<double> times(20, 5.0);
  times[0] = times[1] = 1;
  KernelMachineOptions options = Fixed({1, 1.0}, 1.0, 0.1);
  options.times = times;
  const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), AsMatrix(TargetsFor(x, 2)).view(), options);
  EXPECT_TRUE(std::isnan(machine.left_out.Row<double>(1)[0]));
  EXPECT_FALSE(std::isnan(machine.left_out.Row<double>(2)[0]));
  times[0] = times[1] = 5;
  options.times = times;
  EXPECT_TRUE(Mentions(
      CaughtError([&] { FitKernelMachine(AsMatrix(x).view(), AsMatrix(TargetsFor(x, 2)).view(), options); }).what(),
      "have the same time"));
  times[19] = 4;
  options.times = times;
  EXPECT_TRUE(Mentions(
      CaughtError([&] { FitKernelMachine(AsMatrix(x).view(), AsMatrix(TargetsFor(x, 2)).view(), options); }).what(),
      "in the order of their times"));
}

TEST(LeftOutRows, ALargeRidgeIsNoReasonToLeaveNoGroupOut) {
  const Table2 x = RandomTable(20, 2, 1);
  const Table2 y = TargetsFor(x, 2);
  const std::vector<int64_t> groups{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  KernelMachineOptions options = Fixed({1, 1.0}, 1.0, 1e18);
  options.groups = groups;
  const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
  EXPECT_NEAR(machine.left_out.Row<double>(3)[0], y[3][0], 1e-9);
}

// Twelve groups whose own level is told by the first column: a row is known from its group, a new group is not.
struct Grouped {
  Dataset data;
  Table2 x;
  Table2 y;
};
Grouped GroupedRows() {
  Grouped rows;
  Random random(4);
  for (int64_t g = 0; g < 12; ++g) {
    const double level = random.Uniform(-3, 3);
    for (int i = 0; i < 10; ++i) {
      rows.x.push_back({static_cast<double>(g * 7 % 12), random.Uniform(-1, 1)});
      rows.y.push_back({level + rows.x.back()[1]});
      rows.data.groups.push_back(g);
    }
  }
  rows.data.features = AsMatrix(rows.x);
  rows.data.targets = AsMatrix(rows.y);
  return rows;
}

TEST(LeftOutRows, GroupsChooseWhatAnswersOtherGroups) {
  Grouped rows = GroupedRows();
  const KernelNetwork by_groups = FitKernelNetwork(rows.data, {});
  EXPECT_EQ(by_groups.groups, 12);
  EXPECT_EQ(by_groups.equal_rows, 0);
  const std::vector<int64_t> groups = std::exchange(rows.data.groups, {});
  const KernelNetwork by_rows = FitKernelNetwork(rows.data, {});
  // One by one the rows of the same group tell the level.
  EXPECT_LT(by_rows.machine.error, 0.3);
  EXPECT_GT(by_groups.machine.error, 1);
  // The first column says nothing of other groups: its weight is less.
  const auto share = [](const KernelNetwork& fitted) {
    return fitted.machine.feature_weights[0] / fitted.machine.feature_weights[1];
  };
  EXPECT_LT(share(by_groups), share(by_rows));
  rows.data.groups.assign(120, 3);
  EXPECT_TRUE(Mentions(CaughtError([&] { FitKernelNetwork(rows.data, {}); }).what(), "belong to one group"));
  EXPECT_EQ(NumbersOfGroups({7, -1, 7, 3}), (std::vector<int64_t>{2, 0, 2, 1}));
}

TEST(LeftOutRows, ByTimesRowsMayStandInAnyOrder) {
  const Table2 x = RandomTable(80, 2, 4);
  Table2 classes;
  for (const std::vector<double>& row : x) {
    const bool second = row[0] * row[1] > 0;
    classes.push_back({second ? 0.0 : 1.0, second ? 1.0 : 0.0});
  }
  const auto fitted = [&](int64_t step) {
    Dataset data;
    data.features = Matrix(80, 2, DType::kF64);
    data.targets = Matrix(80, 2, DType::kF64);
    for (int64_t i = 0; i < 80; ++i) {
      const int64_t from = i * step % 80;
      std::copy_n(x[static_cast<size_t>(from)].begin(), 2, data.features.Row<double>(i));
      std::copy_n(classes[static_cast<size_t>(from)].begin(), 2, data.targets.Row<double>(i));
      data.times.push_back(static_cast<double>(from));
    }
    KernelNetworkOptions options;
    options.classes = true;
    return FitKernelNetwork(data, options);
  };
  const KernelNetwork in_order = fitted(1);
  const KernelNetwork mixed = fitted(7);
  EXPECT_EQ(in_order.asked_rows, 40);
  EXPECT_EQ(mixed.asked_rows, 40);
  EXPECT_NEAR(mixed.machine.error, in_order.machine.error, 1e-12);
  EXPECT_EQ(mixed.temperature, in_order.temperature);
  int64_t right = 0;
  for (int64_t i = 40; i < 80; ++i) {
    const double* const error = in_order.machine.left_out.Row<double>(i);
    const std::vector<double>& y = classes[static_cast<size_t>(i)];
    right += (y[0] - error[0] > y[1] - error[1]) == (y[0] == 1) ? 1 : 0;
  }
  EXPECT_NEAR(in_order.left_out_correct, static_cast<double>(right) / 40, 1e-12);
}

}  // namespace
}  // namespace lamina
