// Matrices in .npy files without reading them whole: mapped inputs, and an output of known shape.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/base/buffer.h"
#include "lamina/base/mapped_file.h"
#include "lamina/base/row_source.h"

namespace lamina {

/// A two-dimensional .npy file, mapped. Little-endian f8, f4, f2, i8, i4, i2, i1 and u1; rows of a file in Fortran
/// order are turned into a buffer that Rows() allocates.
class NpyMatrix final : public RowSource {
 public:
  /// `vectors`: takes a one-dimensional array, too, as one row. Throws Error(kNotFound | kIo) and, naming the remedy,
  /// Error(kBadData) for damaged files, other types and other dimensions.
  explicit NpyMatrix(const std::string& path, bool vectors = false);

  int64_t rows() const override { return rows_; }
  int64_t cols() const override { return cols_; }
  DType dtype() const override { return dtype_; }
  ConstMatrixView Rows(int64_t begin, int64_t count) override;
  void Release(int64_t begin, int64_t count) override;
  void Prefetch(int64_t begin, int64_t count) override;

  const std::string& path() const { return path_; }

 private:
  const std::byte* data() const { return file_.content().data() + offset_; }
  void TurnRows(int64_t begin, int64_t count);

  std::string path_;
  MappedFile file_;
  int64_t offset_ = 0;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  DType dtype_ = DType::kF32;
  bool by_column_ = false;
  bool misaligned_ = false;
  Matrix turned_;  // rows [turned_begin_, turned_begin_ + turned_count_) of a file that cannot be viewed
  int64_t turned_begin_ = 0;
  int64_t turned_count_ = 0;
};

/// A .npy file of rows × cols in C order, mapped for writing (MappedOutput); what was written can be read.
class NpyOutput final : public RowSource {
 public:
  /// Throws Error(kIo), also where the disk has no room for it.
  NpyOutput(const std::string& path, int64_t rows, int64_t cols, DType dtype);

  MatrixView view() const { return view_; }
  int64_t rows() const override { return view_.rows; }
  int64_t cols() const override { return view_.cols; }
  DType dtype() const override { return view_.dtype; }
  ConstMatrixView Rows(int64_t begin, int64_t count) override { return view_.Rows(begin, count); }
  void Release(int64_t begin, int64_t count) override { Finish(begin, count); }
  void Prefetch(int64_t, int64_t) override {}
  /// Rows that nobody writes for now leave the resident memory and start on their way to the disk.
  void Finish(int64_t begin, int64_t count) const noexcept;
  void Commit() { file_.Commit(); }

 private:
  std::string header_;
  MappedOutput file_;
  MatrixView view_;
};

}  // namespace lamina
