// Arrays and rows in a device's memory for as long as their owner lives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lamina/backend/cuda/device.h"
#include "lamina/backend/cuda/product.h"
#include "lamina/base/matrix_view.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// Memory of a device for as long as this lives.
template <class N>
class OnDevice {
 public:
  OnDevice(std::shared_ptr<Device> device, int64_t count)
      : device_(std::move(device)),
        data_(static_cast<N*>(device_->Allocate(count * static_cast<int64_t>(sizeof(N))))) {}
  ~OnDevice() { device_->Free(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  N* get() const { return data_; }
  Device& device() const { return *device_; }
  void Upload(const N* host, int64_t count) { UploadAt(0, host, count); }
  void UploadAt(int64_t begin, const N* host, int64_t count) {
    device_->Upload(data_ + begin, host, count * static_cast<int64_t>(sizeof(N)));
  }
  void Download(N* host, int64_t count) const {
    device_->Download(host, data_, count * static_cast<int64_t>(sizeof(N)));
  }

 private:
  std::shared_ptr<Device> device_;
  N* data_;
};

/// Rows of one width, each at a multiple of 16 bytes so that kernels copy whole vectors.
template <class T>
class PaddedRows {
 public:
  static int64_t StrideOf(int64_t cols) { return (cols + kInVector - 1) / kInVector * kInVector; }

  PaddedRows(const std::shared_ptr<Device>& device, int64_t rows, int64_t cols)
      : cols_(cols), stride_(StrideOf(cols)), data_(device, rows * stride_) {}

  void Upload(int64_t begin, const ConstMatrixView& host) {
    if (host.stride == stride_) {
      data_.UploadAt(begin * stride_, host.Row<T>(0), (host.rows - 1) * stride_ + cols_);
      return;
    }
    dense_.assign(static_cast<size_t>(host.rows * stride_), T(0));
    for (int64_t i = 0; i < host.rows; ++i) {
      std::copy_n(host.Row<T>(i), cols_, dense_.begin() + i * stride_);
    }
    data_.UploadAt(begin * stride_, dense_.data(), host.rows * stride_);
  }
  /// These rows from now on: copied, or in place where they are the device's.
  void Set(const ConstMatrixView& rows) {
    if (rows.space == Space::kHost) {
      Upload(0, rows);
      rows_ = {data_.get(), stride_, /*aligned=*/true};
      return;
    }
    data_.device().AwaitOthers();
    rows_ = OperandOf<T>(rows);
  }
  Operand<T> From(int64_t row) const { return {rows_.data + row * rows_.stride, rows_.stride, rows_.aligned}; }
  int64_t cols() const { return cols_; }
  int64_t stride() const { return stride_; }
  /// The rows that are kept here.
  T* data() const { return data_.get(); }

 private:
  static constexpr int64_t kInVector = kRowAlignment / static_cast<int64_t>(sizeof(T));

  int64_t cols_, stride_;
  OnDevice<T> data_;
  Operand<T> rows_{data_.get(), stride_, /*aligned=*/true};
  std::vector<T> dense_;  // rows on their way
};

/// A product of a sum that is not split.
template <class T>
ProductArgs<T, T> ProductOf(const Operand<T>& a, int64_t rows, const Operand<T>& b, int64_t cols, int64_t depth) {
  ProductArgs<T, T> args;
  args.a = a;
  args.b = b;
  args.rows = rows;
  args.cols = cols;
  args.depth = depth;
  args.depth_per_split = std::max<int64_t>(1, depth);
  return args;
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
