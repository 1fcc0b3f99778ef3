// Amounts with long tails, and what they add up to: limits would cut both.
#include "lamina/data/encode/sum_of_columns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "lamina/base/random.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/files/csv.h"

namespace lamina {
namespace {

// Two amounts, one in a hundred of them large, a word, and what `target` makes of the amounts.
Table AmountsAnd(int rows, double (*target)(double, double)) {
  Random random(7);
  std::string text = "a,b,word,answer\n";
  for (int i = 0; i < rows; ++i) {
    const double a = std::exp(3 * random.Normal());
    const double b = std::exp(3 * random.Normal());
    text += fmt::format("{},{},{},{}\n", a, b, i % 3 == 0 ? "x" : "y", target(a, b));
  }
  return ReadCsv(text, "t.csv", {});
}

double Sum(double a, double b) { return 2 * a - b; }
double SumOfLogarithms(double a, double b) { return std::log(a) + std::log(b); }
double Product(double a, double b) { return std::atan(a) * std::atan(b); }

bool AreCut(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<int64_t> inputs = {0, 1, 2};
  return LimitsCutASum(table, rows, inputs, 3);
}

Curve CurveOf(const Table& table, PreprocessOptions options) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  options.scaling = Scaling::kRobust;
  return Preprocessor::Fit(table, rows, options).inputs().columns()[0].scaling.curve;
}

TEST(SumOfColumns, IsCutByLimits) {
  EXPECT_TRUE(AreCut(AmountsAnd(400, Sum)));
  EXPECT_TRUE(AreCut(AmountsAnd(9000, Sum)));
}

TEST(SumOfColumns, OtherTargetsAreNot) {
  EXPECT_FALSE(AreCut(AmountsAnd(400, SumOfLogarithms)));
  EXPECT_FALSE(AreCut(AmountsAnd(400, Product)));
}

TEST(SumOfColumns, FewRowsTellNothing) { EXPECT_FALSE(AreCut(AmountsAnd(7, Sum))); }

// What the rows asked cannot scale is no fault of the table: the fit of all rows says what is.
TEST(SumOfColumns, EmptyAndHugeColumnsAreNoErrors) {
  const Table empty =
      ReadCsv("a,b,answer\n,1,1\n,2,2\n,3,3\n,4,4\n,5,5\n,6,6\n,7,7\n,8,8\n,9,9\n5,10,10\n", "t.csv", {});
  const std::vector<int64_t> without_last = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<int64_t> both = {0, 1};
  EXPECT_FALSE(LimitsCutASum(empty, without_last, both, 2));
  EXPECT_FALSE(AreCut(AmountsAnd(400, [](double a, double b) { return 1e200 * (a - b); })));
}

TEST(SumOfColumns, LimitsGoWhereTheyMay) {
  const Table table = AmountsAnd(400, Sum);
  EXPECT_EQ(CurveOf(table, {.limits_may_go = true}), Curve::kLinear);
  EXPECT_EQ(CurveOf(table, {.limits_may_go = false}), Curve::kSmoothClip);
  EXPECT_EQ(CurveOf(AmountsAnd(400, Product), {.limits_may_go = true}), Curve::kSmoothClip);
}

TEST(SumOfColumns, IsSaid) {
  const PreprocessOptions options{.scaling = Scaling::kRobust, .limits_may_go = true};
  const auto said = [&](const Table& table) {
    std::vector<int64_t> rows(static_cast<size_t>(table.rows));
    std::iota(rows.begin(), rows.end(), 0);
    const Preprocessor fitted = Preprocessor::Fit(table, rows, options);
    return std::ranges::any_of(DecisionsOn(table, fitted, options), [](const ColumnDecision& decision) {
      return decision.Text() == "answer: a sum of columns: their large amounts are kept (else --scale robust)";
    });
  };
  EXPECT_TRUE(said(AmountsAnd(400, Sum)));
  EXPECT_FALSE(said(AmountsAnd(400, Product)));
}

// Classes that are written as numbers add up to nothing.
TEST(SumOfColumns, ClassesAreNoSums) {
  const Table table = AmountsAnd(400, [](double a, double b) { return a > b ? 1.0 : 0.0; });
  EXPECT_EQ(CurveOf(table, {.limits_may_go = true}), Curve::kSmoothClip);
}

}  // namespace
}  // namespace lamina
