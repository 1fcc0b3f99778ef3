// Metrics against cases computed by hand.
#include "lamina/model/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/error.h"

namespace lamina {
namespace {

const std::vector<std::string> kNames{"cat", "dog", "eel"};

TEST(ClassificationMetrics, ByHand) {
  //              cat           dog        eel
  const std::vector<int32_t> labels{0, 0, 0, 0, 1, 1, 1, 2, 2, 2};
  const std::vector<int32_t> predicted{0, 0, 0, 1, 1, 0, 2, 2, 2, 1};
  const ClassificationMetrics m = MeasureClassification(labels, predicted, kNames);
  EXPECT_EQ(m.samples, 10);
  EXPECT_DOUBLE_EQ(m.accuracy, 0.6);
  EXPECT_EQ(m.confusion, (std::vector<std::vector<int64_t>>{{3, 1, 0}, {1, 1, 1}, {0, 1, 2}}));
  ASSERT_EQ(m.classes.size(), 3U);
  EXPECT_EQ(m.classes[0].name, "cat");
  EXPECT_EQ(m.classes[0].support, 4);
  EXPECT_DOUBLE_EQ(m.classes[0].precision, 3.0 / 4);
  EXPECT_DOUBLE_EQ(m.classes[0].recall, 3.0 / 4);
  EXPECT_DOUBLE_EQ(m.classes[0].f1, 3.0 / 4);
  EXPECT_DOUBLE_EQ(m.classes[1].precision, 1.0 / 3);
  EXPECT_DOUBLE_EQ(m.classes[1].recall, 1.0 / 3);
  EXPECT_DOUBLE_EQ(m.classes[1].f1, 1.0 / 3);
  EXPECT_DOUBLE_EQ(m.classes[2].precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(m.classes[2].recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(m.macro_f1, (0.75 + 1.0 / 3 + 2.0 / 3) / 3);
  EXPECT_EQ(m.unknown_labels, 0);
}

TEST(ClassificationMetrics, AbsentClasses) {
  // No eel among the rows, but one predicted; no dog ever predicted.
  const ClassificationMetrics m =
      MeasureClassification(std::vector<int32_t>{0, 0, 1, 1}, std::vector<int32_t>{0, 0, 0, 2}, kNames);
  EXPECT_TRUE(std::isnan(m.classes[1].precision));
  EXPECT_DOUBLE_EQ(m.classes[1].recall, 0);
  EXPECT_DOUBLE_EQ(m.classes[1].f1, 0);
  EXPECT_DOUBLE_EQ(m.classes[2].precision, 0);
  EXPECT_TRUE(std::isnan(m.classes[2].recall));
  EXPECT_DOUBLE_EQ(m.classes[0].f1, 2 * (2.0 / 3) / (2.0 / 3 + 1));
  EXPECT_DOUBLE_EQ(m.macro_f1, m.classes[0].f1 / 2) << "over cat and dog, which have rows";
  const ClassificationMetrics one = MeasureClassification(std::vector<int32_t>{0}, std::vector<int32_t>{0}, kNames);
  EXPECT_TRUE(std::isnan(one.classes[2].f1));
  EXPECT_DOUBLE_EQ(one.macro_f1, 1);
  const nlohmann::json node = ToJson(one);
  EXPECT_TRUE(node["classes"][2]["f1"].is_null());
  EXPECT_EQ(node["accuracy"], 1.0);
}

TEST(ClassificationMetrics, UnknownLabelsAreWrong) {
  const ClassificationMetrics m =
      MeasureClassification(std::vector<int32_t>{0, -1, -1, 2}, std::vector<int32_t>{0, 0, 1, 2}, kNames);
  EXPECT_EQ(m.samples, 4);
  EXPECT_EQ(m.unknown_labels, 2);
  EXPECT_DOUBLE_EQ(m.accuracy, 0.5);
  EXPECT_EQ(m.confusion, (std::vector<std::vector<int64_t>>{{1, 0, 0}, {0, 0, 0}, {0, 0, 1}}));
  EXPECT_DOUBLE_EQ(m.classes[0].precision, 0.5);  // one of its two predictions is a row of an unknown class
  EXPECT_DOUBLE_EQ(m.classes[0].f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(m.classes[1].precision, 0);
  EXPECT_DOUBLE_EQ(m.classes[2].precision, 1);
  EXPECT_DOUBLE_EQ(m.macro_f1, (2.0 / 3 + 1) / 2);
}

TEST(ClassificationMetrics, NoRows) {
  const ClassificationMetrics m = MeasureClassification({}, {}, kNames);
  EXPECT_EQ(m.samples, 0);
  EXPECT_TRUE(std::isnan(m.accuracy));
  EXPECT_TRUE(std::isnan(m.macro_f1));
  EXPECT_TRUE(ToJson(m)["accuracy"].is_null());
}

TEST(RegressionMetrics, ByHand) {
  const RegressionMetrics m =
      MeasureRegression(std::vector<double>{1, 2, 3, 6}, std::vector<double>{1, 4, 3, 5}, "price");
  EXPECT_EQ(m.name, "price");
  EXPECT_EQ(m.samples, 4);
  EXPECT_DOUBLE_EQ(m.mse, 5.0 / 4);
  EXPECT_DOUBLE_EQ(m.rmse, std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(m.mae, 3.0 / 4);
  EXPECT_DOUBLE_EQ(m.r2, 1 - 5.0 / 14);
  EXPECT_EQ(ToJson(m)["mae"], 0.75);
}

TEST(RegressionMetrics, AConstantTargetHasNoR2) {
  for (const double value : {0.0, 0.1, 1e6 + 0.3}) {  // 0.1 + 0.1 + ... is not 10 × 0.1
    for (const size_t n : {size_t{1}, size_t{3}, size_t{10}, size_t{1000}}) {
      const RegressionMetrics m = MeasureRegression(std::vector<double>(n, value), std::vector<double>(n, 1.0), "y");
      EXPECT_TRUE(std::isnan(m.r2)) << value << " × " << n;
      EXPECT_NEAR(m.mae, std::abs(value - 1), 1e-12 * (1 + value));
    }
  }
  EXPECT_TRUE(ToJson(MeasureRegression({}, {}, "y"))["r2"].is_null());
}

TEST(ClassificationMetrics, CostsAndMeansByHand) {
  CostMatrix costs{{"eel", "cat", "dog"}, {{0, 5, 7}, {1, 0, 2}, {3, 4, 0}}};
  const std::vector<int32_t> labels{0, 0, 1, 2, -1};
  const std::vector<int32_t> predicted{1, 0, 2, 0, 0};
  const ClassificationMetrics m = MeasureClassification(labels, predicted, kNames, costs);
  EXPECT_DOUBLE_EQ(m.mean_cost, (2 + 0 + 3 + 5) / 4.0);  // the row of no class has no cost
  EXPECT_DOUBLE_EQ(m.macro_recall, (0.5 + 0 + 0) / 3);
  EXPECT_DOUBLE_EQ(m.macro_precision, (1 / 3.0 + 0 + 0) / 3);  // 3 predictions of the first class
  EXPECT_TRUE(std::isnan(MeasureClassification(labels, predicted, kNames).mean_cost));
  EXPECT_EQ(CostMatrix::FromJson(costs.ToJson()).costs, costs.costs);
  EXPECT_THROW(costs.InOrder(std::vector<std::string>{"cat", "fox"}), Error);
  EXPECT_THROW(CostMatrix::FromJson({{"classes", {"a"}}, {"costs", {{1, 2}}}}), Error);
}

TEST(ClassificationMetrics, CostsOfKddCup) {
  const CostMatrix costs = CostMatrix::Read("kddcup99");
  const std::vector<std::string> names{"dos", "normal", "probe", "r2l", "u2r"};
  const std::vector<int32_t> labels{3, 4, 0, 1, 2};
  const std::vector<int32_t> predicted{1, 1, 2, 0, 1};
  EXPECT_DOUBLE_EQ(MeasureClassification(labels, predicted, names, costs).mean_cost, (4 + 3 + 1 + 2 + 1) / 5.0);
}

TEST(RegressionMetrics, SkillIsAgainstTheNaiveGuess) {
  const std::vector<double> truth{1, 2, 4};
  RegressionMetrics m = MeasureRegression(truth, std::vector<double>{1, 2.5, 4}, "y");
  EXPECT_TRUE(std::isnan(m.skill));
  EXPECT_FALSE(ToJson(m).contains("skill"));
  CompareWithBaseline(truth, std::vector<double>{0, 1, 2}, "yesterday", m);
  EXPECT_DOUBLE_EQ(m.baseline_mae, 4.0 / 3);
  EXPECT_DOUBLE_EQ(m.baseline_rmse, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(m.skill, 1 - (0.5 / 3) / (4.0 / 3));
  EXPECT_EQ(ToJson(m).at("baseline"), "yesterday");
}

TEST(ClassificationMetrics, NoPredictionIsWrong) {
  const std::vector<std::string> names{"a", "b"};
  const std::vector<int32_t> labels{0, 0, 1, -1};
  const std::vector<int32_t> predicted{-1, 0, 1, -1};
  const ClassificationMetrics metrics = MeasureClassification(labels, predicted, names);
  EXPECT_EQ(metrics.accuracy, 0.5);
  EXPECT_EQ(metrics.classes[0].support, 2);
  EXPECT_EQ(metrics.classes[0].recall, 0.5);
  EXPECT_EQ(metrics.classes[0].precision, 1);
  EXPECT_EQ(metrics.confusion, (std::vector<std::vector<int64_t>>{{1, 0}, {0, 1}}));
}

}  // namespace
}  // namespace lamina
