// Bits of elements, whatever their type.
#include "lamina/model/placed_elements.h"

#include <algorithm>
#include <limits>

namespace lamina {
namespace {

// Calls `of` with the elements as whole numbers of their size, and how many they are.
template <class Of>
int64_t WithBits(ConstMatrixView matrix, const Of& of) {
  const int64_t count = matrix.rows * matrix.cols;
  switch (DTypeSize_bytes(matrix.dtype)) {
    case 1: return of(static_cast<const uint8_t*>(matrix.data), count);
    case 2: return of(static_cast<const uint16_t*>(matrix.data), count);
    case 4: return of(static_cast<const uint32_t*>(matrix.data), count);
    default: return of(static_cast<const uint64_t*>(matrix.data), count);
  }
}

}  // namespace

int64_t CountOfNot0(ConstMatrixView matrix) {
  return WithBits(matrix,
                  []<class T>(const T* bits, int64_t count) { return count - std::count(bits, bits + count, T(0)); });
}

std::optional<PlacedElements> ElementsThatAreNot0(ConstMatrixView matrix, double most) {
  const int64_t all = matrix.rows * matrix.cols;
  const int64_t size_bytes = DTypeSize_bytes(matrix.dtype);
  const int64_t placed = matrix.stride == matrix.cols ? CountOfNot0(matrix) : 0;
  const auto placed_bytes = static_cast<double>(placed * (size_bytes + static_cast<int64_t>(sizeof(int32_t))));
  if (all > std::numeric_limits<int32_t>::max() || placed == 0 ||
      placed_bytes >= most * static_cast<double>(all * size_bytes)) {
    return std::nullopt;
  }
  PlacedElements made;
  made.places.reserve(static_cast<size_t>(placed));
  made.elements.reserve(static_cast<size_t>(placed * size_bytes));
  WithBits(matrix, [&]<class T>(const T* bits, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (bits[i] != 0) {
        made.places.push_back(static_cast<int32_t>(i));
        made.elements.append(reinterpret_cast<const char*>(bits + i), sizeof(T));
      }
    }
    return count;
  });
  return made;
}

}  // namespace lamina
