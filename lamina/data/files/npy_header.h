// The header of a .npy file (format: numpy.lib.format, versions 1 to 3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/base/names.h"

namespace lamina {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// What NumPy calls the element types of this machine's byte order; it has no bf16.
inline constexpr Named<DType> kNpyTypes[] = {{"<f8", DType::kF64}, {"<f4", DType::kF32}, {"<f2", DType::kF16},
                                             {"<i8", DType::kI64}, {"<i4", DType::kI32}, {"<i2", DType::kI16},
                                             {"|i1", DType::kI8},  {"|u1", DType::kU8}};

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;

  /// "(3, 4)", "(3,)".
  std::string ShapeText() const;
};

/// Throws Error(kBadData) naming the file `source`.
[[noreturn]] void ThrowBadNpy(const std::string& source, const std::string& message, std::string_view value = {},
                              const char* remedy = "Write it again with numpy.save().");

/// The header at the start of `content`. Throws Error(kBadData).
NpyHeader ParseNpyHeader(std::string_view content, const std::string& source);

/// Bytes of the elements. Throws Error(kBadData) unless there is at least one and they fill `held_bytes`.
int64_t NpyData_bytes(const NpyHeader& header, int64_t element_bytes, size_t held_bytes, const std::string& source);

}  // namespace lamina
