// Tensors of the Open Inference Protocol: as JSON, or as bytes behind it (the extension for binary data).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/serve/cell_grid.h"
#include "lamina/serve/served_model.h"

namespace lamina::serve {

/// `Cell` as that of the grid which it becomes.
template <class Cell>
struct Tensor {
  std::string name;
  std::string datatype;
  std::vector<int64_t> shape;
  std::vector<Cell> cells;  // flat
  bool has_data = false;
  int64_t binary_bytes = -1;  // behind the JSON; below 0: none

  int64_t elements() const;
};

/// One of "inputs".
template <class Cell>
Tensor<Cell> ReadTensor(JsonCursor& json, BasicGrid<Cell>& grid);
/// Its cells from the front of `bytes`, which lose them. Throws Error(kBadData) for another size.
template <class Cell>
void ReadBinary(Tensor<Cell>& tensor, std::string_view& bytes);
/// The tensors as rows: one of rows × all columns, or one a column by name. Throws Error(kBadData).
template <class Cell>
void FillGrid(const ServedModel& model, std::vector<Tensor<Cell>>& tensors, BasicGrid<Cell>& grid);

/// Names of the types that a tensor may have.
std::span<const std::string_view> TensorTypes();

}  // namespace lamina::serve
