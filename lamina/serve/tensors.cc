// From tensors to rows.
#include "lamina/serve/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/half.h"
#include "lamina/base/text.h"

namespace lamina::serve {
namespace {

constexpr std::string_view kBytes = "BYTES";
constexpr std::string_view kBool = "BOOL";
constexpr std::string_view kTypes[] = {kBool,   "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16",
                                       "INT32", "INT64", "FP16",   "BF16",   "FP32",   "FP64", kBytes};

[[noreturn]] void RefuseTensor(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::kBadData, fmt::format("tensor '{}': {}", name, what), {.file = "request"});
}

template <class T>
T LoadAs(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class Cell>
Cell CellOf(double value) {
  if constexpr (std::is_same_v<Cell, double>) {
    return value;
  } else {
    return std::isnan(value) ? Cell{} : Cell{GridCell::Kind::kNumber, value, {}};
  }
}

// Numbers of type T, little-endian; returns the size of one.
template <class T, class Cell>
size_t LoadAll(std::string_view bytes, std::vector<Cell>& cells) {
  cells.resize(bytes.size() / sizeof(T));
  for (size_t i = 0; i < cells.size(); ++i) {
    const T value = LoadAs<T>(bytes.data() + i * sizeof(T));
    if constexpr (std::is_arithmetic_v<T>) {
      cells[i] = CellOf<Cell>(static_cast<double>(value));
    } else {
      cells[i] = CellOf<Cell>(static_cast<double>(static_cast<float>(value)));
    }
  }
  return sizeof(T);
}

template <class Cell>
using Load = size_t (*)(std::string_view, std::vector<Cell>&);

// Null for texts.
template <class Cell>
Load<Cell> LoaderOf(std::string_view type) {
  constexpr Load<Cell> kLoaders[] = {&LoadAll<uint8_t>,  &LoadAll<uint8_t>, &LoadAll<uint16_t>, &LoadAll<uint32_t>,
                                     &LoadAll<uint64_t>, &LoadAll<int8_t>,  &LoadAll<int16_t>,  &LoadAll<int32_t>,
                                     &LoadAll<int64_t>,  &LoadAll<Float16>, &LoadAll<BFloat16>, &LoadAll<float>,
                                     &LoadAll<double>};
  const auto found = std::ranges::find(kTypes, type);
  return found >= std::ranges::find(kTypes, kBytes) ? nullptr : kLoaders[found - std::begin(kTypes)];
}

template <class Cell>
void ReadFlat(JsonCursor& json, BasicGrid<Cell>& grid, std::vector<Cell>& cells) {
  json.Array([&] {
    if (json.Peek() == JsonCursor::Kind::kArray) {
      ReadFlat(json, grid, cells);
    } else {
      cells.push_back(grid.ReadCell(json));
    }
  });
}

int64_t WholeNumber(JsonCursor& json) {
  const double value = json.Number().value;
  constexpr double kMost = 1e15;
  if (!(value >= 0 && value <= kMost) || value != std::floor(value)) {
    json.Fail("a whole number from 0 on is wanted");
  }
  return static_cast<int64_t>(value);
}

void ReadBinaryTexts(Tensor<GridCell>& tensor, std::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes.size() < sizeof(uint32_t)) {
      RefuseTensor(tensor.name, "its bytes end within a length");
    }
    const auto length = static_cast<size_t>(LoadAs<uint32_t>(bytes.data()));
    bytes.remove_prefix(sizeof(uint32_t));
    if (length > bytes.size()) {
      RefuseTensor(tensor.name, "its bytes end within a text");
    }
    tensor.cells.push_back({GridCell::Kind::kText, 0, bytes.substr(0, length)});
    bytes.remove_prefix(length);
  }
}

// What the type promises of the cells; a FP32 tensor of texts is a mistake that would be answered otherwise.
void CheckType(const Tensor<GridCell>& tensor) {
  for (const GridCell& cell : tensor.cells) {
    const bool text = cell.kind == GridCell::Kind::kText;
    const bool truth = text && tensor.datatype == kBool && (cell.text == "true" || cell.text == "false");
    if (text && tensor.datatype != kBytes && !truth) {
      RefuseTensor(tensor.name, fmt::format("'{}' is no {}", Excerpt(cell.text), tensor.datatype));
    }
  }
}

}  // namespace

std::span<const std::string_view> TensorTypes() { return kTypes; }

template <class Cell>
int64_t Tensor<Cell>::elements() const {
  int64_t count = 1;
  for (const int64_t length : shape) {
    constexpr int64_t kMost = int64_t{1} << 40;
    count = length == 0 ? 0 : count > kMost / length ? kMost : count * length;
  }
  return count;
}

template <class Cell>
Tensor<Cell> ReadTensor(JsonCursor& json, BasicGrid<Cell>& grid) {
  Tensor<Cell> tensor;
  std::string room;
  json.Object([&](std::string_view name) {
    if (name == "name") {
      tensor.name = json.String(room);
    } else if (name == "datatype") {
      tensor.datatype = json.String(room);
    } else if (name == "shape") {
      json.Array([&] { tensor.shape.push_back(WholeNumber(json)); });
    } else if (name == "data") {
      tensor.has_data = true;
      ReadFlat(json, grid, tensor.cells);
    } else if (name == "parameters") {
      json.Object([&](std::string_view parameter) {
        if (parameter == "binary_data_size") {
          tensor.binary_bytes = WholeNumber(json);
        } else {
          json.Skip();
        }
      });
    } else {
      json.Skip();
    }
  });
  if (tensor.name.empty()) {
    json.Fail("a tensor without a name");
  }
  if (std::ranges::find(kTypes, tensor.datatype) == std::end(kTypes)) {
    RefuseTensor(tensor.name,
                 fmt::format("its datatype is '{}', not one of {}", Excerpt(tensor.datatype), fmt::join(kTypes, ", ")));
  }
  if (tensor.shape.empty()) {
    RefuseTensor(tensor.name, "it has no shape");
  }
  return tensor;
}

template <class Cell>
void ReadBinary(Tensor<Cell>& tensor, std::string_view& bytes) {
  if (tensor.binary_bytes < 0) {
    return;
  }
  if (tensor.has_data) {
    RefuseTensor(tensor.name, "it has data and binary_data_size");
  }
  if (tensor.binary_bytes > std::ssize(bytes)) {
    RefuseTensor(tensor.name,
                 fmt::format("it wants {} bytes behind the JSON, {} are there", tensor.binary_bytes, bytes.size()));
  }
  const std::string_view own = bytes.substr(0, static_cast<size_t>(tensor.binary_bytes));
  bytes.remove_prefix(own.size());
  tensor.has_data = true;
  const Load<Cell> load = LoaderOf<Cell>(tensor.datatype);
  if constexpr (std::is_same_v<Cell, double>) {
    if (load == nullptr || tensor.datatype == kBool) {
      throw NotPlain();
    }
  } else if (load == nullptr) {
    ReadBinaryTexts(tensor, own);
    return;
  }
  const size_t size = load(own, tensor.cells);
  if (own.size() != static_cast<size_t>(tensor.elements()) * size) {
    RefuseTensor(tensor.name, fmt::format("{} bytes are not {} times {}", own.size(), tensor.elements(), size));
  }
  if constexpr (std::is_same_v<Cell, GridCell>) {
    if (tensor.datatype == kBool) {
      std::ranges::transform(tensor.cells, tensor.cells.begin(), [](const GridCell& cell) {
        return GridCell{GridCell::Kind::kText, 0, cell.number != 0 ? "true" : "false"};
      });
    }
  }
}

namespace {

// Whether the only tensor holds whole rows.
template <class Cell>
bool HoldsRows(const Tensor<Cell>& tensor, int64_t columns) {
  const int64_t rows = tensor.shape.size() > 1 ? tensor.shape.front() : 1;
  return rows > 0 && tensor.elements() == rows * columns && (tensor.shape.size() > 1 || columns > 1);
}

}  // namespace

template <class Cell>
void FillGrid(const ServedModel& model, std::vector<Tensor<Cell>>& tensors, BasicGrid<Cell>& grid) {
  if (tensors.empty()) {
    throw Error(ErrorCode::kBadData, "there are no inputs", {.file = "request"});
  }
  for (const Tensor<Cell>& tensor : tensors) {
    if (!tensor.has_data) {
      RefuseTensor(tensor.name, "it has no data");
    }
    if (std::ssize(tensor.cells) != tensor.elements()) {
      RefuseTensor(tensor.name,
                   fmt::format("it has {} elements, and its shape {}", tensor.cells.size(), tensor.elements()));
    }
    if constexpr (std::is_same_v<Cell, GridCell>) {
      CheckType(tensor);
    }
  }
  const int64_t columns = std::ssize(model.columns());
  Tensor<Cell>& first = tensors.front();
  if (tensors.size() == 1 && HoldsRows(first, columns) && (columns > 1 || first.name != model.columns()[0].name)) {
    grid.columns = columns;
    grid.rows = first.elements() / columns;
    grid.cells = std::move(first.cells);
    return;
  }
  grid.rows = first.elements();
  grid.columns = std::ssize(tensors);
  grid.cells.resize(static_cast<size_t>(std::max<int64_t>(0, grid.rows) * grid.columns));
  for (size_t c = 0; c < tensors.size(); ++c) {
    const Tensor<Cell>& tensor = tensors[c];
    const bool column = tensor.shape.size() == 1 || (tensor.shape.size() == 2 && tensor.shape[1] == 1);
    if (!column || tensor.elements() != grid.rows) {
      RefuseTensor(tensor.name,
                   fmt::format("its shape is {}: one tensor of rows × {}, or a tensor [rows] or [rows, 1] of "
                               "each column by name",
                               tensor.shape, columns));
    }
    grid.names.push_back(tensor.name);
    for (size_t row = 0; row < tensor.cells.size(); ++row) {
      grid.cells[row * tensors.size() + c] = tensor.cells[row];
    }
  }
}

template struct Tensor<GridCell>;
template struct Tensor<double>;
template Tensor<GridCell> ReadTensor(JsonCursor&, CellGrid&);
template Tensor<double> ReadTensor(JsonCursor&, NumberGrid&);
template void ReadBinary(Tensor<GridCell>&, std::string_view&);
template void ReadBinary(Tensor<double>&, std::string_view&);
template void FillGrid(const ServedModel&, std::vector<Tensor<GridCell>>&, CellGrid&);
template void FillGrid(const ServedModel&, std::vector<Tensor<double>>&, NumberGrid&);

}  // namespace lamina::serve
