// Two models on the same rows: how much better one is, and whether that could be the choice of rows.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/files/table.h"
#include "lamina/model/metric.h"

namespace lamina {

/// Answers of one contestant; each has classes of its own, in an order of its own.
struct Contestant {
  std::string name;
  std::vector<ScoredRows> targets;
  std::vector<int64_t> rows;  // of the table, each once: what the targets' rows are
};

struct MetricDifference {
  Metric metric;
  std::string target;  // empty for classes
  double first = 0;
  double second = 0;
  double difference = 0;  // second - first
  Interval interval;      // of the difference, over resamples of the rows, the same for both
  double p_value = 0;     // two-sided: how often a resample contradicts the sign of the difference
  std::string reason;     // why there is none of all that
};

/// Rows that only one of them answers rightly. McNemar's exact test: were both equally good, each such row were a coin.
struct McNemar {
  int64_t only_first = 0;
  int64_t only_second = 0;
  double p_value = 1;
};
double McNemarP(int64_t only_first, int64_t only_second);

struct Comparison {
  int64_t rows = 0;  // that both have answered
  std::vector<MetricDifference> metrics;
  std::optional<McNemar> mcnemar;  // classes
};

/// On the rows that both have. Throws Error(kInvalidArgument) where there are none, or other targets.
Comparison Compare(const Contestant& first, const Contestant& second, std::span<const Metric> metrics,
                   const BootstrapOptions& bootstrap);

/// A table of predictions beside the truth of the same rows: columns TARGET or predicted (predicted_TARGET of several),
/// p_CLASS where there are probabilities. Rows without a prediction or a truth are left out. `classes`: the target is
/// one. Throws Error where the rows are not as many, or a column is missing.
Contestant ContestantFrom(const Table& predictions, const Table& truth, const std::vector<std::string>& targets,
                          bool classes);

nlohmann::json ToJson(const Comparison& comparison);

}  // namespace lamina
