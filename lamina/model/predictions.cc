// Predictions as text.
#include "lamina/model/predictions.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/base/text.h"

namespace lamina {
std::vector<std::string> PredictionNames(const Model& model, bool probabilities) {
  const Preprocessor& preprocessor = model.preprocessor;
  if (preprocessor.targets().task() == Task::kRegression) {
    return preprocessor.targets().names();
  }
  std::vector<std::string> names = preprocessor.targets().names();
  if (probabilities) {
    for (const std::string& name : preprocessor.targets().class_names()) {
      names.push_back("p_" + name);
    }
  }
  return names;
}

std::vector<double> ClassOutputs(const Model& model, const double* outputs) {
  const size_t classes = model.preprocessor.targets().class_names().size();
  if (model.network.outputs() == 1) {
    return {2 * model.preprocessor.targets().class_threshold() - outputs[0], outputs[0]};
  }
  return {outputs, outputs + classes};
}

std::string PredictionsCsv(const Model& model, const Matrix& outputs, bool probabilities) {
  std::string text;
  const std::vector<std::string> names = PredictionNames(model, probabilities);
  const size_t fields = names.size();
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + CsvField(name);
  }
  text += '\n';
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  const std::vector<int32_t> predicted = classes ? ClassesOf(model, outputs) : std::vector<int32_t>{};
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    if (std::isnan(row[0])) {
      text += fields == 1 ? "\"\"\n" : std::string(fields - 1, ',') + '\n';
      continue;
    }
    std::vector<double> numbers;
    if (classes) {
      text +=
          CsvField(model.preprocessor.targets().class_names()[static_cast<size_t>(predicted[static_cast<size_t>(i)])]);
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

}  // namespace lamina
