// Raw rows with the answers that the program gives: the self-test of a model's C source, and what 8 bits are measured
// on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_writer.h"
#include "lamina/model/model.h"

namespace lamina {

struct CRow {
  std::vector<double> numbers;                    // NaN: missing
  std::vector<std::optional<std::string>> texts;  // none: missing
};

/// At most `most` rows of a table, evenly spread. Throws Error for a column that it lacks.
std::vector<CRow> RowsOfTable(const CColumns& columns, const Table& table, int64_t most);

/// Rows made up between the bounds of the training rows, where the model knows them. They go through all categories in
/// turn, with gaps where the model fills them in. The same rows each time.
std::vector<CRow> TypicalRows(const Model& model, const CColumns& columns, int64_t count);

/// The rows as a table that AnswerTable() takes.
Table TableOf(const CColumns& columns, const std::vector<CRow>& rows);

/// The network's inputs for the rows that can be encoded, which stay in `rows`.
Matrix EncodedRows(const Model& model, const CColumns& columns, std::vector<CRow>& rows);

/// @_predict's outputs for rows of EncodedRows(); NaN for one without a finite answer.
Matrix OutputsOfRows(const Model& model, const Matrix& features);

/// Adds "#ifdef NAME_SELF_TEST" with a main function. It has the rows, their outputs (each row one of `outputs`, of
/// type `type`), and how much they may differ.
void AddSelfTest(CWriter& out, const CColumns& columns, const std::vector<CRow>& rows,
                 const std::vector<std::vector<std::string>>& outputs, const std::vector<std::string>& tolerances,
                 const std::string& type);

}  // namespace lamina
