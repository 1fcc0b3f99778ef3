// The optical digits of UCI as the authors of FSVC scale them: x / 8 - 1, rows in the order of the file.
#pragma once

#include <string>

#include "lamina/data/encode/bound_table.h"
#include "lamina/data/files/reader.h"
#include "tests/data/data_test_util.h"

namespace lamina {

/// A file of 64 numbers and a digit a row.
inline Dataset OpticalDigits(const std::string& path) {
  const Table table = ReadTable(path, {});
  const std::vector<int64_t> rows = AllRows(table);
  PreprocessOptions options;
  options.scaling = Scaling::kNone;
  options.task = Task::kClassification;
  const Preprocessor fitted = Preprocessor::Fit(table, rows, options);
  Dataset data = BoundTable(fitted, table).Encode(rows, DType::kF32);
  for (int64_t i = 0; i < data.size(); ++i) {
    float* const row = data.features.Row<float>(i);
    std::transform(row, row + data.features.cols(), row, [](float pixel) { return pixel / 8 - 1; });
  }
  return data;
}

}  // namespace lamina
