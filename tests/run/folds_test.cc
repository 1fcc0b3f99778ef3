// Folds: every row once, classes even, groups whole, series forward.
#include "lamina/run/folds.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/caught_error.h"
#include "tests/data/data_test_util.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

std::vector<int64_t> RowsUpTo(int64_t count) { return SelectRows(count, 0, false, 0); }

// x, a group of four rows each, and a class of which the last is rare.
Table FoldTable(int64_t rows) {
  std::vector<double> x;
  std::vector<double> group;
  for (int64_t i = 0; i < rows; ++i) {
    x.push_back(static_cast<double>((i * 7) % rows));
    group.push_back(static_cast<double>(i / 4));
  }
  return NumberTable({"x", "group"}, {x, group});
}

TEST(Folds, EveryRowIsTestedOnceAndNeverTrainedThen) {
  const Table table = FoldTable(103);
  const std::vector<int64_t> rows = RowsUpTo(103);
  for (const std::string group : {"", "group"}) {
    std::multiset<int64_t> tested;
    for (int64_t fold = 1; fold <= 5; ++fold) {
      const Split split = SplitFold(table, rows, {}, {5, fold, group, ""}, {.train = 0.8, .validation = 0.2});
      std::multiset<int64_t> all(split.train.begin(), split.train.end());
      all.insert(split.validation.begin(), split.validation.end());
      all.insert(split.test.begin(), split.test.end());
      EXPECT_EQ(std::vector<int64_t>(all.begin(), all.end()), rows);
      EXPECT_GE(split.test.size(), 16U);
      EXPECT_NEAR(static_cast<double>(split.validation.size()), 0.2 * (103.0 - 20), 4);
      tested.insert(split.test.begin(), split.test.end());
    }
    EXPECT_EQ(std::vector<int64_t>(tested.begin(), tested.end()), rows);
  }
}

TEST(Folds, ClassesAreEvenInEveryFold) {
  const Table table = FoldTable(100);
  std::vector<int32_t> strata;
  for (int i = 0; i < 100; ++i) {
    strata.push_back(i % 10 == 0 ? 2 : i % 2);
  }
  const std::vector<int64_t> fold = AssignFolds(table, RowsUpTo(100), strata, {5, 1, "", ""}, 1);
  std::map<std::pair<int64_t, int32_t>, int> counts;
  for (size_t i = 0; i < 100; ++i) {
    ++counts[{fold[i], strata[i]}];
  }
  for (int64_t f = 1; f <= 5; ++f) {
    EXPECT_EQ((counts[{f, 2}]), 2);
    EXPECT_NEAR((counts[{f, 0}]), 8, 1);
    EXPECT_NEAR((counts[{f, 1}]), 10, 1);
  }
  EXPECT_EQ(fold, AssignFolds(table, RowsUpTo(100), strata, {5, 2, "", ""}, 1));
  EXPECT_NE(fold, AssignFolds(table, RowsUpTo(100), strata, {5, 1, "", ""}, 2));
}

TEST(Folds, GroupsStayWhole) {
  const Table table = FoldTable(120);
  for (int64_t f = 1; f <= 4; ++f) {
    const Split split = SplitFold(table, RowsUpTo(120), {}, {4, f, "group", ""}, {.train = 0.75, .validation = 0.25});
    std::map<int64_t, std::set<int>> parts;
    int part = 0;
    for (const auto* rows : {&split.train, &split.validation, &split.test}) {
      for (const int64_t row : *rows) {
        parts[row / 4].insert(part);
      }
      ++part;
      EXPECT_FALSE(rows->empty());
    }
    for (const auto& [group, in] : parts) {
      EXPECT_EQ(in.size(), 1U) << group;
    }
  }
}

TEST(Folds, SeriesAreTrainedOnWhatCameBefore) {
  const Table table = FoldTable(60);
  const std::vector<int64_t> rows = RowsUpTo(60);
  const Column& x = table.columns[0];
  size_t before = 0;
  for (int64_t f = 1; f <= 5; ++f) {
    const Split split = SplitFold(table, rows, {}, {5, f, "", "x"}, {.train = 0.8, .validation = 0.2});
    const auto extreme = [&](const std::vector<int64_t>& part, bool high) {
      std::vector<double> values;
      for (const int64_t row : part) {
        values.push_back(x.Number(row));
      }
      return high ? *std::max_element(values.begin(), values.end()) : *std::min_element(values.begin(), values.end());
    };
    EXPECT_LT(extreme(split.train, true), extreme(split.validation, false));
    EXPECT_LT(extreme(split.validation, true), extreme(split.test, false));
    EXPECT_EQ(split.test.size(), 10U);
    EXPECT_GT(split.train.size(), before);
    before = split.train.size();
  }
}

// Equal values are on one side, and every piece has some.
TEST(Folds, TiesInOrderStayTogether) {
  const Table table = NumberTable({"t"}, {{1, 1, 1, 1, 1, 1, 1, 2, 3, 4}});
  const std::vector<int64_t> fold = AssignFolds(table, RowsUpTo(10), {}, {3, 1, "", "t"}, 1);
  EXPECT_EQ(fold, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 1, 2, 3}));
}

TEST(Folds, TooFew) {
  const Table table = FoldTable(8);
  const auto error = [&](int64_t folds, const std::string& group, const std::string& by) {
    return CaughtError([&] { SplitFold(table, RowsUpTo(8), {}, {folds, 1, group, by}, {}); });
  };
  EXPECT_TRUE(Mentions(error(9, "", "").what(), "there are 8 rows"));
  EXPECT_EQ(error(9, "", "").context().setting, "folds");
  EXPECT_TRUE(Mentions(error(3, "group", "").what(), "column 'group' has 2 groups"));
  EXPECT_TRUE(Mentions(error(2, "group", "").what(), "leaves one group"));
  EXPECT_TRUE(Mentions(error(8, "", "x").what(), "takes 9 different values of 'x', and it has 8"));
  EXPECT_EQ(error(3, "nothing", "").code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace lamina
