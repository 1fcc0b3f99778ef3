// Lists, ranges, grids and random points.
#include "lamina/search/search_space.h"

#include <cmath>
#include <set>

#include "lamina/base/text.h"
#include "lamina/search/search_settings.h"
#include "lamina/settings/settings_text.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

TEST(SearchSpace, TheDefaultIsTheGridOfThe2016Paper) {
  const SearchSpace space({});
  EXPECT_EQ(space.GridSize(), 10);
  EXPECT_EQ(space.GridPoint(0), std::vector<std::string>{"0.001"});
  EXPECT_EQ(space.GridPoint(9), std::vector<std::string>{"1"});
}

TEST(SearchSpace, GridsRunThroughAllCombinations) {
  const SearchSpace space({"learning-rate=0.01,0.1", "hidden=64|128,64|0", "bias=yes,no"});
  ASSERT_EQ(space.GridSize(), 12);
  std::set<std::vector<std::string>> points;
  for (int64_t i = 0; i < 12; ++i) {
    points.insert(space.GridPoint(i));
  }
  EXPECT_EQ(points.size(), 12U);
  EXPECT_EQ(space.GridPoint(3), (std::vector<std::string>{"0.01", "128,64", "no"}));
  const TrainSettings settings = space.Apply(TrainSettings(), space.GridPoint(3));
  EXPECT_EQ(settings.learning_rate, 0.01);
  EXPECT_EQ(settings.hidden, (std::vector<int64_t>{128, 64}));
  EXPECT_FALSE(settings.bias);
}

TEST(SearchSpace, RangesHavePointsOnTheirScale) {
  const SearchSpace space(
      {"learning-rate=0.001..1:4", "momentum=0..0.9:linear:4", "batch=8..128:log:5", "hidden=1..3:9"});
  EXPECT_EQ(space.parameters()[0].values, (std::vector<std::string>{"0.001", "0.01", "0.1", "1"}));
  EXPECT_EQ(space.parameters()[1].values, (std::vector<std::string>{"0", "0.3", "0.6", "0.9"}));
  EXPECT_EQ(space.parameters()[2].values, (std::vector<std::string>{"8", "16", "32", "64", "128"}));
  EXPECT_EQ(space.parameters()[3].values, (std::vector<std::string>{"1", "2", "3"}));  // whole numbers fall together
}

TEST(SearchSpace, RandomPointsAreSeededAndLogUniform) {
  const SearchSpace space({"learning-rate=0.0001..1", "batch=16..64", "activation=relu,tanh"});
  const auto points = space.RandomPoints(2000, 7);
  ASSERT_EQ(points.size(), 2000U);
  EXPECT_EQ(space.RandomPoints(2000, 7), points);
  EXPECT_NE(space.RandomPoints(2000, 8), points);
  int decades[4] = {};
  int relu = 0;
  for (const auto& point : points) {
    const double rate = ParseNumber(point[0]);
    ASSERT_TRUE(rate >= 0.0001 && rate <= 1);
    ++decades[std::min(3, static_cast<int>(std::log10(rate) + 4))];
    const double batch = ParseNumber(point[1]);
    ASSERT_TRUE(batch >= 16 && batch <= 64 && batch == std::trunc(batch));
    relu += point[2] == "relu" ? 1 : 0;
  }
  for (const int count : decades) {
    EXPECT_NEAR(count, 500, 100);  // five standard deviations
  }
  EXPECT_NEAR(relu, 1000, 112);
}

TEST(SearchSpace, FewerRandomPointsWhereThereAreNoMore) {
  const auto points = SearchSpace({"hidden=8|16", "bias=yes,no"}).RandomPoints(100, 1);
  EXPECT_EQ(std::set<std::vector<std::string>>(points.begin(), points.end()).size(), 4U);
  EXPECT_EQ(points.size(), 4U);
}

TEST(SearchSpace, HugeGridsAreCountedWithoutOverflow) {
  const SearchSpace space(
      {"learning-rate=0.1..1:100000", "momentum=0..0.9:100000", "weight-decay=0.1..1:100000", "epsilon=0.1..1:100000"});
  EXPECT_EQ(space.GridSize(), INT64_MAX);
}

TEST(SearchSpace, WhatCannotBeTriedIsNamed) {
  const auto refused = [](const std::vector<std::string>& vary, std::initializer_list<std::string_view> says) {
    ExpectError([&] { SearchSpace(vary).GridSize(); }, ErrorCode::kInvalidArgument, says);
  };
  refused({"learning-rat=0.1"}, {"unknown setting", "Did you mean 'learning-rate'?"});
  refused({"learning-rate"}, {"NAME=VALUES"});
  refused({"learning-rate="}, {"no values"});
  refused({"learning-rate=0.1,,0.2"}, {"an empty value"});
  refused({"learning-rate=0.1,fast"}, {"takes a number", "'fast'"});
  refused({"batch=8,1.5"}, {"takes a whole number", "'1.5'"});
  refused({"learning-rate=0.1,0.1"}, {"twice"});
  refused({"learning-rate=0.1", "learning-rate=0.2"}, {"given twice"});
  refused({"learning-rate=1..0.1:5"}, {"the range is empty"});
  refused({"learning-rate=1..1:5"}, {"the range is empty"});
  refused({"learning-rate=0..1:log:5"}, {"begin above 0"});
  refused({"learning-rate=0.1..1"}, {"number of points", "--random"});
  refused({"learning-rate=0.1..1:0"}, {"the points of a range"});
  refused({"learning-rate=0.1..x:3"}, {"LOW..HIGH"});
  refused({"learning-rate=0.1..1:lin:3"}, {"'lin'"});
  refused({"bias=yes..no"}, {"no ranges"});
  refused({"data=a.csv,b.csv"}, {"trials cannot differ in data"});
  refused({"threads=1,2"}, {"trials cannot differ in threads"});
}

TEST(SettingsText, EverySettingIsSetFromTheTextOfItsDefault) {
  EXPECT_EQ(TrainSettingRow("learning-rate").kind(), SettingKind::kMaybeNumber);
  EXPECT_EQ(TrainSettingRow("hidden").kind(), SettingKind::kIntegerList);
  EXPECT_EQ(TrainSettingRow("split").kind(), SettingKind::kNumberList);
  EXPECT_EQ(TrainSettingRow("bias").kind(), SettingKind::kYesNo);
  TrainSettings settings;
  SetSetting(settings, "drop", "a, b");
  SetSetting(settings, "seed", "12");
  SetSetting(settings, "dtype", "f64");
  EXPECT_EQ(settings.drop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(settings.seed, 12U);
  EXPECT_EQ(settings.dtype, "f64");
  ExpectError([&] { SetSetting(settings, "seed", "-1"); }, ErrorCode::kInvalidArgument, {"seed takes a whole number"});
  ExpectError([&] { SetSetting(settings, "bias", "maybe"); }, ErrorCode::kInvalidArgument, {"yes or no"});
}

}  // namespace
}  // namespace lamina
