// Arrays and their text.
#include "lamina/model/html_page/page_blob.h"

#include <limits>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/base/dtype.h"

namespace lamina {

nlohmann::json PageBlob::Add(const void* elements, int64_t count, DType type) {
  constexpr size_t kAlign = 8;
  bytes_.resize((bytes_.size() + kAlign - 1) / kAlign * kAlign);
  const size_t at = bytes_.size();
  bytes_.append(static_cast<const char*>(elements), static_cast<size_t>(count * DTypeSize_bytes(type)));
  return {{"at", at}, {"count", count}, {"type", DTypeName(type)}};
}

nlohmann::json PageBlob::Add(ConstMatrixView matrix) {
  constexpr int64_t kBytesOfPlace = sizeof(int32_t);
  const int64_t size_bytes = DTypeSize_bytes(matrix.dtype);
  const int64_t all = matrix.rows * matrix.cols;
  const Matrix numbers = InDoubles(matrix);
  std::vector<int32_t> places;
  if (all <= std::numeric_limits<int32_t>::max()) {
    for (int64_t i = 0; i < all; ++i) {
      if (numbers.Row<double>(i / matrix.cols)[i % matrix.cols] != 0) {
        places.push_back(static_cast<int32_t>(i));
      }
    }
  }
  const bool few = !places.empty() && std::ssize(places) * (size_bytes + kBytesOfPlace) < all * size_bytes;
  std::string elements;
  const auto append = [&](int64_t row, int64_t column, int64_t count) {
    elements.append(static_cast<const char*>(matrix.Rows(row, 1).data) + column * size_bytes,
                    static_cast<size_t>(count * size_bytes));
  };
  if (!few) {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      append(i, 0, matrix.cols);
    }
    return Add(elements.data(), all, matrix.dtype);
  }
  for (const int32_t place : places) {
    append(place / matrix.cols, place % matrix.cols, 1);
  }
  nlohmann::json made = Add(elements.data(), std::ssize(places), matrix.dtype);
  made["all"] = all;
  made["places"] = Add(places.data(), std::ssize(places), DType::kI32);
  return made;
}

}  // namespace lamina
