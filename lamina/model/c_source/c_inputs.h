// A raw row to the network's inputs, in C: what model/row_encoder.h and column_encode.h do.
#pragma once

#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_writer.h"

namespace lamina {

/// Adds "static int @_encode(numbers[, texts], x)": 0, or 1 + the column whose value cannot be used. `stores`: the type
/// of x and what ends "@_put(&x[i], value, i)" as a C expression of `y` and `i`; see c_int8.
struct CStore {
  std::string type;       // of an element of x
  bool in_steps = false;  // x is y over a step of its own, a whole number of 8 bits
};
void AddEncoder(CWriter& out, const Model& model, const CColumns& columns, const CStore& store);

/// The parameters that rows come as, with their sizes: "const double numbers[3], const char *const texts[1]".
std::string RowParameters(const CColumns& columns, const std::string& upper);
/// What hands them on: "numbers, texts".
std::string RowArguments(const CColumns& columns);

}  // namespace lamina
