// Weights of training rows.
#include "lamina/data/encode/sample_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

// n / (k n_c) for each class c.
std::vector<double> BalancedWeights(const Dataset& dataset, size_t classes) {
  std::vector<double> counts(classes);
  double labelled = 0;
  for (const int32_t label : dataset.labels) {
    if (label >= 0) {
      ++counts[static_cast<size_t>(label)];
      ++labelled;
    }
  }
  std::vector<double> weights(classes);
  for (size_t c = 0; c < classes; ++c) {
    weights[c] = counts[c] > 0 ? labelled / (static_cast<double>(classes) * counts[c]) : 0;
  }
  return weights;
}

void RequireWeight(double weight, const std::string& what) {
  if (!(weight >= 0) || std::isinf(weight)) {
    throw Error(ErrorCode::kInvalidArgument, "a weight must be a finite number, 0 or more",
                {.value = fmt::format("{}: {}", what, weight)});
  }
}

std::vector<double> ClassWeights(const Dataset& dataset, const TargetEncoder& targets, const WeightOptions& options) {
  const std::vector<std::string>& names = targets.class_names();
  std::vector<double> weights(names.size(), 1);
  if (options.balanced_classes) {
    weights = BalancedWeights(dataset, names.size());
  }
  for (const auto& [name, weight] : options.class_weights) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      throw Error(
          ErrorCode::kNotFound, "a weight for an unknown class",
          {.value = name, .remedy = DidYouMean(name, names) + fmt::format("There are {} classes.", names.size())});
    }
    RequireWeight(weight, name);
    weights[static_cast<size_t>(found - names.begin())] *= weight;
  }
  return weights;
}

void MultiplyByColumn(const Table& table, const Dataset& dataset, const std::string& name,
                      std::vector<double>& weights) {
  const Column& column = table.columns[static_cast<size_t>(table.FindColumn(name))];
  if (column.kind == ColumnKind::kText) {
    throw Error(ErrorCode::kBadData, "the weight column holds text", {.file = table.source, .column = column.name});
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const double weight = column.Number(dataset.rows[i]);
    if (!(weight >= 0) || std::isinf(weight)) {
      ThrowCell(table, dataset.rows[i], column,
                std::isnan(weight) ? "missing weight" : "a weight must be a finite number, 0 or more",
                "Correct the value.");
    }
    weights[i] *= weight;
  }
}

}  // namespace

std::vector<double> SampleWeights(const Table& table, const Dataset& dataset, const TargetEncoder& targets,
                                  const WeightOptions& options) {
  std::vector<double> weights(dataset.rows.size(), 1);
  if (options.balanced_classes || !options.class_weights.empty()) {
    if (targets.task() != Task::kClassification) {
      throw Error(ErrorCode::kInvalidArgument, "class weights need a classification target",
                  {.remedy = "Use a weight column for regression."});
    }
    const std::vector<double> by_class = ClassWeights(dataset, targets, options);
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = dataset.labels[i] < 0 ? 1 : by_class[static_cast<size_t>(dataset.labels[i])];
    }
  }
  if (!options.weight_column.empty()) {
    MultiplyByColumn(table, dataset, options.weight_column, weights);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double factor = static_cast<double>(weights.size()) / sum;
  if (!weights.empty() && !(factor > 0 && std::isfinite(factor))) {
    throw Error(ErrorCode::kBadData,
                sum == 0             ? "all weights are 0"
                : std::isfinite(sum) ? "the weights are too small"
                                     : "the weights are too large",
                {.file = table.source, .column = options.weight_column});
  }
  for (double& weight : weights) {
    weight *= factor;
  }
  return weights;
}

}  // namespace lamina
