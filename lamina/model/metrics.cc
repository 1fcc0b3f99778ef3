// Metrics of classification and regression.
#include "lamina/model/metrics.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/nan.h"

namespace lamina {
namespace {

using nlohmann::json;

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? kNaN : static_cast<double>(part) / static_cast<double>(whole);
}

double MeanCost(const ClassificationMetrics& metrics, std::span<const std::string> class_names,
                const CostMatrix& costs) {
  const int64_t known = metrics.samples - metrics.unknown_labels;
  if (costs.empty() || known == 0) {
    return kNaN;
  }
  const CostMatrix ordered = costs.InOrder(class_names);
  double sum = 0;
  for (size_t i = 0; i < class_names.size(); ++i) {
    for (size_t j = 0; j < class_names.size(); ++j) {
      sum += ordered.costs[i][j] * static_cast<double>(metrics.confusion[i][j]);
    }
  }
  return sum / static_cast<double>(known);
}

json NumberOrNull(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

}  // namespace

ClassificationMetrics MeasureClassification(std::span<const int32_t> labels, std::span<const int32_t> predicted,
                                            std::span<const std::string> class_names, const CostMatrix& costs) {
  ClassificationMetrics metrics;
  const size_t classes = class_names.size();
  metrics.samples = static_cast<int64_t>(labels.size());
  metrics.confusion.assign(classes, std::vector<int64_t>(classes, 0));
  std::vector<int64_t> rows(classes, 0);
  std::vector<int64_t> predictions(classes, 0);  // also of rows of unknown classes, which are wrong
  int64_t correct = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    correct += labels[i] >= 0 && labels[i] == predicted[i] ? 1 : 0;
    if (predicted[i] >= 0) {
      ++predictions[static_cast<size_t>(predicted[i])];
    }
    if (labels[i] < 0) {
      ++metrics.unknown_labels;
      continue;
    }
    ++rows[static_cast<size_t>(labels[i])];
    if (predicted[i] >= 0) {
      ++metrics.confusion[static_cast<size_t>(labels[i])][static_cast<size_t>(predicted[i])];
    }
  }
  metrics.accuracy = Ratio(correct, metrics.samples);
  int64_t present = 0;
  for (size_t c = 0; c < classes; ++c) {
    ClassMetrics row;
    row.name = class_names[c];
    row.support = rows[c];
    const int64_t hits = metrics.confusion[c][c];
    row.precision = Ratio(hits, predictions[c]);
    row.recall = Ratio(hits, row.support);
    row.f1 = Ratio(2 * hits, predictions[c] + row.support);
    if (row.support > 0) {
      ++present;
      metrics.macro_f1 += std::isnan(row.f1) ? 0.0 : row.f1;
      metrics.macro_precision += std::isnan(row.precision) ? 0.0 : row.precision;
      metrics.macro_recall += row.recall;
    }
    metrics.classes.push_back(row);
  }
  for (double* mean : {&metrics.macro_f1, &metrics.macro_precision, &metrics.macro_recall}) {
    *mean = present == 0 ? kNaN : *mean / static_cast<double>(present);
  }
  metrics.mean_cost = MeanCost(metrics, class_names, costs);
  return metrics;
}

RegressionMetrics MeasureRegression(std::span<const double> truth, std::span<const double> predicted,
                                    std::string name) {
  RegressionMetrics metrics;
  metrics.name = std::move(name);
  metrics.samples = static_cast<int64_t>(truth.size());
  const auto n = static_cast<double>(truth.size());
  double mean = 0;
  for (const double y : truth) {
    mean += y / n;
  }
  double squares = 0;
  double total = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    const double error = predicted[i] - truth[i];
    squares += error * error;
    metrics.mae += std::abs(error) / n;
    total += (truth[i] - mean) * (truth[i] - mean);
  }
  metrics.mse = squares / n;
  metrics.rmse = std::sqrt(metrics.mse);
  const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
  const bool constant = truth.empty() || *least == *most;  // `total` is then rounding
  metrics.r2 = constant ? kNaN : 1.0 - squares / total;
  metrics.baseline_mae = metrics.baseline_rmse = metrics.skill = kNaN;
  return metrics;
}

void CompareWithBaseline(std::span<const double> truth, std::span<const double> guess, std::string name,
                         RegressionMetrics& metrics) {
  const RegressionMetrics naive = MeasureRegression(truth, guess, "");
  metrics.baseline = std::move(name);
  metrics.baseline_mae = naive.mae;
  metrics.baseline_rmse = naive.rmse;
  metrics.skill = naive.mae > 0 ? 1 - metrics.mae / naive.mae : kNaN;
}

void MeasureQuantile(std::span<const double> truth, std::span<const double> predicted, double level,
                     RegressionMetrics& metrics) {
  metrics.level = level;
  double loss = 0;
  int64_t below = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    const double difference = truth[i] - predicted[i];
    loss += std::max(level * difference, (level - 1) * difference);
    below += difference <= 0 ? 1 : 0;
  }
  const auto count = static_cast<double>(truth.size());  // of none both are NaN
  metrics.pinball = loss / count;
  metrics.below = static_cast<double>(below) / count;
}

json ToJson(const ClassificationMetrics& metrics) {
  json classes = json::array();
  for (const ClassMetrics& row : metrics.classes) {
    classes.push_back({{"name", row.name},
                       {"support", row.support},
                       {"precision", NumberOrNull(row.precision)},
                       {"recall", NumberOrNull(row.recall)},
                       {"f1", NumberOrNull(row.f1)}});
  }
  return {{"samples", metrics.samples},
          {"accuracy", NumberOrNull(metrics.accuracy)},
          {"macro_f1", NumberOrNull(metrics.macro_f1)},
          {"macro_precision", NumberOrNull(metrics.macro_precision)},
          {"macro_recall", NumberOrNull(metrics.macro_recall)},
          {"mean_cost", NumberOrNull(metrics.mean_cost)},
          {"unknown_labels", metrics.unknown_labels},
          {"classes", classes},
          {"confusion", metrics.confusion}};
}

json ToJson(const RegressionMetrics& metrics) {
  json node = {{"name", metrics.name},
               {"samples", metrics.samples},
               {"mse", NumberOrNull(metrics.mse)},
               {"rmse", NumberOrNull(metrics.rmse)},
               {"mae", NumberOrNull(metrics.mae)},
               {"r2", NumberOrNull(metrics.r2)}};
  if (metrics.level > 0) {
    node["level"] = metrics.level;
    node["pinball"] = NumberOrNull(metrics.pinball);
    node["below"] = NumberOrNull(metrics.below);
  }
  if (!metrics.baseline.empty()) {
    node["baseline"] = metrics.baseline;
    node["baseline_mae"] = NumberOrNull(metrics.baseline_mae);
    node["baseline_rmse"] = NumberOrNull(metrics.baseline_rmse);
    node["skill"] = NumberOrNull(metrics.skill);
  }
  return node;
}

}  // namespace lamina
