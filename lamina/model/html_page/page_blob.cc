// Arrays and their text.
#include "lamina/model/html_page/page_blob.h"

#include <algorithm>

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
  nlohmann::json place = Add(nullptr, 0, matrix.dtype);
  for (int64_t i = 0; i < matrix.rows; ++i) {
    bytes_.append(static_cast<const char*>(matrix.Rows(i, 1).data),
                  static_cast<size_t>(matrix.cols * DTypeSize_bytes(matrix.dtype)));
  }
  place["count"] = matrix.rows * matrix.cols;
  return place;
}

}  // namespace lamina
