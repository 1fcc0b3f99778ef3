// Metrics of classification and regression on a set of rows.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

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
  double macro_f1 = 0;  // mean over the classes with rows, NaN counted as 0
  std::vector<ClassMetrics> classes;
  std::vector<std::vector<int64_t>> confusion;  // [true class][predicted class]
  int64_t unknown_labels = 0;  // rows of a class that training never saw; wrong in accuracy, absent from the matrix
};

/// Labels are class indices; -1 is a class unknown to the model.
ClassificationMetrics MeasureClassification(std::span<const int32_t> labels, std::span<const int32_t> predicted,
                                            std::span<const std::string> class_names);

struct RegressionMetrics {
  std::string name;  // of the target
  int64_t samples = 0;
  double mse = 0;
  double rmse = 0;
  double mae = 0;
  double r2 = 0;  // NaN where the target is constant
};

/// One target. All in its own units.
RegressionMetrics MeasureRegression(std::span<const double> truth, std::span<const double> predicted, std::string name);

nlohmann::json ToJson(const ClassificationMetrics& metrics);
nlohmann::json ToJson(const RegressionMetrics& metrics);

}  // namespace lamina
