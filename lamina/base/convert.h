// Conversions between element types.
#pragma once

#include "lamina/base/buffer.h"
#include "lamina/base/matrix_view.h"

namespace lamina {

/// Calls fn(T{}) with the C++ type of `dtype`: double, float, Float16, BFloat16, int64_t ... uint8_t.
template <class Fn>
decltype(auto) DispatchDType(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kF64: return fn(double{});
    case DType::kF32: return fn(float{});
    case DType::kF16: return fn(Float16{});
    case DType::kBF16: return fn(BFloat16{});
    case DType::kI64: return fn(int64_t{});
    case DType::kI32: return fn(int32_t{});
    case DType::kI16: return fn(int16_t{});
    case DType::kI8: return fn(int8_t{});
    case DType::kU8: break;
  }
  return fn(uint8_t{});
}

/// An element as a C++ number: halves as float.
template <class T>
auto AsNumber(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

/// to = from, element by element; equal shapes, host memory. Floating-point numbers become integers by truncation and
/// must be in range.
void ConvertMatrix(ConstMatrixView from, MatrixView to);

/// The same numbers in f64.
inline Matrix InDoubles(ConstMatrixView from) {
  Matrix numbers(from.rows, from.cols, DType::kF64);
  ConvertMatrix(from, numbers.view());
  return numbers;
}

/// The largest |element|: an upper bound of it for i64 beyond 2^53. 0 of an empty matrix, NaN if there
/// is a NaN, -1 of a matrix in a device's memory: not looked at.
double LargestMagnitude(ConstMatrixView matrix);

}  // namespace lamina
