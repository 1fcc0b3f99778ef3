// Metrics by name, what training, evaluation and comparisons measure answers with: values, intervals, why there is
// none.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/model/bootstrap.h"
#include "lamina/model/metric_table.h"
#include "lamina/model/scored_rows.h"

namespace lamina {

/// Their names.
std::vector<std::string> MetricNames();

/// A metric with its argument: "rmse", "pinball:0.9".
class Metric {
 public:
  /// Throws Error(kInvalidArgument), naming `setting`, for an unknown name (with the nearest). Also for an argument
  /// that is not between 0 and 1, or that the metric does not take.
  static Metric Parse(const std::string& text, const std::string& setting = "metrics");

  const MetricRow& row() const { return *row_; }
  std::string Text() const;
  /// For people: "AUC", "pinball loss (0.9)".
  std::string Title() const;
  /// The metric over rows that count once each. NaN where WhyUndefined() says why.
  double Measure(const ScoredRows& rows) const;
  double Measure(const ScoredRows& rows, std::span<const double> weights) const {
    return row_->measure(rows, weights, ArgumentOn(rows));
  }
  /// "" where the metric has a value for these rows.
  std::string WhyUndefined(const ScoredRows& rows) const;
  /// The value as people read it: per cent, or six digits.
  std::string ValueText(double value) const;
  /// Whether `a` is a better value than `b`; a NaN is better than nothing.
  bool IsBetter(double a, double b) const { return row_->higher_is_better ? a > b : a < b; }
  /// The one that was given.
  const std::optional<double>& argument() const { return argument_; }
  /// Whether it is to be measured on these rows: of quantiles "pinball:0.9" is of that one alone.
  bool IsOf(const ScoredRows& rows) const { return !argument_ || rows.level == 0 || rows.level == *argument_; }

  bool operator==(const Metric& other) const { return row_ == other.row_ && argument_ == other.argument_; }

 private:
  double ArgumentOn(const ScoredRows& rows) const {
    return argument_.value_or(rows.level > 0 ? rows.level : row_->argument);
  }

  const MetricRow* row_ = nullptr;
  std::optional<double> argument_;
};

/// In a list: every metric.
inline constexpr const char* kAllMetrics = "all";

/// The metrics that `names` list for a model of classes, or of values: kAllMetrics stands for every one, an empty list
/// for the usual ones. `levels`: of a model of quantiles theirs. Throws as Parse(), for a metric of the other kind, and
/// for one of another quantile.
std::vector<Metric> MetricsFor(std::span<const std::string> names, bool classes, std::span<const double> levels,
                               const std::string& setting = "metrics");

/// The mean over the targets that it is of, one at least.
double MeanOverTargets(const Metric& metric, std::span<const ScoredRows> targets);
/// "" where that has a value, as Metric::WhyUndefined().
std::string WhyMeanUndefined(const Metric& metric, std::span<const ScoredRows> targets);

struct MetricValue {
  Metric metric;
  std::string target;  // its name; empty for classes
  double value = 0;    // NaN: undefined
  std::string reason;  // of that
  Interval interval;   // NaN without resamples

  /// "62.61 % (61.02 to 64.11)"; "undefined: all rows have the same class".
  std::string Text() const;
};

/// Every metric of every target that it is of, in this order of loops: targets, metrics. The same seed gives the same
/// intervals, on any number of threads.
std::vector<MetricValue> MeasureMetrics(std::span<const Metric> metrics, std::span<const ScoredRows> targets,
                                        const BootstrapOptions& bootstrap);

nlohmann::json ToJson(const MetricValue& value);

}  // namespace lamina
