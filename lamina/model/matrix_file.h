// A matrix in a model file: one tensor, or two that leave its zeros out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/base/sparse_matrix.h"
#include "lamina/model/safetensors.h"

namespace lamina {

/// What tensors view that are made for a file.
struct MatrixWithoutZeros {
  std::vector<uint8_t> places;
  std::string values;
};

/// A tensor of what lies at `data`, one element behind the other.
TensorView ViewOfArray(const void* data, DType dtype, std::vector<int64_t> shape);

/// Adds the tensor `name`, a view of `matrix` (no gaps between rows). Where two have at most half its bytes, and 4 KiB
/// less, they stand instead. NAME.places (U8, rows × ⌈cols / 8⌉): a bit an element, the first in the lowest, that is
/// set unless all bits of the element are 0. NAME.values: the elements of those, row by row. `made` has what they view.
void AddMatrix(const std::string& name, ConstMatrixView matrix, std::deque<MatrixWithoutZeros>& made,
               std::map<std::string, TensorView>& tensors);
/// The same tensors of a list, f32 or f64. False where it would be one tensor: nothing is added.
bool AddList(const std::string& name, const SparseMatrix& list, DType dtype, std::deque<MatrixWithoutZeros>& made,
             std::map<std::string, TensorView>& tensors);

/// Throws Error(kBadModel) unless the file has such a matrix. Its rows × cols elements take at most 64 times the bytes
/// of the file.
void RequireMatrix(const SafetensorsFile& file, const std::string& name, DType dtype, int64_t rows, int64_t cols);
/// The same, into `to` (no gaps between rows).
void ReadMatrix(const SafetensorsFile& file, const std::string& name, MatrixView to);
/// The same as a list, f32 or f64. Null where it would take as much memory as the matrix.
std::shared_ptr<const SparseMatrix> ReadList(const SafetensorsFile& file, const std::string& name, DType dtype,
                                             int64_t rows, int64_t cols);

}  // namespace lamina
