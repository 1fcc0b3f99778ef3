// Paired comparisons: known p values, rows matched by number, files of predictions.
#include "lamina/model/compare_models.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "tests/caught_error.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

// scipy.stats.binomtest(min, n, 0.5).pvalue
TEST(CompareModels, McNemarIsTheBinomialTest) {
  EXPECT_NEAR(McNemarP(3, 9), 0.14599609375, 1e-12);
  EXPECT_NEAR(McNemarP(5, 0), 0.0625, 1e-12);
  EXPECT_NEAR(McNemarP(1, 9), 0.021484375, 1e-12);
  EXPECT_EQ(McNemarP(0, 0), 1);
  EXPECT_EQ(McNemarP(7, 7), 1);
}

Contestant Values(const std::string& name, double bias, int64_t first, int64_t count) {
  Contestant contestant{name, {{}}, {}};
  contestant.targets[0].target = "y";
  for (int64_t row = first; row < first + count; ++row) {
    const double truth = Random(1, static_cast<uint64_t>(row)).Normal();
    contestant.rows.push_back(row);
    contestant.targets[0].truth.push_back(truth);
    contestant.targets[0].answers.push_back(truth + bias + 0.3 * Random(2, static_cast<uint64_t>(row)).Normal());
  }
  return contestant;
}

TEST(CompareModels, FindsTheBetterOneOnCommonRows) {
  const std::vector<Metric> metrics{Metric::Parse("rmse")};
  const Comparison found = Compare(Values("a", 0, 0, 300), Values("b", 0.2, 100, 300), metrics, {.seed = 4});
  EXPECT_EQ(found.rows, 200);
  EXPECT_FALSE(found.mcnemar);
  const MetricDifference& rmse = found.metrics[0];
  EXPECT_NEAR(rmse.first, 0.3, 0.04);
  EXPECT_NEAR(rmse.second, std::sqrt(0.09 + 0.04), 0.04);
  EXPECT_DOUBLE_EQ(rmse.difference, rmse.second - rmse.first);
  EXPECT_GT(rmse.interval.low, 0);
  EXPECT_LT(rmse.p_value, 0.01);
  const MetricDifference same = Compare(Values("a", 0, 0, 50), Values("a", 0, 0, 50), metrics, {}).metrics[0];
  EXPECT_EQ(same.difference, 0);
  EXPECT_EQ(same.p_value, 1);
  EXPECT_TRUE(Mentions(CaughtError([&] { Compare(Values("a", 0, 0, 10), Values("b", 0, 10, 10), metrics, {}); }).what(),
                       "no row"));
}

TEST(CompareModels, FilesOfPredictions) {
  const Table truth = ReadCsv("x,kind\n1,cat\n2,dog\n3,cat\n4,\n5,dog\n", "truth.csv", {});
  const Table a = ReadCsv("kind,p_cat,p_dog\ncat,.9,.1\ncat,.6,.4\ncat,.7,.3\ncat,.5,.5\ndog,.2,.8\n", "a.csv", {});
  const Table b = ReadCsv("row,predicted\n0,dog\n1,dog\n2,cat\n3,dog\n4,\n", "b.csv", {});
  const Contestant first = ContestantFrom(a, truth, {"kind"}, true);
  const Contestant second = ContestantFrom(b, truth, {"kind"}, true);
  EXPECT_EQ(first.rows, (std::vector<int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(second.rows, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_TRUE(first.targets[0].probabilities);
  EXPECT_FALSE(second.targets[0].probabilities);
  const std::vector<Metric> metrics{Metric::Parse("accuracy"), Metric::Parse("log_loss")};
  const Comparison found = Compare(first, second, metrics, {.resamples = 10});
  EXPECT_EQ(found.rows, 3);
  EXPECT_NEAR(found.metrics[0].first, 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.metrics[0].second, 2.0 / 3, 1e-12);
  EXPECT_EQ(found.mcnemar->only_first, 1);
  EXPECT_EQ(found.mcnemar->only_second, 1);
  EXPECT_TRUE(Mentions(found.metrics[1].reason, "no probabilities"));
  EXPECT_TRUE(ToJson(found)["metrics"][1]["p_value"].is_null());
  const Table less = ReadCsv("kind\ncat\n", "less.csv", {});
  EXPECT_TRUE(
      Mentions(CaughtError([&] { ContestantFrom(less, truth, {"kind"}, true); }).what(), "1 predictions for 5"));
  const Table other = ReadCsv("x\n1\n2\n3\n4\n5\n", "other.csv", {});
  EXPECT_TRUE(
      Mentions(CaughtError([&] { ContestantFrom(other, truth, {"kind"}, true); }).what(), "no column of predictions"));
}

}  // namespace
}  // namespace lamina
