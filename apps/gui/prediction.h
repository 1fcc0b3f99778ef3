// Predictions of a model for a file or for typed values: the work behind the model page, without widgets.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lamina/nn/model.h"
#include "lamina/train/predictions.h"

namespace lamina::gui {

struct FilePrediction {
  QString path;
  std::shared_ptr<const Model> model;
  Matrix outputs;  // of PredictRows()
  std::vector<int32_t> classes;
  std::optional<Evaluation> evaluation;            // where the file holds the answers ...
  std::vector<QString> truth;                      // ... these, a row each, empty where it is missing; else no rows
  std::vector<std::pair<double, double>> scatter;  // regression
  int64_t unseen_values = 0;

  /// The prediction of a row in words: a class, or the numbers.
  QString Text(int64_t row) const;
  /// The output of that class; NaN for regression.
  double Confidence(int64_t row) const;
};

/// Reads the file (of a folder of IDX files: its test rows), predicts all rows and, where it can, evaluates. Throws
/// Error.
std::shared_ptr<const FilePrediction> PredictFile(const std::shared_ptr<const Model>& model, const QString& path);

/// `values`: the text of each of the model's columns, in their order. Throws Error naming the column.
std::shared_ptr<const FilePrediction> PredictValues(const std::shared_ptr<const Model>& model,
                                                    const std::vector<std::string>& values);

/// Some rows of regression data, evenly spread: true and predicted values of the first target.
std::vector<std::pair<double, double>> ScatterOf(const Model& model, const Matrix& predicted, const Dataset& rows);

}  // namespace lamina::gui
