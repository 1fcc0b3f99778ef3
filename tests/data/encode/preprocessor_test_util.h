// What the tests of preprocessors share.
#pragma once

#include <vector>

#include "lamina/data/encode/bound_table.h"
#include "tests/data/data_test_util.h"

namespace lamina {

inline Preprocessor FitAll(const Table& table, const PreprocessOptions& options = {}, const TargetForm& form = {}) {
  Preprocessor fitted = Preprocessor::Fit(table, AllRows(table), options);
  fitted.set_form(form);
  return fitted;
}

inline Dataset EncodeAll(const Preprocessor& fitted, const Table& table, EncodeReport* report = nullptr) {
  return BoundTable(fitted, table).Encode(AllRows(table), DType::kF64, report);
}

inline std::vector<std::vector<double>> Rows(const Matrix& matrix) {
  std::vector<std::vector<double>> rows;
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    rows.emplace_back(matrix.Row<double>(i), matrix.Row<double>(i) + matrix.cols());
  }
  return rows;
}

}  // namespace lamina
