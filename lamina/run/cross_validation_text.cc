// What folds found out, in words and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/run/cross_validation.h"

namespace lamina {

using nlohmann::json;

std::string MetricSpread::Text() const {
  if (std::isnan(mean)) {
    return "undefined: " + why;
  }
  const Metric& metric = all.metric;
  std::string text = metric.ValueText(mean);
  if (!std::isnan(deviation)) {
    text += " ± " + metric.ValueText(deviation);
  }
  return undefined == 0 ? text : fmt::format("{} (undefined for {}: {})", text, undefined, why);
}

json ToJson(const CrossValidation& result) {
  const auto number = [](double x) { return std::isfinite(x) ? json(x) : json(nullptr); };
  json folds = json::array();
  for (const FoldResult& fold : result.folds) {
    json metrics = json::array();
    for (const MetricValue& value : fold.metrics) {
      metrics.push_back(ToJson(value));
    }
    folds.push_back({{"fold", fold.fold},
                     {"train_rows", fold.train_rows},
                     {"validation_rows", fold.validation_rows},
                     {"test_rows", fold.test_rows},
                     {"epochs", fold.epochs},
                     {"best_epoch", fold.best_epoch},
                     {"metrics", std::move(metrics)}});
  }
  const auto spreads = [&](const std::vector<MetricSpread>& of) {
    json metrics = json::array();
    for (const MetricSpread& spread : of) {
      json node = ToJson(spread.all);  // "value": of all out-of-fold answers together
      node["mean"] = number(spread.mean);
      node["deviation"] = number(spread.deviation);
      node["undefined_folds"] = spread.undefined;
      metrics.push_back(std::move(node));
    }
    return metrics;
  };
  json node = {{"folds", std::move(folds)}, {"metrics", spreads(result.metrics)}, {"remarks", result.remarks}};
  if (!result.nested.empty()) {
    node["nested"] = spreads(result.nested);
  }
  if (!result.portfolio.empty()) {
    node["portfolio"] = ToJson(std::span(result.portfolio));
  }
  return node;
}

}  // namespace lamina
