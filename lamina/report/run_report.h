// What a person looks at after a run: its pictures, and one HTML report.
#pragma once

#include <string>
#include <vector>

#include "lamina/report/html_report.h"
#include "lamina/report/plots.h"
#include "lamina/run/session.h"

namespace lamina {

/// "loss", and "accuracy" for classes, by epoch, the best epoch marked.
std::vector<Plot> HistoryPlots(const History& history, const std::string& loss, const std::string& subtitle);

/// "confusion" for classes; for values "truth" and "residuals", one pair a target
/// ("truth-2", ...; at most eight targets).
std::vector<Plot> EvaluationPlots(const Evaluation& evaluation, const std::string& subtitle);

/// "weights": the first neurons of the first layer as tiles, if the network is fed with images.
std::vector<Plot> WeightPlots(const Model& model);

/// The ids of all plots that a run (`trained`) or an evaluation may have, which are known before it. `answers`: the
/// numbers that the model answers, 0 for classes.
std::vector<std::string> PlotIdsOf(size_t answers, bool is_image, bool trained);

/// A finished training run. The rows that were looked at are the test rows, else the validation rows.
struct RunReport {
  std::vector<Plot> plots;
  HtmlReport html;
};
RunReport ReportTraining(const TrainSession& session, const TrainResult& result);

/// An evaluation of a model file on a data file. `command` repeats it.
struct EvaluationReportInput {
  std::string model_path;
  std::string data_path;
  std::string command;
};
RunReport ReportEvaluation(const EvaluationReportInput& input, const Model& model, const Backend& backend,
                           const Evaluation& evaluation);

}  // namespace lamina
