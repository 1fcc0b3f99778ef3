// What keeping the weights of a model in fewer bits does to its answers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lamina/model/answer.h"

namespace lamina {

struct WeightEffect {
  WeightStorage weights = WeightStorage::kExact;
  int64_t stored_bytes = 0;       // of the parameters
  int64_t bytes = 0;              // of the model compared with
  int64_t rows = 0;               // with an answer
  int64_t changed = 0;            // of them, with another class; 0 for regression
  double largest_difference = 0;  // of an output; regression: in units of the target
  Evaluation before;              // of the model compared with
  Evaluation after;

  /// One line: "weights i8: 0.8 MiB instead of 3.1; accuracy ...".
  std::string Text() const;
};

/// `after`: the answers of `rounded` to the same rows as `before` of `model`, both evaluated.
WeightEffect CompareWeights(const Model& model, const Answers& before, const Model& rounded, const Answers& after);

/// storage, bytes, exact_bytes, changed_answers, largest_difference, and the metrics before as "exact".
nlohmann::json ToJson(const WeightEffect& effect);

}  // namespace lamina
