// Predictions of a model for a file or for typed values: the work behind the model page, without widgets.
#pragma once

#include <QString>
#include <QStringList>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/files/reader.h"
#include "lamina/model/answer.h"
#include "lamina/model/cell_rows.h"
#include "lamina/model/model.h"
#include "lamina/model/predictions.h"
#include "pictures.h"

namespace lamina::gui {

struct FilePrediction {
  QString path;
  std::shared_ptr<const Model> model;
  Answers answers;
  Table table;                          // as read, with derived columns
  std::vector<int64_t> input_columns;   // of the table; empty where they have other names
  std::optional<PictureForm> pictures;  // where the inputs are the pixels of one

  /// The prediction of a row in words: a class, or the numbers; empty without an answer.
  QString Text(int64_t row) const;
  /// The right answer of a row as far as the file holds it.
  QString Truth(int64_t row) const;
  /// Whether the file says something else, of a class.
  bool IsWrong(int64_t row) const;
  /// The inputs of a row that lie far from all that training saw: "height is 51000, 14 times ...".
  QStringList FarInputs(int64_t row) const;
  /// How many rows have such inputs, and the first of them.
  struct Far {
    int64_t rows = 0;
    int64_t first = 0;
  };
  Far FarRows() const;
  /// The output of the class; NaN for regression and without an answer.
  double Confidence(int64_t row) const;
};

/// What the number beside a predicted class is: a probability where the network's last layer makes them such.
QString OutputName(const Model& model);

/// Reads the file (of a folder of IDX files: its test rows), predicts all rows and, where it can, evaluates. Throws
/// Error.
std::shared_ptr<const FilePrediction> PredictFile(const std::shared_ptr<const Model>& model, const QString& path,
                                                  const ReadOptions& options = {});

/// `values`: the text of each of CellColumnsOf(model), in their order. Throws Error naming the column.
std::shared_ptr<const FilePrediction> PredictValues(const std::shared_ptr<const Model>& model,
                                                    const std::vector<std::string>& values);

}  // namespace lamina::gui
