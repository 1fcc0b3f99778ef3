// Predictions as text.
#include "lamina/model/predictions.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/base/text.h"
#include "lamina/model/outputs.h"

namespace lamina {
std::string CellName(const Column& column, int64_t row) {
  if (column.IsMissing(row)) {
    return "";
  }
  if (column.kind == ColumnKind::kText) {
    return column.categories[static_cast<size_t>(column.codes[static_cast<size_t>(row)])];
  }
  return column.is_date ? DateText(column.Number(row)) : NumberName(column.Number(row));
}

std::vector<std::string> PredictionNames(const Model& model, const PredictionColumns& columns) {
  const Preprocessor& preprocessor = model.preprocessor;
  if (preprocessor.targets().task() == Task::kRegression) {
    const std::vector<std::string> answers = preprocessor.targets().answer_names();
    std::vector<std::string> names = answers;
    for (const std::string& target : columns.intervals ? answers : std::vector<std::string>()) {
      names.push_back(target + "_lower");
      names.push_back(target + "_upper");
    }
    return names;
  }
  std::vector<std::string> names = preprocessor.targets().names();
  if (columns.probabilities) {
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

std::string PredictionsCsv(const Model& model, const Matrix& outputs, const PredictionColumns& columns,
                           const KeptColumns& kept) {
  std::string text;
  const std::vector<std::string> names = PredictionNames(model, columns);
  const size_t fields = names.size();
  for (const Column* column : kept.columns) {
    text += CsvField(column->name) + ",";
  }
  for (const std::string& name : names) {
    text += (&name == names.data() ? "" : ",") + CsvField(name);
  }
  text += '\n';
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  const std::vector<int32_t> predicted = classes ? ClassesOf(model, outputs) : std::vector<int32_t>{};
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    for (const Column* column : kept.columns) {
      text += CsvField(CellName(*column, kept.rows[static_cast<size_t>(i)])) + ",";
    }
    if (std::isnan(row[0])) {
      text += fields == 1 && kept.columns.empty() ? "\"\"\n" : std::string(fields - 1, ',') + '\n';
      continue;
    }
    std::vector<double> numbers;
    if (classes) {
      text +=
          CsvField(model.preprocessor.targets().class_names()[static_cast<size_t>(predicted[static_cast<size_t>(i)])]);
      numbers = columns.probabilities ? ClassOutputs(model, row) : numbers;
    } else {
      numbers.assign(row, row + outputs.cols());
      for (int64_t j = 0; columns.intervals && j < outputs.cols(); ++j) {
        const double half_width = model.intervals->half_widths[static_cast<size_t>(j)];
        numbers.push_back(row[j] - half_width);
        numbers.push_back(row[j] + half_width);
      }
    }
    for (size_t j = 0; j < numbers.size(); ++j) {
      text += fmt::format("{}{:.9g}", j == 0 && !classes ? "" : ",", numbers[j]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace lamina
