// Weights of training rows, from classes and from a column.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/target_encoder.h"

namespace lamina {

struct WeightOptions {
  bool balanced_classes = false;
  std::vector<std::pair<std::string, double>> class_weights;
  std::string weight_column;  // name or number in the table; must then be in drop_columns as well

  bool empty() const { return !balanced_classes && class_weights.empty() && weight_column.empty(); }
  bool operator==(const WeightOptions&) const = default;
};

/// Per row of `dataset`, encoded from `table`: class weight ("balanced" or name -> weight) × weight column, normalized
/// to mean 1. Throws Error.
std::vector<double> SampleWeights(const Table& table, const Dataset& dataset, const TargetEncoder& targets,
                                  const WeightOptions& options);

}  // namespace lamina
