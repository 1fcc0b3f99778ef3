// Elements of a matrix that are not 0, for files that have room for few.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

struct PlacedElements {
  std::vector<int32_t> places;  // among all, row by row; ascending
  std::string elements;         // that stand there
};

/// None where they and their places would not be less than `most` times the bytes of the matrix, or all of it is 0.
std::optional<PlacedElements> ElementsThatAreNot0(ConstMatrixView matrix, double most);

}  // namespace lamina
