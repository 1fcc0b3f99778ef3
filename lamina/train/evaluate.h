// Using a model on rows: predictions and metrics.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/nn/model.h"
#include "lamina/train/metrics.h"

namespace lamina {

/// Network outputs for encoded rows: rows × outputs in f64; regression outputs in units of the target.
Matrix PredictRows(const Model& model, const Backend& backend, const Matrix& features);

/// The class of each row of PredictRows().
std::vector<int32_t> ClassesOf(const Model& model, const Matrix& outputs);

struct Evaluation {
  std::optional<ClassificationMetrics> classification;
  std::vector<RegressionMetrics> regression;  // one per target
  double loss = 0;                            // the training loss on these rows, NaN if a row's class is unknown
  double seconds = 0;                         // of the predictions
  int64_t samples = 0;
};

/// Metrics of `model` on encoded rows with targets; costs of mistakes by `costs`, or those the model was trained with.
Evaluation Evaluate(const Model& model, const Backend& backend, const Dataset& dataset, const CostMatrix& costs = {});

/// Throws Error(kInvalidArgument) where `costs` do not cover the classes of the model.
void RequireCosts(const CostMatrix& costs, const Model& model);
/// The key of a cost matrix in Model::training.
inline constexpr const char* kCostsKey = "cost_matrix";

nlohmann::json ToJson(const Evaluation& evaluation);

}  // namespace lamina
