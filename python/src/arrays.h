// Arrays of Python as the library's views. The Python side has made them plain: row-major, in the machine's byte order,
// bf16 as its 16 bits. What is still wrong is refused with both sides named.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/base/matrix_view.h"

namespace lamina::python {

namespace nb = nanobind;

/// Any array in host memory; read-only ones and mapped files, too.
using InArray = nb::ndarray<nb::ro, nb::device::cpu>;
/// An array that is written to.
using OutArray = nb::ndarray<nb::device::cpu>;

/// The same in host memory or a GPU's, for functions that compute where their operands are.
using AnyArray = nb::ndarray<nb::ro>;
using AnyOutArray = nb::ndarray<>;

/// The view of a 2-d array whose rows are dense (any distance from one row to the next). `dtype` is what its elements
/// are; throws Error(kInvalidArgument) where their size is another, the array is not 2-d, or its rows are not dense.
ConstMatrixView ViewOfArray(const InArray& array, DType dtype, const char* name);
MatrixView ViewOfArray(const OutArray& array, DType dtype, const char* name);
/// The same, in the space of its device; throws Error(kInvalidArgument) where that is neither the host nor CUDA's
/// first.
ConstMatrixView ViewOfAny(const AnyArray& array, DType dtype, const char* name);
MatrixView ViewOfAny(const AnyOutArray& array, DType dtype, const char* name);

/// The elements of a dense 1-d array of `size` elements of `dtype`; throws as above.
const void* VectorOf(const InArray& array, DType dtype, int64_t size, const char* name);
/// The same as numbers; None is an empty vector.
std::vector<double> DoublesOf(const nb::object& array, int64_t size, const char* name);

/// A NumPy array that views `data`, which `owner` keeps alive.
nb::object NumpyView(void* data, DType dtype, std::vector<size_t> shape, nb::handle owner);

/// The matrix as a NumPy array that owns it.
nb::object NumpyOf(Matrix matrix);

}  // namespace lamina::python
