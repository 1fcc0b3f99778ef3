// Metrics by name.
#include "lamina/model/metric.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/names.h"
#include "lamina/base/nan.h"
#include "lamina/base/team.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr const char* kUsualOfClasses[] = {"accuracy", "balanced_accuracy", "auc", "log_loss"};
constexpr const char* kUsualOfValues[] = {"rmse", "mae", "r2"};

}  // namespace

std::vector<std::string> MetricNames() {
  std::vector<std::string> names;
  for (const MetricRow& row : MetricTable()) {
    names.emplace_back(row.name);
  }
  return names;
}

Metric Metric::Parse(const std::string& text, const std::string& setting) {
  const size_t colon = text.find(':');
  Metric metric;
  metric.row_ =
      &MetricTable()[IndexOfName(text.substr(0, colon), MetricNames(), fmt::format("--{}: unknown metric", setting))];
  if (colon != std::string::npos) {
    const double argument = ParseNumber(text.substr(colon + 1));
    if (metric.row_->argument == 0 || !(argument > 0 && argument < 1)) {
      throw Error(ErrorCode::kInvalidArgument,
                  metric.row_->argument == 0 ? fmt::format("--{}: {} takes no number", setting, metric.row_->name)
                                             : fmt::format("--{}: the quantile must be between 0 and 1", setting),
                  {.value = text, .setting = setting});
    }
    metric.argument_ = argument;
  }
  return metric;
}

std::string Metric::Text() const { return argument_ ? fmt::format("{}:{}", row_->name, *argument_) : row_->name; }

std::string Metric::Title() const { return argument_ ? fmt::format("{} ({})", row_->title, *argument_) : row_->title; }

double Metric::Measure(const ScoredRows& rows) const {
  return WhyUndefined(rows).empty() ? Measure(rows, std::vector<double>(static_cast<size_t>(rows.size()), 1.0)) : kNaN;
}

std::string Metric::WhyUndefined(const ScoredRows& rows) const {
  if (rows.size() == 0) {
    return "there are no rows";
  }
  const MetricNeeds& needs = row_->needs;
  if (needs.probabilities && !rows.probabilities) {
    return "the model's outputs are no probabilities";
  }
  if (needs.known_labels && std::find(rows.labels.begin(), rows.labels.end(), -1) != rows.labels.end()) {
    return "some rows have a class that the model does not know";
  }
  if (needs.two_classes &&
      std::adjacent_find(rows.labels.begin(), rows.labels.end(), std::not_equal_to<>()) == rows.labels.end()) {
    return "all rows have the same class";
  }
  if (needs.no_zero_truth && std::find(rows.truth.begin(), rows.truth.end(), 0.0) != rows.truth.end()) {
    return "a true value is 0";
  }
  if (needs.varying_truth &&
      std::adjacent_find(rows.truth.begin(), rows.truth.end(), std::not_equal_to<>()) == rows.truth.end()) {
    return "the true values are all equal";
  }
  return "";
}

std::string Metric::ValueText(double value) const {
  return row_->is_share ? PercentText(value) + " %" : std::isnan(value) ? "-" : FigureText(value);
}

std::vector<Metric> MetricsFor(std::span<const std::string> names, bool classes, std::span<const double> levels,
                               const std::string& setting) {
  std::vector<Metric> metrics;
  const auto add = [&](const std::string& name) {
    const Metric metric = Metric::Parse(name, setting);
    if (metric.row().of_classes != classes) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--{}: {} is a metric of {}, and the target is {}", setting, metric.row().name,
                              classes ? "values" : "classes", classes ? "a class" : "a number to predict"),
                  {.setting = setting});
    }
    if (metric.argument() && !levels.empty() &&
        std::find(levels.begin(), levels.end(), *metric.argument()) == levels.end()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("--{}: no answer of the model is that quantile, but {}", setting, fmt::join(levels, ", ")),
          {.value = name,
           .remedy = fmt::format("Use {} alone: each answer is then measured at its own.", metric.row().name),
           .setting = setting});
    }
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
      metrics.push_back(metric);
    }
  };
  if (names.empty()) {
    const auto usual = classes ? std::span<const char* const>(kUsualOfClasses) : kUsualOfValues;
    std::for_each(usual.begin(), usual.end(), add);
  }
  for (const std::string& name : names) {
    if (name != kAllMetrics) {
      add(name);
      continue;
    }
    for (const MetricRow& row : MetricTable()) {
      if (row.of_classes == classes) {
        add(row.name);
      }
    }
  }
  return metrics;
}

double MeanOverTargets(const Metric& metric, std::span<const ScoredRows> targets) {
  double sum = 0;
  int64_t count = 0;
  for (const ScoredRows& rows : targets) {
    if (metric.IsOf(rows)) {
      sum += metric.Measure(rows);
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

std::string WhyMeanUndefined(const Metric& metric, std::span<const ScoredRows> targets) {
  for (const ScoredRows& rows : targets) {
    if (std::string reason = metric.IsOf(rows) ? metric.WhyUndefined(rows) : ""; !reason.empty()) {
      return reason;
    }
  }
  return "";
}

std::vector<MetricValue> MeasureMetrics(std::span<const Metric> metrics, std::span<const ScoredRows> targets,
                                        const BootstrapOptions& bootstrap) {
  std::vector<MetricValue> all;
  for (const ScoredRows& rows : targets) {
    const size_t first = all.size();
    for (const Metric& metric : metrics) {
      if (metric.IsOf(rows)) {
        all.push_back({metric,
                       rows.classes > 0 ? "" : rows.target,
                       metric.Measure(rows),
                       metric.WhyUndefined(rows),
                       {kNaN, kNaN}});
      }
    }
    const std::span<MetricValue> of_rows = std::span(all).subspan(first);
    std::vector<std::vector<double>> values(of_rows.size(),
                                            std::vector<double>(static_cast<size_t>(bootstrap.resamples)));
    // Rankings are there: whatever needs one has been measured above.
    RunEach(UsualThreads(), bootstrap.resamples, [&](int64_t b) {
      std::vector<double> weights(static_cast<size_t>(rows.size()));
      DrawResample(bootstrap.seed, b, weights);
      for (size_t m = 0; m < of_rows.size(); ++m) {
        values[m][static_cast<size_t>(b)] = of_rows[m].reason.empty() ? of_rows[m].metric.Measure(rows, weights) : kNaN;
      }
    });
    for (size_t m = 0; m < of_rows.size(); ++m) {
      of_rows[m].interval = PercentileInterval(std::move(values[m]), bootstrap.level);
    }
  }
  return all;
}

std::string MetricValue::Text() const {
  if (!reason.empty()) {
    return "undefined: " + reason;
  }
  const std::string text = metric.ValueText(value);
  return std::isnan(interval.low)
             ? text
             : fmt::format("{} ({} to {})", text, metric.ValueText(interval.low), metric.ValueText(interval.high));
}

nlohmann::json ToJson(const MetricValue& value) {
  const auto number = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr); };
  nlohmann::json node = {{"name", value.metric.Text()},
                         {"value", number(value.value)},
                         {"low", number(value.interval.low)},
                         {"high", number(value.interval.high)},
                         {"higher_is_better", value.metric.row().higher_is_better}};
  if (!value.target.empty()) {
    node["target"] = value.target;
  }
  if (!value.reason.empty()) {
    node["undefined"] = value.reason;
  }
  return node;
}

}  // namespace lamina
