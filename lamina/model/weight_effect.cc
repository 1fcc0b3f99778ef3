// Answers beside each other.
#include "lamina/model/weight_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/text.h"

namespace lamina {

WeightEffect CompareWeights(const Model& model, const Answers& before, const Model& rounded, const Answers& after) {
  Check(before.rows == after.rows && before.evaluation && after.evaluation, "CompareWeights: other rows");
  WeightEffect effect;
  effect.weights = rounded.weights;
  effect.stored_bytes = rounded.stored_bytes();
  effect.bytes = model.stored_bytes();
  for (int64_t i = 0; i < before.outputs.rows(); ++i) {
    if (!before.has_answer(i)) {
      continue;
    }
    ++effect.rows;
    for (int64_t j = 0; j < before.outputs.cols(); ++j) {
      effect.largest_difference = std::max(
          effect.largest_difference, std::abs(after.outputs.Row<double>(i)[j] - before.outputs.Row<double>(i)[j]));
    }
  }
  for (size_t i = 0; i < before.classes.size(); ++i) {
    effect.changed += before.classes[i] != after.classes[i] ? 1 : 0;
  }
  effect.before = *before.evaluation;
  effect.after = *after.evaluation;
  return effect;
}

std::string WeightEffect::Text() const {
  const auto kib = [](int64_t size_bytes) { return WithThousands((size_bytes + 1023) / 1024); };
  std::string text =
      fmt::format("weights {}: {} KiB instead of {}", WeightStorageName(weights), kib(stored_bytes), kib(bytes));
  if (after.classification) {
    const double now = 100 * after.classification->accuracy;
    const double was = 100 * before.classification->accuracy;
    text += fmt::format("; accuracy {:.2f} % instead of {:.2f} % ({:+.2f} points), {} of {} answers are another class",
                        now, was, now - was, WithThousands(changed), WithThousands(rows));
  }
  for (size_t j = 0; j < after.regression.size(); ++j) {
    text += fmt::format("; {}: MAE {:.6g} instead of {:.6g}", after.regression[j].name, after.regression[j].mae,
                        before.regression[j].mae);
  }
  return text + fmt::format("; an output differs by at most {:.3g}", largest_difference);
}

nlohmann::json ToJson(const WeightEffect& effect) {
  nlohmann::json exact = {{"loss", std::isfinite(effect.before.loss) ? nlohmann::json(effect.before.loss) : nullptr}};
  if (effect.before.classification) {
    exact["accuracy"] = effect.before.classification->accuracy;
  } else {
    exact["targets"] = nlohmann::json::array();
    for (const RegressionMetrics& metrics : effect.before.regression) {
      exact["targets"].push_back(ToJson(metrics));
    }
  }
  return {{"storage", WeightStorageName(effect.weights)},
          {"bytes", effect.stored_bytes},
          {"exact_bytes", effect.bytes},
          {"changed_answers", effect.changed},
          {"largest_difference", effect.largest_difference},
          {"exact", std::move(exact)}};
}

}  // namespace lamina
