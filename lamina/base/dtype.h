// Element types of matrices.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "lamina/base/half.h"

namespace lamina {

enum class DType : uint8_t { kF64, kF32, kF16, kBF16, kI64, kI32, kI16, kI8, kU8 };

/// "f32", "u8", ...: the names used in Problems, files and flags.
std::string_view DTypeName(DType dtype);
/// The DType called `name`; throws Error(kInvalidArgument) listing the known names.
DType ParseDType(std::string_view name);
/// Bytes of one element.
int64_t DTypeSize_bytes(DType dtype);

/// The DType of a C++ type.
template <class T>
constexpr DType DTypeOf() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, double>) {
    return DType::kF64;
  } else if constexpr (std::is_same_v<U, float>) {
    return DType::kF32;
  } else if constexpr (std::is_same_v<U, Float16>) {
    return DType::kF16;
  } else if constexpr (std::is_same_v<U, BFloat16>) {
    return DType::kBF16;
  } else if constexpr (std::is_same_v<U, int64_t>) {
    return DType::kI64;
  } else if constexpr (std::is_same_v<U, int32_t>) {
    return DType::kI32;
  } else if constexpr (std::is_same_v<U, int16_t>) {
    return DType::kI16;
  } else if constexpr (std::is_same_v<U, int8_t>) {
    return DType::kI8;
  } else {
    static_assert(std::is_same_v<U, uint8_t>, "no DType for this type");
    return DType::kU8;
  }
}

/// i64, i32, i16, i8, u8.
constexpr bool IsInteger(DType dtype) { return dtype >= DType::kI64; }

}  // namespace lamina
