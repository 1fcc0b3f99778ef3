// Using a model on rows: predictions and metrics.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/model/metric.h"
#include "lamina/model/metrics.h"
#include "lamina/model/model.h"
#include "lamina/model/outputs.h"
#include "lamina/model/scored_rows.h"

namespace lamina {

/// What the network says to encoded rows: rows × outputs, in its type and its units.
Matrix NetworkOutputs(const Model& model, const Backend& backend, const Matrix& features);
/// The same of rows that may be in files, of which few are in memory at once.
Matrix NetworkOutputs(const Model& model, const Backend& backend, const Dataset& rows);

/// Network outputs for encoded rows: rows × outputs in f64; regression outputs in units of the target. Throws
/// Error(kBadModel) where one is not a finite number.
Matrix PredictRows(const Model& model, const Backend& backend, const Matrix& features);

struct Evaluation {
  std::optional<ClassificationMetrics> classification;
  std::vector<RegressionMetrics> regression;  // one per target
  /// Regression: true and predicted values of at most kMostPoints rows, evenly spread, for each target.
  std::vector<std::vector<std::pair<double, double>>> points;
  std::vector<MetricValue> metrics;  // those asked for by name
  double loss = 0;                   // the training loss on these rows, NaN if a row's class is unknown
  double seconds = 0;                // of the predictions
  int64_t samples = 0;
};

inline constexpr int64_t kMostPoints = 4000;

/// Mean loss of NetworkOutputs() over the outputs, in the network's own units.
double LossOfOutputs(const Model& model, const Matrix& outputs, const Matrix& targets);

/// Metrics of NetworkOutputs() for encoded rows with targets (`dataset.features` is not looked at); costs of mistakes
/// by `costs`, or those the model was trained with. An output that is not a number is a wrong answer.
Evaluation EvaluateOutputs(const Model& model, const Matrix& outputs, const Dataset& dataset,
                           const CostMatrix& costs = {});
/// The same of `model` on encoded rows.
Evaluation Evaluate(const Model& model, const Backend& backend, const Dataset& dataset, const CostMatrix& costs = {});

/// Metrics of answers that need not be one model's, such as those out of folds: one ScoredRows a target. For classes
/// their names. The loss is NaN.
Evaluation EvaluateScored(std::span<const ScoredRows> targets, std::span<const std::string> class_names,
                          const CostMatrix& costs = {});

/// Throws Error(kInvalidArgument) where `costs` do not cover the classes of the model.
void RequireCosts(const CostMatrix& costs, const Model& model);
/// The key of a cost matrix in Model::training.
inline constexpr const char* kCostsKey = "cost_matrix";

nlohmann::json ToJson(const Evaluation& evaluation);

}  // namespace lamina
