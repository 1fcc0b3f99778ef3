// Rows that nobody has seen, near those that there are: what a model is asked about to learn what it answers.
#pragma once

#include <cstdint>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/input_encoder.h"

namespace lamina {

struct MadeUpOptions {
  int64_t rows = 0;
  int64_t among = 32;      // the other row is the nearest of so many
  double exchanged = 0.5;  // share of the columns that come from it
  uint64_t seed = 1;
};

/// Each is a row of `features` (encoded by `inputs`) with some columns, whole categories together, of another row near
/// it. Every value of a column is thus one that the data have. The same seed gives the same rows.
Matrix MakeUpRows(const Matrix& features, const InputEncoder& inputs, const MadeUpOptions& options);

}  // namespace lamina
