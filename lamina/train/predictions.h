// Predictions as a table of text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/nn/model.h"
#include "lamina/train/evaluate.h"

namespace lamina {

/// Names of the columns: the prediction(s), then with `probabilities` one output a class ("p_NAME").
std::vector<std::string> PredictionNames(const Model& model, bool probabilities);

/// The outputs of one row of PredictRows() per class: a single output y is y for the second class and, mirrored at the
/// threshold, 1 - y (or -y) for the first.
std::vector<double> ClassOutputs(const Model& model, const double* outputs);

/// CSV with a header and a line for every row of PredictRows(): class names, or numbers with 9 digits.
std::string PredictionsCsv(const Model& model, const Matrix& outputs, bool probabilities);

/// Predictions stand in the order of the rows: one left out would shift those after it unseen. Throws Error(kBadData)
/// naming the first of `rows` that is not in `dataset`.
void RequireAllRows(const Table& table, std::span<const int64_t> rows, const Dataset& dataset);

}  // namespace lamina
