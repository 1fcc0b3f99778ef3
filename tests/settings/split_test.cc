// Tests of splits and the choice of rows.
#include "lamina/settings/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

std::vector<int64_t> Iota(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

void ExpectPartition(const Split& split, const std::vector<int64_t>& rows) {
  std::vector<int64_t> all;
  for (const auto* part : {&split.train, &split.validation, &split.test}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  std::sort(all.begin(), all.end());
  std::vector<int64_t> expected = rows;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
}

TEST(SplitTest, SharesOutAllRows) {
  for (const int64_t count : {3, 7, 10, 100, 12345}) {
    const auto rows = Iota(count);
    const Split split = SplitRows(rows, {}, {.train = 0.7, .validation = 0.2, .test = 0.1});
    ExpectPartition(split, rows);
    EXPECT_LE(std::abs(static_cast<double>(split.train.size()) - 0.7 * static_cast<double>(count)),
              count < 10 ? 1.2 : 1.0);
    EXPECT_FALSE(split.validation.empty());
    EXPECT_FALSE(split.test.empty());
  }
  EXPECT_EQ(SplitRows(Iota(10), {}, {.train = 0.7, .validation = 0.2, .test = 0.1}).train.size(), 7U);
  EXPECT_EQ(SplitRows(Iota(10), {}, {.train = 1, .validation = 0}).train.size(), 10U);
  ExpectPartition(SplitRows(Iota(2000000), {}, {.train = 0.8 + 9e-7, .validation = 0.2}), Iota(2000000));
}

TEST(SplitTest, IsDeterministicAndSeeded) {
  const auto rows = Iota(1000);
  EXPECT_EQ(SplitRows(rows, {}, {.seed = 5}).train, SplitRows(rows, {}, {.seed = 5}).train);
  EXPECT_NE(SplitRows(rows, {}, {.seed = 5}).train, SplitRows(rows, {}, {.seed = 6}).train);
  const Split ordered = SplitRows(rows, {}, {.shuffle = false});
  EXPECT_EQ(ordered.train, Iota(800));
  EXPECT_EQ(ordered.validation.front(), 800);
}

TEST(SplitTest, Stratifies) {
  const auto rows = Iota(1111);
  std::vector<int32_t> strata;
  for (const int64_t row : rows) {
    strata.push_back(row % 11 == 0 ? (row == 0 ? 2 : 1) : 0);  // 1010, 100 and 1
  }
  for (const bool shuffle : {true, false}) {
    const Split split =
        SplitRows(rows, strata, {.train = 0.6, .validation = 0.3, .test = 0.1, .shuffle = shuffle, .stratify = true});
    ExpectPartition(split, rows);
    std::map<int32_t, int> train;
    for (const int64_t row : split.train) {
      ++train[strata[static_cast<size_t>(row)]];
    }
    EXPECT_EQ(train[0], 606);
    EXPECT_EQ(train[1], 60);
    EXPECT_EQ(train[2], 1);  // the rarest class is in training
    EXPECT_EQ(std::is_sorted(split.train.begin(), split.train.end()), !shuffle);
  }
}

TEST(SplitTest, FillsEveryPart) {
  std::vector<int32_t> strata{0, 0, 1, 1, 2, 2};
  const Split split = SplitRows(Iota(6), strata, {.stratify = true});
  EXPECT_EQ(split.validation.size(), 1U);
  ExpectPartition(split, Iota(6));
  ExpectError([] { SplitRows(Iota(2), {}, {.train = 0.6, .validation = 0.2, .test = 0.2}); },
              ErrorCode::kInvalidArgument, {"2 rows cannot be split into 3 parts", "At least 3"});
  ExpectError([] { SplitRows({}, {}, {}); }, ErrorCode::kInvalidArgument, {"0 rows"});
}

TEST(SplitTest, ChecksRatios) {
  const auto expect = [](double train, double validation, double test, std::string_view part) {
    ExpectError([&] { SplitRows(Iota(10), {}, {.train = train, .validation = validation, .test = test}); },
                ErrorCode::kInvalidArgument, {part});
  };
  expect(0.7, 0.2, 0, "ratios must sum to 1, these sum to 0.9");
  expect(0.7, 0.2, 0.2, "sum to 1.1");
  expect(1.5, -0.5, 0, "0 to 1");
  expect(std::nan(""), 0.5, 0.5, "0 to 1");
  expect(INFINITY, 0, 0, "0 to 1");
}

TEST(SplitTest, SelectsRows) {
  EXPECT_EQ(SelectRows(5, 0, false, 1), Iota(5));
  EXPECT_EQ(SelectRows(5, 9, true, 1), Iota(5));
  EXPECT_EQ(SelectRows(5, 2, false, 1), Iota(2));
  const auto some = SelectRows(1000, 100, true, 1);
  EXPECT_EQ(some.size(), 100U);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_EQ(std::set<int64_t>(some.begin(), some.end()).size(), 100U);
  EXPECT_GT(some.back(), 900);
  EXPECT_EQ(some, SelectRows(1000, 100, true, 1));
  EXPECT_NE(some, SelectRows(1000, 100, true, 2));
}

TEST(SplitByTest, NumbersInTheirOrderWithoutCuttingAValue) {
  // 12 rows of days 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, shuffled.
  const Table table = Csv("day\n3\n1\n4\n2\n1\n4\n3\n2\n1\n2\n4\n3\n");
  const Split split = SplitRowsBy(table, "day", Iota(12), {.train = 0.6, .validation = 0.2, .test = 0.2});
  ExpectPartition(split, Iota(12));
  const auto days = [&](const std::vector<int64_t>& rows) {
    std::vector<double> found;
    for (const int64_t row : rows) {
      found.push_back(table.columns[0].Number(row));
    }
    return found;
  };
  EXPECT_EQ(days(split.train), (std::vector<double>{1, 1, 1, 2, 2, 2}));  // 7 wanted: 6 is nearer than 9
  EXPECT_EQ(days(split.validation), (std::vector<double>{3, 3, 3}));
  EXPECT_EQ(days(split.test), (std::vector<double>{4, 4, 4}));
}

TEST(SplitByTest, CategoriesStayTogether) {
  std::string text = "name,x\n";
  for (int i = 0; i < 300; ++i) {
    text += "n" + std::to_string(i * 7 % 30) + ",1\n";
  }
  const Table table = Csv(text);
  std::set<std::set<int32_t>> choices;
  for (const uint64_t seed : {1, 2, 3}) {
    const Split split =
        SplitRowsBy(table, "name", Iota(300), {.train = 0.5, .validation = 0.3, .test = 0.2, .seed = seed});
    ExpectPartition(split, Iota(300));
    std::map<int32_t, std::set<int>> parts;
    int part = 0;
    for (const auto* rows : {&split.train, &split.validation, &split.test}) {
      for (const int64_t row : *rows) {
        parts[table.columns[0].codes[static_cast<size_t>(row)]].insert(part);
      }
      ++part;
    }
    std::set<int32_t> trained;
    for (const auto& [name, in] : parts) {
      EXPECT_EQ(in.size(), 1U) << name;
      if (in.contains(0)) {
        trained.insert(name);
      }
    }
    EXPECT_EQ(trained.size(), 15U);
    choices.insert(trained);
  }
  EXPECT_EQ(choices.size(), 3U);  // at random
}

TEST(SplitByTest, GroupsOfNumbersStayTogetherInNoOrder) {
  std::string text = "machine,x\n";
  for (int i = 0; i < 300; ++i) {
    text += std::to_string(i * 7 % 30) + ",1\n";
  }
  const Table table = Csv(text);
  std::set<std::set<double>> choices;
  for (const uint64_t seed : {1, 2, 3}) {
    const Split split =
        SplitGroups(table, "machine", Iota(300), {.train = 0.5, .validation = 0.3, .test = 0.2, .seed = seed});
    ExpectPartition(split, Iota(300));
    EXPECT_FALSE(std::is_sorted(split.train.begin(), split.train.end()));
    std::map<double, std::set<int>> parts;
    int part = 0;
    for (const auto* rows : {&split.train, &split.validation, &split.test}) {
      for (const int64_t row : *rows) {
        parts[table.columns[0].Number(row)].insert(part);
      }
      ++part;
    }
    std::set<double> trained;
    for (const auto& [machine, in] : parts) {
      EXPECT_EQ(in.size(), 1U) << machine;
      if (in.contains(0)) {
        trained.insert(machine);
      }
    }
    EXPECT_EQ(trained.size(), 15U);
    choices.insert(trained);
  }
  EXPECT_EQ(choices.size(), 3U);
  const Split ordered = SplitGroups(table, "machine", Iota(300), {.train = 0.5, .validation = 0.5, .shuffle = false});
  EXPECT_TRUE(std::is_sorted(ordered.train.begin(), ordered.train.end()));
  ExpectError([&] { SplitGroups(Csv("a\n1\n1\n"), "a", Iota(2), {.train = 0.5, .validation = 0.5}); },
              ErrorCode::kInvalidArgument, {"--group", "too few different values", "'a'"});
}

TEST(SplitByTest, WhatCannotBeSplitIsNamed) {
  const Table table = Csv("a,b,c\n1,1,1\n1,2,\n1,3,3\n1,4,4\n");
  const SplitOptions options{.train = 0.5, .validation = 0.25, .test = 0.25};
  ExpectError([&] { SplitRowsBy(table, "a", Iota(4), options); }, ErrorCode::kInvalidArgument,
              {"too few different values", "'a'"});
  ExpectError([&] { SplitRowsBy(table, "c", Iota(4), options); }, ErrorCode::kBadData, {"t.csv:3:", "missing value"});
  ExpectError([&] { SplitRowsBy(table, "d", Iota(4), options); }, ErrorCode::kNotFound, {"'d'"});
  EXPECT_EQ(SplitRowsBy(table, "b", Iota(4), options).test, (std::vector<int64_t>{3}));
}

}  // namespace
}  // namespace lamina
