// Rows of a matrix that need not be in memory all at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Gives consecutive rows of a matrix as row-major views, of host memory unless the source says otherwise. One caller
/// at a time.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t rows() const = 0;
  virtual int64_t cols() const = 0;
  virtual DType dtype() const = 0;
  /// Rows [begin, begin + count), valid until the next call of Rows() or Release().
  virtual ConstMatrixView Rows(int64_t begin, int64_t count) = 0;
  /// The rows are not needed for now: what they hold of memory can go.
  virtual void Release(int64_t begin, int64_t count) = 0;
  /// The rows will be asked for soon.
  virtual void Prefetch(int64_t begin, int64_t count) = 0;
};

/// A matrix in memory (that of its view), which must outlive it.
class MatrixRows final : public RowSource {
 public:
  explicit MatrixRows(ConstMatrixView view) : view_(view) {}
  int64_t rows() const override { return view_.rows; }
  int64_t cols() const override { return view_.cols; }
  DType dtype() const override { return view_.dtype; }
  ConstMatrixView Rows(int64_t begin, int64_t count) override { return view_.Rows(begin, count); }
  void Release(int64_t, int64_t) override {}
  void Prefetch(int64_t, int64_t) override {}

 private:
  ConstMatrixView view_;
};

/// Rows [begin, begin + count) of another source, counted from 0.
class RowRange final : public RowSource {
 public:
  RowRange(std::shared_ptr<RowSource> whole, int64_t begin, int64_t count)
      : whole_(std::move(whole)), begin_(begin), count_(count) {}
  /// `whole` outlives this.
  RowRange(RowSource& whole, int64_t begin, int64_t count)
      : RowRange(std::shared_ptr<RowSource>(std::shared_ptr<void>(), &whole), begin, count) {}
  int64_t rows() const override { return count_; }
  int64_t cols() const override { return whole_->cols(); }
  DType dtype() const override { return whole_->dtype(); }
  ConstMatrixView Rows(int64_t begin, int64_t count) override { return whole_->Rows(begin_ + begin, count); }
  void Release(int64_t begin, int64_t count) override { whole_->Release(begin_ + begin, count); }
  void Prefetch(int64_t begin, int64_t count) override {
    whole_->Prefetch(begin_ + begin, std::min(count, count_ - begin));
  }

 private:
  std::shared_ptr<RowSource> whole_;
  int64_t begin_;
  int64_t count_;
};

/// The largest |element| of all rows, as LargestMagnitude() of a view says it.
double LargestMagnitude(RowSource& rows);

}  // namespace lamina
