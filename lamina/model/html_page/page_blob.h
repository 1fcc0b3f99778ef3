// The numbers of a page: arrays one behind the other, as base64 in the page.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "lamina/base/matrix_view.h"

namespace lamina {

class PageBlob {
 public:
  /// Where the elements stand: {"at": byte, "count": elements, "type": "f32"}; each array begins on 8 bytes.
  nlohmann::json Add(const void* elements, int64_t count, DType type);
  /// Rows of `matrix`, one behind the other. Where most are 0, the others alone, with "all": elements of the matrix,
  /// and "places": an array of their indices.
  nlohmann::json Add(ConstMatrixView matrix);

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace lamina
