// Compressed rows, checked and scaled once.
#include "lamina/data/encode/sparse_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"

namespace lamina {
namespace {

void RequireOrder(const CompressedRows& from) {
  const bool starts_ascend = !from.starts.empty() && from.starts.front() == 0 &&
                             std::is_sorted(from.starts.begin(), from.starts.end()) &&
                             from.starts.back() == std::ssize(from.columns);
  if (!starts_ascend) {
    throw Error(ErrorCode::kInvalidArgument,
                "the starts of compressed rows do not ascend from 0 to the number of values");
  }
  for (size_t i = 0; i + 1 < from.starts.size(); ++i) {
    int64_t before = -1;
    for (int64_t at = from.starts[i]; at < from.starts[i + 1]; ++at) {
      const int64_t column = from.columns[static_cast<size_t>(at)];
      if (column <= before || column >= from.cols) {
        throw Error(
            ErrorCode::kInvalidArgument,
            fmt::format("the columns of row {} of compressed rows do not ascend from 0 to {}", i, from.cols - 1),
            {.value = std::to_string(column), .remedy = "Call sum_duplicates() of the matrix before."});
      }
      before = column;
    }
  }
}

template <class T>
T Scaled(double number, std::span<const double> offsets, std::span<const double> scales, size_t column) {
  return static_cast<T>(scales.empty() ? number : (number - offsets[column]) / scales[column]);
}

}  // namespace

SparseRows::SparseRows(const CompressedRows& from, std::span<const double> offsets, std::span<const double> scales,
                       DType dtype)
    : starts_(from.starts.begin(), from.starts.end()),
      columns_(from.columns.begin(), from.columns.end()),
      values_(std::ssize(from.columns) * DTypeSize_bytes(dtype)),
      zeros_(from.cols * DTypeSize_bytes(dtype)),
      cols_(from.cols),
      dtype_(dtype) {
  RequireOrder(from);
  DispatchFloat(dtype, [&]<class T>(T) { Scale<T>(from, offsets, scales); });
}

template <class T>
void SparseRows::Scale(const CompressedRows& from, std::span<const double> offsets, std::span<const double> scales) {
  const std::span<T> zeros = zeros_.As<T>();
  for (size_t j = 0; j < zeros.size(); ++j) {
    zeros[j] = Scaled<T>(0.0, offsets, scales, j);
    keeps_zeros_ = keeps_zeros_ && zeros[j] == T(0);
  }
  const std::span<T> values = values_.As<T>();
  DispatchDType(from.dtype, [&]<class From>(From) {
    const auto* numbers = static_cast<const From*>(from.values);
    for (size_t at = 0; at < values.size(); ++at) {
      values[at] =
          Scaled<T>(static_cast<double>(AsNumber(numbers[at])), offsets, scales, static_cast<size_t>(columns_[at]));
    }
  });
  const auto wrong = std::find_if(values.begin(), values.end(), [](T value) { return !std::isfinite(value); });
  if (wrong != values.end()) {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), wrong - values.begin());
    throw Error(ErrorCode::kBadData, fmt::format("x has a number in row {} that is not finite or too large for {}",
                                                 next - starts_.begin() - 1, DTypeName(dtype_)));
  }
}

void SparseRows::Fill(int64_t row, void* to) const noexcept {
  std::memcpy(to, zeros_.data(), static_cast<size_t>(zeros_.size_bytes()));
  Replace(-1, row, to);
}

void SparseRows::Replace(int64_t before, int64_t row, void* to) const noexcept {
  DispatchFloat(dtype_, [&]<class T>(T) {
    const T* const values = values_.As<T>().data();
    const T* const zeros = zeros_.As<T>().data();
    T* const numbers = static_cast<T*>(to);
    const auto for_each = [&](int64_t which, const auto& fn) {
      const int64_t end = starts_[static_cast<size_t>(which) + 1];
      for (int64_t at = starts_[static_cast<size_t>(which)]; at < end; ++at) {
        fn(at, columns_[static_cast<size_t>(at)]);
      }
    };
    if (before >= 0) {
      for_each(before, [&](int64_t, int32_t column) { numbers[column] = zeros[column]; });
    }
    for_each(row, [&](int64_t at, int32_t column) { numbers[column] = values[at]; });
  });
}

}  // namespace lamina
