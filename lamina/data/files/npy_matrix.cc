// .npy files as mapped matrices.
#include "lamina/data/files/npy_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/data/files/npy_header.h"
#include "lamina/data/files/npy_writer.h"

namespace lamina {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are viewed as they lie in the file");

DType TypeOf(const std::string& descr, const std::string& source) {
  for (const Named<DType>& row : kNpyTypes) {
    // Byte order says nothing of single bytes; "=" is that of this machine.
    const bool order = row.name[0] == '|' ? std::string_view("|<>=").find(descr[0]) != std::string_view::npos
                                          : descr[0] == '<' || descr[0] == '=';
    if (order && std::string_view(descr).substr(1) == row.name.substr(1)) {
      return row.value;
    }
  }
  ThrowBadNpy(source, "elements of this type cannot be computed with", descr,
              "Known: little-endian f8, f4, f2, i8, i4, i2, i1 and u1. Convert the array, for instance with "
              "a.astype('<f4').");
}

// to (rows × cols, row-major) from columns `column_bytes` apart. In blocks of rows, so that a cache line of either side
// is used whole while it is there.
template <class T>
void TurnColumns(const std::byte* from, int64_t column_bytes, MatrixView to) {
  constexpr int64_t kBlock = 64;
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  for (int64_t i0 = 0; i0 < to.rows; i0 += kBlock) {
    const int64_t end = std::min(to.rows, i0 + kBlock);
    for (int64_t j = 0; j < to.cols; ++j) {
      for (int64_t i = i0; i < end; ++i) {
        std::memcpy(static_cast<T*>(to.data) + i * to.stride + j, from + j * column_bytes + i * kSize, sizeof(T));
      }
    }
  }
}

}  // namespace

NpyMatrix::NpyMatrix(const std::string& path, bool vectors) : path_(path), file_(path) {
  const auto content = file_.content();
  const NpyHeader header = ParseNpyHeader({reinterpret_cast<const char*>(content.data()), content.size()}, path);
  dtype_ = TypeOf(header.descr, path);
  const bool vector = vectors && header.shape.size() == 1;
  if (header.shape.size() != 2 && !vector) {
    ThrowBadNpy(path, "an array of two dimensions, rows x columns, was expected, this one has the shape",
                header.ShapeText(),
                header.shape.size() == 1 ? "Write one row as a.reshape(1, -1), one column as a.reshape(-1, 1)."
                                         : "Reshape it, for instance with a.reshape(len(a), -1).");
  }
  const int64_t element_bytes = DTypeSize_bytes(dtype_);
  NpyData_bytes(header, element_bytes, content.size() - header.data_offset, path);
  offset_ = static_cast<int64_t>(header.data_offset);
  rows_ = vector ? 1 : header.shape[0];
  cols_ = header.shape.back();
  by_column_ = header.fortran_order && rows_ > 1 && cols_ > 1;
  misaligned_ = offset_ % element_bytes != 0;
}

// A file in Fortran order gives `count` elements of every column.
void NpyMatrix::TurnRows(int64_t begin, int64_t count) {
  const int64_t element_bytes = DTypeSize_bytes(dtype_);
  if (turned_.rows() < count) {
    turned_ = Matrix();  // first free, then allocate
    turned_ = Matrix(count, cols_, dtype_);
  }
  turned_begin_ = begin;
  turned_count_ = count;
  if (!by_column_) {
    std::memcpy(turned_.data(), data() + begin * cols_ * element_bytes,
                static_cast<size_t>(count * cols_ * element_bytes));
    file_.mapping().Release(offset_ + begin * cols_ * element_bytes, count * cols_ * element_bytes);
    return;
  }
  constexpr int64_t kColumns = 64;  // at a time, whose pages are let go before the next ones come
  const int64_t column_bytes = rows_ * element_bytes;
  DispatchDType(dtype_, [&]<class T>(T) {
    for (int64_t j0 = 0; j0 < cols_; j0 += kColumns) {
      const int64_t columns = std::min(kColumns, cols_ - j0);
      TurnColumns<T>(data() + j0 * column_bytes + begin * element_bytes, column_bytes,
                     {turned_.Row<T>(0) + j0, count, columns, cols_, dtype_, Space::kHost});
      for (int64_t j = j0; j < j0 + columns; ++j) {
        file_.mapping().Release(offset_ + j * column_bytes + begin * element_bytes, count * element_bytes);
      }
    }
  });
}

ConstMatrixView NpyMatrix::Rows(int64_t begin, int64_t count) {
  if (!by_column_ && !misaligned_) {
    return {data() + begin * cols_ * DTypeSize_bytes(dtype_), count, cols_, cols_, dtype_, Space::kHost};
  }
  if (begin < turned_begin_ || begin + count > turned_begin_ + turned_count_) {
    TurnRows(begin, count);
  }
  return ConstMatrixView(turned_.view()).Rows(begin - turned_begin_, count);
}

void NpyMatrix::Release(int64_t begin, int64_t count) {
  if (!by_column_ && !misaligned_) {
    const int64_t row_bytes = cols_ * DTypeSize_bytes(dtype_);
    file_.mapping().Release(offset_ + begin * row_bytes, count * row_bytes);
  }
}

void NpyMatrix::Prefetch(int64_t begin, int64_t count) {
  if (!by_column_) {
    const int64_t row_bytes = cols_ * DTypeSize_bytes(dtype_);
    const int64_t most = std::max<int64_t>(0, std::min(count, rows_ - begin));
    file_.mapping().Prefetch(offset_ + begin * row_bytes, most * row_bytes);
  }
}

NpyOutput::NpyOutput(const std::string& path, int64_t rows, int64_t cols, DType dtype)
    : header_(NpyHeaderText(rows, cols, dtype)),
      file_(path, static_cast<int64_t>(header_.size()) + rows * cols * DTypeSize_bytes(dtype)),
      view_{file_.data() + header_.size(), rows, cols, cols, dtype, Space::kHost} {
  Check(dtype != DType::kBF16, "NpyOutput: NumPy has no bf16");
  std::memcpy(file_.data(), header_.data(), header_.size());
}

void NpyOutput::Finish(int64_t begin, int64_t count) const noexcept {
  const int64_t row_bytes = view_.cols * DTypeSize_bytes(view_.dtype);
  file_.Finish(static_cast<int64_t>(header_.size()) + begin * row_bytes, count * row_bytes);
}

}  // namespace lamina
