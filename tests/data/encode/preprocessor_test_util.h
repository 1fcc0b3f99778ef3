// What the tests of preprocessors share.
#pragma once

#include <vector>

#include "lamina/data/encode/preprocessor.h"
#include "tests/data/data_test_util.h"

namespace lamina {

inline Preprocessor FitAll(const Table& table, const PreprocessOptions& options = {}) {
  return Preprocessor::Fit(table, AllRows(table), options);
}

inline Dataset EncodeAll(const Preprocessor& fitted, const Table& table, EncodeReport* report = nullptr) {
  return fitted.Encode(table, AllRows(table), DType::kF64, report);
}

inline std::vector<std::vector<double>> Rows(const Matrix& matrix) {
  std::vector<std::vector<double>> rows;
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    rows.emplace_back(matrix.Row<double>(i), matrix.Row<double>(i) + matrix.cols());
  }
  return rows;
}

}  // namespace lamina
