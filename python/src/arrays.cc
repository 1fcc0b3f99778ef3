// Arrays of Python as the library's views.
#include "python/src/arrays.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "lamina/base/error.h"

namespace lamina::python {
namespace {

template <class Array>
auto ViewOf2d(const Array& array, DType dtype, const char* name) {
  if (array.ndim() != 2) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} has {} dimensions, 2 are needed", name, array.ndim()));
  }
  if (static_cast<int64_t>(array.itemsize()) != DTypeSize_bytes(dtype)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} has elements of {} bytes, those of {} have {}", name,
                                                         array.itemsize(), DTypeName(dtype), DTypeSize_bytes(dtype)));
  }
  const auto rows = static_cast<int64_t>(array.shape(0));
  const auto cols = static_cast<int64_t>(array.shape(1));
  const int64_t stride = rows > 1 ? array.stride(0) : cols;
  if (rows > 0 && ((cols > 1 && array.stride(1) != 1) || stride < cols)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the rows of {} are not dense", name),
                {.remedy = "Give numpy.ascontiguousarray() of it."});
  }
  return std::tuple{rows, cols, stride};
}

template <class Array>
Space SpaceOf(const Array& array, const char* name) {
  const int type = array.device_type();
  // Pinned memory is the host's: of CUDA 3, of ROCm 11 in DLPack.
  if (type == nb::device::cpu::value || type == 3 || type == 11) {
    return Space::kHost;
  }
  if (type != nb::device::cuda::value || array.device_id() != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is in memory of device type {}, number {}", name, type, array.device_id()),
                {.remedy = "Give it in host memory or in that of the first CUDA GPU (0)."});
  }
  return Space::kDevice;
}

nb::dlpack::dtype DlpackOf(DType dtype) {
  const auto bits = static_cast<uint8_t>(DTypeSize_bytes(dtype) * 8);
  const auto code = dtype == DType::kU8 || dtype == DType::kBF16 ? nb::dlpack::dtype_code::UInt
                    : IsInteger(dtype)                           ? nb::dlpack::dtype_code::Int
                                                                 : nb::dlpack::dtype_code::Float;
  return {static_cast<uint8_t>(code), bits, 1};
}

}  // namespace

ConstMatrixView ViewOfArray(const InArray& array, DType dtype, const char* name) {
  const auto [rows, cols, stride] = ViewOf2d(array, dtype, name);
  return {array.data(), rows, cols, stride, dtype, Space::kHost};
}

MatrixView ViewOfArray(const OutArray& array, DType dtype, const char* name) {
  const auto [rows, cols, stride] = ViewOf2d(array, dtype, name);
  return {array.data(), rows, cols, stride, dtype, Space::kHost};
}

ConstMatrixView ViewOfAny(const AnyArray& array, DType dtype, const char* name) {
  const auto [rows, cols, stride] = ViewOf2d(array, dtype, name);
  return {array.data(), rows, cols, stride, dtype, SpaceOf(array, name)};
}

MatrixView ViewOfAny(const AnyOutArray& array, DType dtype, const char* name) {
  const auto [rows, cols, stride] = ViewOf2d(array, dtype, name);
  return {array.data(), rows, cols, stride, dtype, SpaceOf(array, name)};
}

const void* VectorOf(const InArray& array, DType dtype, int64_t size, const char* name) {
  const bool fits = array.ndim() == 1 && static_cast<int64_t>(array.shape(0)) == size &&
                    static_cast<int64_t>(array.itemsize()) == DTypeSize_bytes(dtype) &&
                    (size <= 1 || array.stride(0) == 1);
  if (!fits) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} must be a dense array of {} elements of {}", name, size, DTypeName(dtype)));
  }
  return array.data();
}

std::vector<double> DoublesOf(const nb::object& array, int64_t size, const char* name) {
  if (array.is_none()) {
    return {};
  }
  const auto* data = static_cast<const double*>(VectorOf(nb::cast<InArray>(array), DType::kF64, size, name));
  return {data, data + size};
}

nb::object NumpyView(void* data, DType dtype, std::vector<size_t> shape, nb::handle owner) {
  return nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), owner, nullptr, DlpackOf(dtype)).cast();
}

nb::object NumpyOf(Matrix matrix) {
  auto owned = std::make_unique<Matrix>(std::move(matrix));
  Matrix& kept = *owned;
  const nb::capsule capsule(owned.release(), [](void* p) noexcept { delete static_cast<Matrix*>(p); });
  return NumpyView(kept.data(), kept.dtype(), {static_cast<size_t>(kept.rows()), static_cast<size_t>(kept.cols())},
                   capsule);
}

}  // namespace lamina::python
