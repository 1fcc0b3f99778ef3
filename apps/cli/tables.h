// Text for people: descriptions of models and tables of metrics.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/model/answer.h"
#include "lamina/model/model.h"

namespace lamina::cli {

/// "10 classes of label", "price".
std::string TargetText(const Model& model);
/// "relu, softmax".
std::string ActivationsText(const Network& network);
/// "2 of 40 rows have no answer: a value is missing, the first in line 3, column 'size'", with `what` of the rows; ""
/// if there is none.
std::string LeftOutText(const LeftOut& left_out, int64_t rows, const std::string& what);
/// "note: ...", nothing for "".
void PrintNote(const std::string& note);
/// A line each about categories encoded as zeros, missing values filled in and, of `asked` rows, numbers far from those
/// of the training; nothing for none.
void PrintReport(const EncodeReport& report, bool asked, std::FILE* to = stdout);
/// The table of what was decided about columns; nothing for none.
void PrintDecisions(const std::vector<ColumnDecision>& decisions);
/// Which values of the target training did not see: how many rows by the class they are counted to.
void PrintNewLabels(const EncodeReport& report);
nlohmann::json DecisionsJson(const std::vector<ColumnDecision>& decisions);
nlohmann::json NewLabelsJson(const EncodeReport& report);
/// Accuracy or errors; with details also the metrics per class and the confusion matrix.
void PrintEvaluation(const std::string& what, const Evaluation& evaluation, bool details);

/// A line a metric: its title and value with the interval, or why it has none.
void PrintMetrics(const std::vector<MetricValue>& metrics);

}  // namespace lamina::cli
