// Text for people: descriptions of models and tables of metrics.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/model/answer.h"
#include "lamina/model/metric.h"
#include "lamina/model/model.h"

namespace lamina::cli {

/// "10 classes of label", "price".
std::string TargetText(const Model& model);
/// "relu, softmax".
std::string ActivationsText(const Network& network);
/// "note: ...", nothing for "".
void PrintNote(const std::string& note, std::FILE* to = stdout);
/// A note each.
void PrintNotes(const std::vector<std::string>& notes, std::FILE* to = stdout);
/// The table of what was decided about columns; nothing for none.
void PrintDecisions(const std::vector<ColumnDecision>& decisions);
/// Accuracy or errors; with details also the metrics per class and the confusion matrix.
void PrintEvaluation(const std::string& what, const Evaluation& evaluation, bool details);

/// "price: RMSE", "accuracy".
std::string MetricName(const std::string& target, const Metric& metric);
/// A line a metric: its title and value with the interval, or why it has none.
void PrintMetrics(const std::vector<MetricValue>& metrics);

}  // namespace lamina::cli
