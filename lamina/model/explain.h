// What a model's answers depend on, column by column of the table. It has permutation importance (Breiman, 2001),
// partial dependence (Friedman, 2001) and Shapley values by sampled permutations (Štrumbelj and Kononenko, 2014).
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/nan.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/metric.h"
#include "lamina/model/model.h"

namespace lamina {

/// Rows of a table, encoded for a model, with their truth where that is needed. Views the table and the model.
struct ExplainedRows {
  const Model& model;
  const Backend& backend;
  const BoundTable& table;
  const Dataset& data;  // its `rows` are of the table
};

struct ColumnImportance {
  std::string column;
  double mean = 0;       // by how much the metric gets worse where the column's values are shuffled among the rows
  double deviation = 0;  // over the repeats; NaN for one
  double weight = kNaN;  // of LearnedWeights()
};
struct Importance {
  Metric metric;
  double value = 0;                       // of the rows as they are; the mean over several targets
  std::vector<ColumnImportance> columns;  // the most important first
};
/// How much each input column counts in the distances of a kernel machine, the largest 1; this was learned and costs
/// nothing. A column of several inputs has that of its largest. Empty for other models.
std::vector<double> LearnedWeights(const Model& model);
/// What shuffling is judged by where nobody says: log loss of probabilities, accuracy of other classes, RMSE of
/// numbers.
Metric MetricForImportance(const Model& model);
/// Throws Error(kInvalidArgument) where the metric is undefined for these rows.
Importance PermutationImportance(const ExplainedRows& rows, const Metric& metric, int64_t repeats, uint64_t seed);
/// The same by MetricForImportance(), in some seconds at most, on `rows` of the table or some spread evenly among them.
/// Nothing for images and very large networks, for fewer than 30 rows, and where the metric is undefined.
std::optional<Importance> QuickImportance(const Model& model, const Backend& backend, const Table& table,
                                          std::span<const int64_t> rows);

/// Mean answer over the rows if all of them had one value in a column.
struct Dependence {
  struct Point {
    std::string text;             // the value as the table has it
    double number = 0;            // of number columns
    std::vector<double> outputs;  // a number a class, or a target
  };
  std::string column;
  bool is_number = false;
  std::vector<Point> points;  // values that occur: quantiles of numbers, ascending; the most frequent categories
};
inline constexpr int64_t kDependencePoints = 20;
/// `column`: by name. At most kDependenceRows rows are averaged over, evenly spread. Throws Error(kNotFound).
inline constexpr int64_t kDependenceRows = 1000;
Dependence PartialDependence(const ExplainedRows& rows, const std::string& column);

/// How one row's answer came about: base + the sum of the shares = answer, but for rounding.
struct Explanation {
  struct Share {
    std::string column;
    std::string value;  // as the table has it
    double share = 0;
    double error = 0;  // standard error by the choice of permutations and background rows
  };
  int64_t row = 0;            // of the table
  std::string output;         // the class that is explained (the predicted one), or the target
  double answer = 0;          // for this row
  double base = 0;            // the mean answer over the background rows drawn
  std::vector<Share> shares;  // the largest magnitude first
};
struct ShapleyOptions {
  int64_t samples = 100;  // pairs of a permutation and its reverse, each with a background row
  uint64_t seed = 1;
};
/// Shapley values of rows.data row `index`, against all of them as the background.
Explanation ShapleyValues(const ExplainedRows& rows, int64_t index, const ShapleyOptions& options);

/// Names of the outputs: classes, or targets.
std::vector<std::string> OutputNames(const Model& model);

/// Whether a kernel machine has learned them.
inline bool HasLearnedWeights(const Importance& importance) {
  return !importance.columns.empty() && importance.columns.front().weight == importance.columns.front().weight;
}

nlohmann::json ToJson(const Importance& importance);
nlohmann::json ToJson(const Dependence& dependence, const std::vector<std::string>& outputs);
nlohmann::json ToJson(const Explanation& explanation);

}  // namespace lamina
