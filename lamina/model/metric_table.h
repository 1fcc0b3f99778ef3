// The one table of metrics: names, what they need and how they are computed.
#pragma once

#include <span>

#include "lamina/model/scored_rows.h"

namespace lamina {

/// What a metric cannot do without.
struct MetricNeeds {
  bool known_labels = false;   // no row of a class that the model does not know
  bool two_classes = false;    // rows of at least two classes
  bool probabilities = false;  // not only scores
  bool no_zero_truth = false;  // it divides by the true values
  bool varying_truth = false;  // the true values differ
};

/// A row of the table.
struct MetricRow {
  const char* name;
  const char* title;
  const char* help;
  bool of_classes;
  bool higher_is_better;
  bool is_share;  // shown as per cent
  MetricNeeds needs;
  /// `weights`: how often each row counts, one a row; `argument`: behind the name's colon. NaN: undefined.
  double (*measure)(const ScoredRows& rows, std::span<const double> weights, double argument);
  double argument = 0;  // where none is given; above 0 only for metrics that take one
};

/// Every metric, those of classes first.
std::span<const MetricRow> MetricTable();

}  // namespace lamina
