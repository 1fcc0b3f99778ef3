// Aligned allocation with an error that names the size asked for.
#include "lamina/base/buffer.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <new>

#include "lamina/base/error.h"
#include "lamina/base/page_pool.h"

namespace lamina {
namespace {
constexpr int64_t kAlignment_bytes = 64;
[[noreturn]] void ThrowNoMemory(int64_t size_bytes) {
  throw Error(ErrorCode::kResource,
              fmt::format("cannot allocate {:.1f} MiB", static_cast<double>(size_bytes) / 1048576.0),
              {.remedy = "Free memory, use fewer samples or a smaller network."});
}

}  // namespace

AlignedBuffer::AlignedBuffer(int64_t size_bytes) : size_bytes_(size_bytes) {
  if (size_bytes == 0) {
    return;
  }
  if (size_bytes < 0 || size_bytes > std::numeric_limits<int64_t>::max() - kAlignment_bytes) {
    throw Error(ErrorCode::kResource, fmt::format("cannot allocate {} bytes", size_bytes));
  }
  if (size_bytes >= kLeastPooled_bytes) {
    if (void* const pages = AllocatePages(size_bytes)) {
      data_ = {pages, FreeBuffer{size_bytes}};
      return;
    }
  }
  const int64_t rounded = (size_bytes + kAlignment_bytes - 1) / kAlignment_bytes * kAlignment_bytes;
  data_.reset(::operator new (static_cast<size_t>(rounded), std::align_val_t{kAlignment_bytes}, std::nothrow));
  if (data_ == nullptr) {
    ThrowNoMemory(size_bytes);
  }
  std::memset(data_.get(), 0, static_cast<size_t>(rounded));
}

AlignedBuffer::AlignedBuffer(const AlignedBuffer& other) : AlignedBuffer(other.size_bytes_) {
  if (size_bytes_ > 0) {
    std::memcpy(data_.get(), other.data_.get(), static_cast<size_t>(size_bytes_));
  }
}

void FreeBuffer::operator()(void* p) const noexcept {
  if (pooled_bytes > 0) {
    FreePages(p, pooled_bytes);
  } else {
    ::operator delete (p, std::align_val_t{kAlignment_bytes});
  }
}

Matrix::Matrix(int64_t rows, int64_t cols, DType dtype) : rows_(rows), cols_(cols), dtype_(dtype) {
  int64_t elements = 0;
  int64_t size_bytes = 0;
  if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &elements) ||
      __builtin_mul_overflow(elements, DTypeSize_bytes(dtype), &size_bytes)) {
    throw Error(ErrorCode::kResource, fmt::format("a matrix of {} x {} does not fit in memory", rows, cols));
  }
  const auto buffer = std::make_shared<AlignedBuffer>(size_bytes);
  elements_ = {buffer, buffer->data()};
}

Matrix Matrix::Over(std::shared_ptr<void> elements, int64_t rows, int64_t cols, DType dtype) {
  Matrix matrix;
  matrix.elements_ = std::move(elements);
  matrix.rows_ = rows;
  matrix.cols_ = cols;
  matrix.dtype_ = dtype;
  return matrix;
}

Matrix Matrix::Share() const {
  Matrix same;
  same.elements_ = elements_;
  same.rows_ = rows_;
  same.cols_ = cols_;
  same.dtype_ = dtype_;
  return same;
}

}  // namespace lamina
