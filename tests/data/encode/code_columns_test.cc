// Numbers that name something beside numbers that measure something.
#include "lamina/data/encode/code_columns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lamina/base/random.h"
#include "lamina/data/encode/decisions.h"
#include "tests/data/encode/preprocessor_test_util.h"

namespace lamina {
namespace {

using Names = std::vector<std::string>;

constexpr int kSchools = 40;

std::vector<int64_t> All(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Schools with an effect of their own each, ages with a smooth one, and one age that is by itself.
Table Schools(int rows, double of_school, bool classes = false) {
  Random random(5);
  std::vector<double> effects(kSchools);
  for (double& effect : effects) {
    effect = random.Normal();
  }
  std::string text = "school,age,share,word,y\n";
  for (int i = 0; i < rows; ++i) {
    const auto school = random.Below(kSchools);
    const auto age = static_cast<double>(random.Below(60));
    const double odd = age == 30 ? 2 : 0;
    const double y = of_school * effects[school] + std::sin(age / 10) + odd + random.Normal();
    text += fmt::format("{},{},{},{},{}\n", 100 + school, age, std::floor(age) / 2, school % 2 == 0 ? "a" : "b",
                        classes ? (y > 0 ? "yes" : "no") : fmt::format("{}", y));
  }
  return Csv(text);
}

std::vector<int64_t> Found(const Table& table, bool classes = false) {
  const std::vector<int64_t> inputs = {0, 1, 2, 3};
  return ColumnsOfCodes(table, All(table), inputs, 4, classes);
}

TEST(CodeColumns, ValuesThatTellMoreThanTheirNeighbors) {
  const std::vector<int64_t> school = {0};
  EXPECT_EQ(Found(Schools(1000, 1)), school);
  EXPECT_EQ(Found(Schools(30'000, 0.5)), school) << "more rows than are asked";
  EXPECT_EQ(Found(Schools(1000, 1.5, /*classes=*/true), /*classes=*/true), school);
}

TEST(CodeColumns, SmoothEffectsAndChanceAreNone) {
  EXPECT_TRUE(Found(Schools(1000, 0)).empty());
  EXPECT_TRUE(Found(Schools(300, 0)).empty());
  EXPECT_TRUE(Found(Schools(1000, 0, /*classes=*/true), /*classes=*/true).empty());
}

TEST(CodeColumns, FewRowsTellNothing) {
  EXPECT_TRUE(Found(Schools(60, 3)).empty());
  EXPECT_TRUE(Found(Csv("school,age,share,word,y\n1,2,3,a,4\n")).empty());
}

TEST(CodeColumns, TargetsWithoutSpreadOrEnd) {
  std::string same = "school,age,share,word,y\n";
  std::string huge = same;
  for (int i = 0; i < 400; ++i) {
    same += fmt::format("{},1,2,a,7\n", i % 40);
    huge += fmt::format("{},1,2,a,{}\n", i % 40, i % 2 == 0 ? "1e308" : "-1e308");
  }
  EXPECT_TRUE(Found(Csv(same)).empty());
  EXPECT_TRUE(Found(Csv(huge)).empty());
}

TEST(CodeColumns, EachFrequentValueHasAnInput) {
  const Table table = Csv("k,y\n3,1\n-2,2\n3,3\n7,4\n7,5\n7,6\n,7\n");
  PreprocessOptions options{.task = Task::kRegression, .codes = {"k"}, .min_count = 2};
  options.missing = MissingPolicy::kMean;
  const Preprocessor fitted = FitAll(table, options);
  EXPECT_EQ(fitted.inputs().Names(), (Names{"k", "k=3", "k=7"}));
  const auto rows = Rows(EncodeAll(fitted, table).features);
  const std::vector<std::vector<double>> expected = {{1, 0}, {0, 0}, {1, 0}, {0, 1}, {0, 1}, {0, 1}, {0, 0}};
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(std::vector(rows[i].begin() + 1, rows[i].end()), expected[i]) << i;
  }
  const Preprocessor again = Preprocessor::FromJson(fitted.ToJson());
  EXPECT_EQ(Rows(EncodeAll(again, table).features), rows);
  options.max_categories = 1;
  EXPECT_EQ(FitAll(table, options).inputs().Names(), (Names{"k", "k=7"}));
}

TEST(CodeColumns, AreFoundWhereWantedAndSaid) {
  const Table table = Schools(1000, 1);
  PreprocessOptions options{.targets = {"y"}, .task = Task::kRegression, .min_count = 5};
  EXPECT_EQ(FitAll(table, options).inputs().count(), 5);
  options.find_codes = true;
  const Preprocessor fitted = FitAll(table, options);
  EXPECT_EQ(fitted.inputs().count(), 5 + kSchools);
  bool said = false;
  for (const ColumnDecision& decision : DecisionsOn(table, fitted, options)) {
    said = said ||
           decision.Text() == "school: its numbers name something: 40 of 40 have an input each (else --codes none)";
  }
  EXPECT_TRUE(said);
}

TEST(CodeColumns, OthersAreRefused) {
  for (const char* value : {"1.5", "16777217", "-1e20"}) {
    const Table table = Csv(fmt::format("k,y\n1,1\n{},2\n3,3\n", value));
    ExpectError([&] { FitAll(table, {.task = Task::kRegression, .codes = {"k"}}); }, ErrorCode::kBadData,
                {"column 'k'", "whole numbers up to 16,777,216", "--codes"});
  }
  ExpectError([] { FitAll(Csv("k,y\n1,1\n2,2\n"), {.task = Task::kRegression, .codes = {"kk"}}); },
              ErrorCode::kNotFound, {"kk", "Did you mean 'k'?"});
}

}  // namespace
}  // namespace lamina
