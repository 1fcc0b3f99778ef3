// How rows of host matrices lie in their copies on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Elements between the rows of the copy. The slices of a large matrix are a small part of its rows: their copies hold
/// nothing else, in rows of whole 16 bytes.
inline int64_t StrideOfCopy(const ConstMatrixView& host) {
  constexpr int64_t kSmallGap = 16;  // elements between rows that are copied along
  constexpr int64_t kAlignment_bytes = 16;
  const int64_t element = DTypeSize_bytes(host.dtype);
  return host.stride - host.cols <= kSmallGap
             ? host.stride
             : (host.cols * element + kAlignment_bytes - 1) / kAlignment_bytes * kAlignment_bytes / element;
}

/// From the first element to behind the last one of `view`'s shape, rows `stride` elements apart.
inline int64_t SpanBytes(const ConstMatrixView& view, int64_t stride) {
  return view.empty() ? 0 : ((view.rows - 1) * stride + view.cols) * DTypeSize_bytes(view.dtype);
}

/// Copies `shape`'s rows and columns between two memories with their own strides.
inline void CopyRows(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride,
                     const ConstMatrixView& shape) {
  const int64_t element = DTypeSize_bytes(shape.dtype);
  if (to_stride == from_stride && to_stride == shape.cols) {
    std::memcpy(to, from, static_cast<size_t>(shape.rows * shape.cols * element));
    return;
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    std::memcpy(to + row * to_stride * element, from + row * from_stride * element,
                static_cast<size_t>(shape.cols * element));
  }
}

}  // namespace lamina
