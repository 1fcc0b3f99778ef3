// Metrics of classification and regression on a set of rows.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/model/cost_matrix.h"

namespace lamina {

/// Precision is NaN for a class never predicted, recall for a class without rows; F1 is NaN where both are.
struct ClassMetrics {
  std::string name;
  int64_t support = 0;  // rows of this class
  double precision = 0;
  double recall = 0;
  double f1 = 0;
};

struct ClassificationMetrics {
  int64_t samples = 0;
  double accuracy = 0;
  double macro_f1 = 0;  // means over the classes with rows, NaN counted as 0
  double macro_precision = 0;
  double macro_recall = 0;
  double mean_cost = 0;  // of a row of a known class; NaN without a cost matrix
  std::vector<ClassMetrics> classes;
  std::vector<std::vector<int64_t>> confusion;  // [true class][predicted class]
  // Rows of a class that training never saw: wrong in accuracy and in the precision of what they are taken for, absent
  // from the matrix.
  int64_t unknown_labels = 0;
};

/// Labels are class indices; -1 is a class unknown to the model. A prediction of -1 is none: wrong, and absent from the
/// matrix.
ClassificationMetrics MeasureClassification(std::span<const int32_t> labels, std::span<const int32_t> predicted,
                                            std::span<const std::string> class_names, const CostMatrix& costs = {});

struct RegressionMetrics {
  std::string name;  // of the target
  int64_t samples = 0;
  double mse = 0;
  double rmse = 0;
  double mae = 0;
  double r2 = 0;            // NaN where the target is constant
  std::string baseline;     // what the naive guess is; empty: none, and NaN below
  double baseline_mae = 0;  // of the naive guess
  double baseline_rmse = 0;
  double level = 0;    // of a quantile; 0: the answers are none, and these below are 0, too
  double pinball = 0;  // mean of level (y - a) where a is below y, else (1 - level)(a - y): what a quantile makes least
  double below = 0;    // share of the rows whose truth is at or below the answer: should be the level
  double skill = 0;    // 1 - MAE / MAE of the naive guess: above 0 is better, 1 is perfect
};

/// One target. All in its own units.
RegressionMetrics MeasureRegression(std::span<const double> truth, std::span<const double> predicted, std::string name);
/// Fills in how a naive guess does on the same rows.
void CompareWithBaseline(std::span<const double> truth, std::span<const double> guess, std::string name,
                         RegressionMetrics& metrics);

/// Fills in how good answers are as quantiles of that level.
void MeasureQuantile(std::span<const double> truth, std::span<const double> predicted, double level,
                     RegressionMetrics& metrics);

nlohmann::json ToJson(const ClassificationMetrics& metrics);
nlohmann::json ToJson(const RegressionMetrics& metrics);

}  // namespace lamina
