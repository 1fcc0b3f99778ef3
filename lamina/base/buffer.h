// Owned memory: a 64-byte aligned byte buffer and the owning matrix built on it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Gives back the memory of an AlignedBuffer.
struct FreeBuffer {
  int64_t pooled_bytes = 0;  // 0: from the heap
  void operator()(void* p) const noexcept;
};

/// 64-byte aligned, zero-initialised host memory. A copy has memory of its own. Throws Error(kResource) naming the
/// need.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(int64_t size_bytes);
  AlignedBuffer(const AlignedBuffer& other);
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  AlignedBuffer& operator=(const AlignedBuffer& other) { return *this = AlignedBuffer(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    return *this;
  }

  void* data() const { return data_.get(); }
  int64_t size_bytes() const { return size_bytes_; }
  template <class T>
  std::span<T> As() const {
    return {static_cast<T*>(data_.get()), static_cast<size_t>(size_bytes_) / sizeof(T)};
  }

 private:
  std::unique_ptr<void, FreeBuffer> data_;
  int64_t size_bytes_ = 0;
};

/// A dense row-major host matrix that owns its elements. Movable, not copyable: a copy of a data set is a mistake.
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols, DType dtype);
  Matrix(Matrix&&) noexcept = default;
  Matrix& operator=(Matrix&&) noexcept = default;

  /// Over elements that `elements` owns, dense and read only: those of a mapped file.
  static Matrix Over(std::shared_ptr<void> elements, int64_t rows, int64_t cols, DType dtype);

  /// A second owner of the same elements, for data that several hold and nobody writes to any more.
  Matrix Share() const;

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  DType dtype() const { return dtype_; }
  bool empty() const { return rows_ == 0 || cols_ == 0; }
  void* data() const { return elements_.get(); }

  MatrixView view() { return {data(), rows_, cols_, cols_, dtype_, Space::kHost}; }
  ConstMatrixView view() const { return {data(), rows_, cols_, cols_, dtype_, Space::kHost}; }
  template <class T>
  T* Row(int64_t i) {
    return view().Row<T>(i);
  }
  template <class T>
  const T* Row(int64_t i) const {
    return view().Row<T>(i);
  }

 private:
  std::shared_ptr<void> elements_;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  DType dtype_ = DType::kF32;
};

}  // namespace lamina
