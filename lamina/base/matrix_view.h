// Element types and untyped views of row-major matrices, the currency of every layer call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "lamina/base/check.h"
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

/// Where a view's memory lives.
enum class Space : uint8_t { kHost, kDevice };

/// A row-major matrix that somebody else owns: element (i, j) is at data + (i * stride + j) elements.
/// Samples are rows; weights are outputs × inputs, as NumPy and PyTorch lay them out.
template <bool kConst>
struct BasicMatrixView {
  using Pointer = std::conditional_t<kConst, const void*, void*>;
  template <class T>
  using Element = std::conditional_t<kConst, const T, T>;

  Pointer data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;  // elements from one row to the next, >= cols
  DType dtype = DType::kF32;
  Space space = Space::kHost;

  bool empty() const { return data == nullptr || rows == 0 || cols == 0; }

  /// Row i as T; T must match dtype.
  template <class T>
  Element<T>* Row(int64_t i) const {
    Check(DTypeOf<T>() == dtype, "MatrixView::Row: wrong element type");
    return static_cast<Element<T>*>(data) + i * stride;
  }

  /// Rows [begin, begin + count).
  BasicMatrixView Rows(int64_t begin, int64_t count) const {
    BasicMatrixView view = *this;
    using Byte = std::conditional_t<kConst, const std::byte, std::byte>;
    view.data = static_cast<Byte*>(data) + begin * stride * DTypeSize_bytes(dtype);
    view.rows = count;
    return view;
  }

  operator BasicMatrixView<true>() const  // NOLINT(google-explicit-constructor): mutable to const is safe
      requires(!kConst) {
    return {data, rows, cols, stride, dtype, space};
  }
};

using MatrixView = BasicMatrixView<false>;
using ConstMatrixView = BasicMatrixView<true>;

/// A view of densely stored elements.
template <class T>
auto ViewOf(T* data, int64_t rows, int64_t cols) {
  return BasicMatrixView<std::is_const_v<T>>{data, rows, cols, cols, DTypeOf<T>(), Space::kHost};
}

/// Calls fn(T{}) with T the floating-point type of `dtype` (f32 or f64); other types are a programmer's mistake.
template <class Fn>
decltype(auto) DispatchFloat(DType dtype, Fn&& fn) {
  if (dtype == DType::kF64) {
    return fn(double{});
  }
  Check(dtype == DType::kF32, "DispatchFloat: f32 or f64 expected");
  return fn(float{});
}

}  // namespace lamina
