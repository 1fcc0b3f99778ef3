// Untyped views of row-major matrices, the currency of every layer call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lamina/base/check.h"
#include "lamina/base/dtype.h"

namespace lamina {

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
