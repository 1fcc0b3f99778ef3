// Typed access to number columns, for loops over many cells.
#pragma once

#include <cstdint>

#include "lamina/data/files/table.h"

namespace lamina {

/// Calls fn(const T* numbers) with the element type of a number column.
template <class Fn>
decltype(auto) DispatchNumbers(const Column& column, Fn&& fn) {
  switch (column.dtype) {
    case DType::kF32: return fn(static_cast<const float*>(column.numbers));
    case DType::kI64: return fn(static_cast<const int64_t*>(column.numbers));
    case DType::kI32: return fn(static_cast<const int32_t*>(column.numbers));
    case DType::kI16: return fn(static_cast<const int16_t*>(column.numbers));
    case DType::kI8: return fn(static_cast<const int8_t*>(column.numbers));
    case DType::kU8: return fn(static_cast<const uint8_t*>(column.numbers));
    case DType::kF64:
    case DType::kF16:  // readers convert these
    case DType::kBF16: break;
  }
  Check(column.dtype == DType::kF64, "DispatchNumbers: element type of a table column");
  return fn(static_cast<const double*>(column.numbers));
}

/// Only floating-point numbers and text can be missing.
inline bool CanBeMissing(const Column& column) {
  return column.kind == ColumnKind::kText || column.dtype == DType::kF64 || column.dtype == DType::kF32;
}

}  // namespace lamina
