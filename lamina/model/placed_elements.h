// Elements of a matrix that are not 0, for files that leave zeros out. A zero is an element whose bits are all 0, so
// -0.0 is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// `matrix` has no gaps between its rows.
int64_t CountOfNot0(ConstMatrixView matrix);

struct PlacedElements {
  std::vector<int32_t> places;  // among all, row by row; ascending
  std::string elements;         // that stand there
};

/// None where they and their places have not less than `most` times the bytes of the matrix. Nor are there any where
/// all of it is 0, or where rows have gaps between them.
std::optional<PlacedElements> ElementsThatAreNot0(ConstMatrixView matrix, double most);

}  // namespace lamina
