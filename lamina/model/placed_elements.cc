// A look at every element.
#include "lamina/model/placed_elements.h"

#include <limits>

#include "lamina/base/convert.h"

namespace lamina {

std::optional<PlacedElements> ElementsThatAreNot0(ConstMatrixView matrix, double most) {
  const int64_t all = matrix.rows * matrix.cols;
  if (all > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  const auto size = static_cast<size_t>(DTypeSize_bytes(matrix.dtype));
  const Matrix numbers = InDoubles(matrix);
  PlacedElements placed;
  for (int64_t i = 0; i < matrix.rows; ++i) {
    const auto* const row = static_cast<const char*>(matrix.Rows(i, 1).data);
    for (int64_t j = 0; j < matrix.cols; ++j) {
      if (numbers.Row<double>(i)[j] != 0) {
        placed.places.push_back(static_cast<int32_t>(i * matrix.cols + j));
        placed.elements.append(row + static_cast<size_t>(j) * size, size);
      }
    }
  }
  const double placed_bytes = static_cast<double>(placed.places.size() * (size + sizeof(int32_t)));
  const bool few = !placed.places.empty() && placed_bytes < most * static_cast<double>(all) * static_cast<double>(size);
  return few ? std::optional(std::move(placed)) : std::nullopt;
}

}  // namespace lamina
