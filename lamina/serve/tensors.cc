// From tensors to rows.
#include "lamina/serve/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/half.h"
#include "lamina/base/text.h"

namespace lamina::serve {
namespace {

constexpr std::string_view kBytes = "BYTES";
constexpr std::string_view kTypes[] = {"BOOL",  "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16",
                                       "INT32", "INT64", "FP16",   "BF16",   "FP32",   "FP64", "BYTES"};

[[noreturn]] void RefuseTensor(const Tensor& tensor, const std::string& what) {
  throw Error(ErrorCode::kBadData, fmt::format("tensor '{}': {}", tensor.name, what), {.file = "request"});
}

template <class T>
T LoadAs(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A number of `type`, little-endian, and how many bytes it takes.
template <class T>
std::pair<double, size_t> Loaded(const char* at) {
  if constexpr (std::is_arithmetic_v<T>) {
    return {static_cast<double>(LoadAs<T>(at)), sizeof(T)};
  } else {
    return {static_cast<double>(static_cast<float>(LoadAs<T>(at))), sizeof(T)};
  }
}

using Load = std::pair<double, size_t> (*)(const char*);
Load LoaderOf(std::string_view type) {
  constexpr Load kLoaders[] = {&Loaded<uint8_t>,  &Loaded<uint8_t>, &Loaded<uint16_t>, &Loaded<uint32_t>,
                               &Loaded<uint64_t>, &Loaded<int8_t>,  &Loaded<int16_t>,  &Loaded<int32_t>,
                               &Loaded<int64_t>,  &Loaded<Float16>, &Loaded<BFloat16>, &Loaded<float>,
                               &Loaded<double>};
  const auto found = std::ranges::find(kTypes, type);
  return found >= std::ranges::find(kTypes, kBytes) ? nullptr : kLoaders[found - std::begin(kTypes)];
}

void ReadFlat(JsonCursor& json, CellGrid& grid, std::vector<GridCell>& cells) {
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

void ReadBinaryTexts(Tensor& tensor, std::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes.size() < sizeof(uint32_t)) {
      RefuseTensor(tensor, "its bytes end within a length");
    }
    const auto length = static_cast<size_t>(LoadAs<uint32_t>(bytes.data()));
    bytes.remove_prefix(sizeof(uint32_t));
    if (length > bytes.size()) {
      RefuseTensor(tensor, "its bytes end within a text");
    }
    tensor.cells.push_back({GridCell::Kind::kText, 0, bytes.substr(0, length)});
    bytes.remove_prefix(length);
  }
}

// What the type promises of the cells; a FP32 tensor of texts is a mistake that would be answered otherwise.
void CheckType(const Tensor& tensor) {
  for (const GridCell& cell : tensor.cells) {
    const bool text = cell.kind == GridCell::Kind::kText;
    const bool truth = text && tensor.datatype == "BOOL" && (cell.text == "true" || cell.text == "false");
    if (text && tensor.datatype != kBytes && !truth) {
      RefuseTensor(tensor, fmt::format("'{}' is no {}", Excerpt(cell.text), tensor.datatype));
    }
  }
}

}  // namespace

std::span<const std::string_view> TensorTypes() { return kTypes; }

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (const int64_t length : shape) {
    constexpr int64_t kMost = int64_t{1} << 40;
    count = length == 0 ? 0 : count > kMost / length ? kMost : count * length;
  }
  return count;
}

Tensor ReadTensor(JsonCursor& json, CellGrid& grid) {
  Tensor tensor;
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
    RefuseTensor(tensor,
                 fmt::format("its datatype is '{}', not one of {}", Excerpt(tensor.datatype), fmt::join(kTypes, ", ")));
  }
  if (tensor.shape.empty()) {
    RefuseTensor(tensor, "it has no shape");
  }
  return tensor;
}

void ReadBinary(Tensor& tensor, std::string_view& bytes) {
  if (tensor.binary_bytes < 0) {
    return;
  }
  if (tensor.has_data) {
    RefuseTensor(tensor, "it has data and binary_data_size");
  }
  if (tensor.binary_bytes > std::ssize(bytes)) {
    RefuseTensor(tensor,
                 fmt::format("it wants {} bytes behind the JSON, {} are there", tensor.binary_bytes, bytes.size()));
  }
  const std::string_view own = bytes.substr(0, static_cast<size_t>(tensor.binary_bytes));
  bytes.remove_prefix(own.size());
  tensor.has_data = true;
  const Load load = LoaderOf(tensor.datatype);
  if (load == nullptr) {
    ReadBinaryTexts(tensor, own);
    return;
  }
  const bool truth = tensor.datatype == "BOOL";
  constexpr std::array<char, sizeof(double)> kNothing{};
  const size_t size = load(kNothing.data()).second;
  if (own.size() != static_cast<size_t>(tensor.elements()) * size) {
    RefuseTensor(tensor, fmt::format("{} bytes are not {} times {}", own.size(), tensor.elements(), size));
  }
  tensor.cells.reserve(own.size() / size);
  for (size_t at = 0; at < own.size(); at += size) {
    const double value = load(own.data() + at).first;
    tensor.cells.push_back(truth               ? GridCell{GridCell::Kind::kText, 0, value != 0 ? "true" : "false"}
                           : std::isnan(value) ? GridCell{}
                                               : GridCell{GridCell::Kind::kNumber, value, {}});
  }
}

namespace {

// Whether the only tensor holds whole rows.
bool HoldsRows(const Tensor& tensor, int64_t columns) {
  const int64_t rows = tensor.shape.size() > 1 ? tensor.shape.front() : 1;
  return rows > 0 && tensor.elements() == rows * columns && (tensor.shape.size() > 1 || columns > 1);
}

}  // namespace

void FillGrid(const ServedModel& model, std::vector<Tensor>& tensors, CellGrid& grid) {
  if (tensors.empty()) {
    throw Error(ErrorCode::kBadData, "there are no inputs", {.file = "request"});
  }
  for (const Tensor& tensor : tensors) {
    if (!tensor.has_data) {
      RefuseTensor(tensor, "it has no data");
    }
    if (std::ssize(tensor.cells) != tensor.elements()) {
      RefuseTensor(tensor, fmt::format("it has {} elements, and its shape {}", tensor.cells.size(), tensor.elements()));
    }
    CheckType(tensor);
  }
  const int64_t columns = std::ssize(model.columns());
  Tensor& first = tensors.front();
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
    const Tensor& tensor = tensors[c];
    const bool column = tensor.shape.size() == 1 || (tensor.shape.size() == 2 && tensor.shape[1] == 1);
    if (!column || tensor.elements() != grid.rows) {
      RefuseTensor(tensor, fmt::format("its shape is {}: one tensor of rows × {}, or a tensor [rows] or [rows, 1] of "
                                       "each column by name",
                                       tensor.shape, columns));
    }
    grid.names.push_back(tensor.name);
    for (size_t row = 0; row < tensor.cells.size(); ++row) {
      grid.cells[row * tensors.size() + c] = tensor.cells[row];
    }
  }
}

}  // namespace lamina::serve
