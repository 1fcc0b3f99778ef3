// Pictures and the page of what a model's answers depend on.
#pragma once

#include <string>
#include <vector>

#include "lamina/model/explain.h"
#include "lamina/report/run_report.h"

namespace lamina {

struct ExplainReportInput {
  std::string model_path;
  std::string data_path;
  std::string command;               // repeats it
  std::vector<std::string> outputs;  // OutputNames()
  Importance importance;
  std::vector<Dependence> dependences;
  std::vector<Explanation> explanations;
};

/// "importance", "dependence-1", ..., "row-1", ...: at most kShownColumns columns a picture.
RunReport ReportExplanation(const ExplainReportInput& input);
/// The ids of its pictures.
std::vector<std::string> ExplainPlotIds(size_t dependences, size_t rows);
inline constexpr size_t kShownColumns = 20;

/// column,importance,deviation for every column, of a kernel machine with its learned_weight.
std::string ImportanceCsv(const Importance& importance);

}  // namespace lamina
