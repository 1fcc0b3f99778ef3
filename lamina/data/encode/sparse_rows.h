// Rows of which most numbers are zero, kept as those that are not, and made dense where they are computed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/base/matrix_view.h"

namespace lamina {

/// A matrix in compressed rows. Row i has values[starts[i]] up to, not including, values[starts[i + 1]]; their
/// `columns` ascend without repetition. Every other number is 0. Views of host memory.
struct CompressedRows {
  std::span<const int64_t> starts;   // rows + 1
  std::span<const int32_t> columns;  // a column for every value
  const void* values = nullptr;
  DType dtype = DType::kF32;
  int64_t cols = 0;
};

/// The values of a row and where they are.
template <class T>
struct SparseRow {
  const int32_t* columns;
  const T* values;
  int64_t count;
};

/// Scaled copies of such rows: x becomes (x - offset) / scale. Immutable, for any number of threads.
class SparseRows {
 public:
  /// `offsets` and `scales` have a number for every column, or both are empty. `dtype`: f32 or f64, the type of the
  /// copies. Throws Error(kInvalidArgument) where starts or columns are out of order or range. Throws Error(kBadData),
  /// naming the first row, where a number is not finite in `dtype`.
  SparseRows(const CompressedRows& from, std::span<const double> offsets, std::span<const double> scales, DType dtype);

  int64_t rows() const { return std::ssize(starts_) - 1; }
  int64_t cols() const { return cols_; }
  DType dtype() const { return dtype_; }

  /// Whether the scaling leaves a 0 a 0 in every column.
  bool keeps_zeros() const { return keeps_zeros_; }
  int64_t value_count() const { return starts_.back(); }
  /// T must match dtype().
  template <class T>
  SparseRow<T> Row(int64_t row) const noexcept {
    const int64_t begin = starts_[static_cast<size_t>(row)];
    return {columns_.data() + begin, static_cast<const T*>(values_.data()) + begin,
            starts_[static_cast<size_t>(row) + 1] - begin};
  }

  /// Writes all numbers of a row to `to` (cols() elements of dtype()).
  void Fill(int64_t row, void* to) const noexcept;
  /// The same where `to` holds row `before` (-1: one without values): what neither has a value for stays untouched.
  void Replace(int64_t before, int64_t row, void* to) const noexcept;

 private:
  template <class T>
  void Scale(const CompressedRows& from, std::span<const double> offsets, std::span<const double> scales);

  std::vector<int64_t> starts_;
  std::vector<int32_t> columns_;
  AlignedBuffer values_;
  AlignedBuffer zeros_;  // what a 0 becomes in every column
  int64_t cols_;
  DType dtype_;
  bool keeps_zeros_ = true;
};

}  // namespace lamina
