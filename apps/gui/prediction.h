// Predictions of a model for a file or for typed values: the work behind the model page, without widgets.
#pragma once

#include <QString>
#include <memory>
#include <string>
#include <vector>

#include "lamina/model/answer.h"
#include "lamina/model/model.h"
#include "lamina/model/predictions.h"

namespace lamina::gui {

struct FilePrediction {
  QString path;
  std::shared_ptr<const Model> model;
  Answers answers;

  /// The prediction of a row in words: a class, or the numbers; empty without an answer.
  QString Text(int64_t row) const;
  /// The right answer of a row as far as the file holds it.
  QString Truth(int64_t row) const;
  /// The output of the class; NaN for regression and without an answer.
  double Confidence(int64_t row) const;
};

/// Reads the file (of a folder of IDX files: its test rows), predicts all rows and, where it can, evaluates. Throws
/// Error.
std::shared_ptr<const FilePrediction> PredictFile(const std::shared_ptr<const Model>& model, const QString& path);

/// `values`: the text of each of the model's columns, in their order. Throws Error naming the column.
std::shared_ptr<const FilePrediction> PredictValues(const std::shared_ptr<const Model>& model,
                                                    const std::vector<std::string>& values);

}  // namespace lamina::gui
