// Predictions as text.
#include "lamina/train/predictions.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
std::vector<std::string> PredictionNames(const Model& model, bool probabilities) {
  const Preprocessor& preprocessor = model.preprocessor;
  if (preprocessor.task() == Task::kRegression) {
    return preprocessor.target_names();
  }
  std::vector<std::string> names = preprocessor.target_names();
  if (probabilities) {
    for (const std::string& name : preprocessor.class_names()) {
      names.push_back("p_" + name);
    }
  }
  return names;
}

std::vector<double> ClassOutputs(const Model& model, const double* outputs) {
  const size_t classes = model.preprocessor.class_names().size();
  if (model.network.outputs() == 1) {
    return {2 * model.preprocessor.class_threshold() - outputs[0], outputs[0]};
  }
  return {outputs, outputs + classes};
}

std::string PredictionsCsv(const Model& model, const Matrix& outputs, bool probabilities) {
  std::string text;
  for (const std::string& name : PredictionNames(model, probabilities)) {
    text += (text.empty() ? "" : ",") + CsvField(name);
  }
  text += '\n';
  const bool classes = model.preprocessor.task() == Task::kClassification;
  const std::vector<int32_t> predicted = classes ? ClassesOf(model, outputs) : std::vector<int32_t>{};
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    std::vector<double> numbers;
    if (classes) {
      text += CsvField(model.preprocessor.class_names()[static_cast<size_t>(predicted[static_cast<size_t>(i)])]);
      numbers = probabilities ? ClassOutputs(model, row) : numbers;
    } else {
      numbers.assign(row, row + outputs.cols());
    }
    for (size_t j = 0; j < numbers.size(); ++j) {
      text += fmt::format("{}{:.9g}", j == 0 && !classes ? "" : ",", numbers[j]);
    }
    text += '\n';
  }
  return text;
}

void RequireAllRows(const Table& table, std::span<const int64_t> rows, const Dataset& dataset) {
  if (dataset.rows.size() == rows.size()) {
    return;
  }
  const auto gap = std::mismatch(dataset.rows.begin(), dataset.rows.end(), rows.begin()).second;
  throw Error(
      ErrorCode::kBadData,
      fmt::format("{} of {} rows miss a value, the first of them here", rows.size() - dataset.rows.size(), rows.size()),
      {.file = table.source,
       .line = table.LineOf(*gap),
       .remedy = "Take them out; the model fills gaps only when it is trained with --missing mean."});
}

}  // namespace lamina
