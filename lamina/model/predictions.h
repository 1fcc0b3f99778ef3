// Predictions as a table of text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/model/model.h"

namespace lamina {

/// A cell as files have it; "" for a missing one.
std::string CellName(const Column& column, int64_t row);

/// Which columns stand beside the predictions.
struct PredictionColumns {
  bool probabilities = false;  // classes: one output a class, "p_NAME"
  bool intervals = false;      // values: the bounds of Model::intervals, "NAME_lower" and "NAME_upper"
};

/// Names of the columns: the prediction(s), then those of `columns`.
std::vector<std::string> PredictionNames(const Model& model, const PredictionColumns& columns);

/// The outputs of one row of PredictRows() per class. A single output y is y for the second class; mirrored at the
/// threshold, 1 - y (or -y), it is the first's.
std::vector<double> ClassOutputs(const Model& model, const double* outputs);

/// Columns of the table that was asked, to stand before the answers as its file has them.
struct KeptColumns {
  std::vector<const Column*> columns;
  std::span<const int64_t> rows;  // of the table, one for each answer
};

/// CSV with a header and a line for every row of PredictRows() or Answers::outputs: class names, or numbers with 9
/// digits. The fields of a row of NaN are empty; a single one is written as "", since readers skip empty lines.
std::string PredictionsCsv(const Model& model, const Matrix& outputs, const PredictionColumns& columns,
                           const KeptColumns& kept = {});

}  // namespace lamina
