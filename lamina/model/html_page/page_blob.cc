// Arrays and their text.
#include "lamina/model/html_page/page_blob.h"

#include <optional>

#include "lamina/base/dtype.h"
#include "lamina/model/placed_elements.h"

namespace lamina {

nlohmann::json PageBlob::Add(const void* elements, int64_t count, DType type) {
  constexpr size_t kAlign = 8;
  bytes_.resize((bytes_.size() + kAlign - 1) / kAlign * kAlign);
  const size_t at = bytes_.size();
  bytes_.append(static_cast<const char*>(elements), static_cast<size_t>(count * DTypeSize_bytes(type)));
  return {{"at", at}, {"count", count}, {"type", DTypeName(type)}};
}

nlohmann::json PageBlob::Add(ConstMatrixView matrix) {
  const int64_t all = matrix.rows * matrix.cols;
  if (const std::optional<PlacedElements> placed = ElementsThatAreNot0(matrix, 1)) {
    const int64_t count = std::ssize(placed->places);
    nlohmann::json made = Add(placed->elements.data(), count, matrix.dtype);
    made["all"] = all;
    made["places"] = Add(placed->places.data(), count, DType::kI32);
    return made;
  }
  std::string elements;
  for (int64_t i = 0; i < matrix.rows; ++i) {
    elements.append(static_cast<const char*>(matrix.Rows(i, 1).data),
                    static_cast<size_t>(matrix.cols * DTypeSize_bytes(matrix.dtype)));
  }
  return Add(elements.data(), all, matrix.dtype);
}

}  // namespace lamina
