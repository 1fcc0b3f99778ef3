// Bits and the elements that they stand for.
#include "lamina/model/matrix_file.h"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/model/placed_elements.h"

namespace lamina {
namespace {

constexpr const char* kPlaces = ".places";
constexpr const char* kValues = ".values";
constexpr int64_t kLeastSaved_bytes = 4096;  // small matrices stay whole, as other programs read them

int64_t BytesOfRow(int64_t cols) { return cols / 8 + (cols % 8 == 0 ? 0 : 1); }

struct MatrixParts {
  std::string_view places;  // empty: `values` has all elements
  std::string_view values;
};

MatrixParts PartsOf(const SafetensorsFile& file, const std::string& name, DType dtype, int64_t rows, int64_t cols) {
  if (cols < 0 || !file.tensors().contains(name + kPlaces)) {
    return {{}, file.Require(name, dtype, {rows, cols}).bytes};
  }
  const int64_t row_bytes = BytesOfRow(cols);
  const std::string_view places = file.Require(name + kPlaces, DType::kU8, {rows, row_bytes}).bytes;
  int64_t count = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto byte = static_cast<uint8_t>(places[i]);
    const bool last = static_cast<int64_t>(i + 1) % row_bytes == 0;
    if (last && cols % 8 != 0 && byte >> (cols % 8) != 0) {
      throw Error(ErrorCode::kBadModel, "tensor " + name + kPlaces + " has a place behind the end of a row");
    }
    count += std::popcount(byte);
  }
  return {places, file.Require(name + kValues, dtype, {count}).bytes};
}

MatrixWithoutZeros WithoutZeros(ConstMatrixView matrix) {
  const auto size = static_cast<size_t>(DTypeSize_bytes(matrix.dtype));
  const int64_t row_bytes = BytesOfRow(matrix.cols);
  MatrixWithoutZeros made;
  made.places.resize(static_cast<size_t>(matrix.rows * row_bytes));
  for (int64_t i = 0; i < matrix.rows; ++i) {
    const char* row = static_cast<const char*>(matrix.Rows(i, 1).data);
    for (int64_t j = 0; j < matrix.cols; ++j) {
      const std::string_view element(row + static_cast<size_t>(j) * size, size);
      if (element.find_first_not_of('\0') != std::string_view::npos) {
        made.places[static_cast<size_t>(i * row_bytes + j / 8)] |= static_cast<uint8_t>(1U << (j % 8));
        made.values += element;
      }
    }
  }
  return made;
}

MatrixWithoutZeros WithoutZeros(const SparseMatrix& list, DType dtype) {
  const int64_t row_bytes = BytesOfRow(list.cols);
  MatrixWithoutZeros made;
  made.places.resize(static_cast<size_t>(list.rows() * row_bytes));
  std::array<char, sizeof(double)> bytes{};
  const auto size = static_cast<size_t>(DTypeSize_bytes(dtype));
  for (int64_t i = 0; i < list.rows(); ++i) {
    for (const auto& [column, value] : list.Row(i)) {
      made.places[static_cast<size_t>(i * row_bytes + column / 8)] |= static_cast<uint8_t>(1U << (column % 8));
      WriteNumber(value, dtype, bytes.data());
      made.values.append(bytes.data(), size);
    }
  }
  return made;
}

// A matrix, of whose elements `count` are not 0, is two tensors where these have at most half of its bytes
// and kLeastSaved_bytes less.
bool LeavesZerosOut(DType dtype, int64_t rows, int64_t cols, int64_t count) {
  const int64_t whole_bytes = rows * cols * DTypeSize_bytes(dtype);
  const int64_t rest_bytes = rows * BytesOfRow(cols) + count * DTypeSize_bytes(dtype);
  return 2 * rest_bytes <= whole_bytes && rest_bytes + kLeastSaved_bytes <= whole_bytes;
}

void AddTensorsOf(const std::string& name, const MatrixWithoutZeros& kept, DType dtype, int64_t rows, int64_t cols,
                  std::map<std::string, TensorView>& tensors) {
  const int64_t count = std::ssize(kept.values) / DTypeSize_bytes(dtype);
  tensors[name + kPlaces] = ViewOfArray(kept.places.data(), DType::kU8, {rows, BytesOfRow(cols)});
  tensors[name + kValues] = ViewOfArray(kept.values.data(), dtype, {count});
}

// Calls `each` with the places of elements, row by row, as tensors without zeros tell them.
template <class Each>
void EachPlace(std::string_view places, int64_t cols, const Each& each) {
  const auto row_bytes = static_cast<size_t>(BytesOfRow(cols));
  for (size_t i = 0; i < places.size(); ++i) {
    for (unsigned byte = static_cast<uint8_t>(places[i]); byte != 0; byte &= byte - 1) {
      each(static_cast<int64_t>(i / row_bytes), static_cast<int64_t>(i % row_bytes * 8) + std::countr_zero(byte));
    }
  }
}

}  // namespace

TensorView ViewOfArray(const void* data, DType dtype, std::vector<int64_t> shape) {
  int64_t size_bytes = DTypeSize_bytes(dtype);
  for (const int64_t size : shape) {
    size_bytes *= size;
  }
  return {dtype, std::move(shape), {static_cast<const char*>(data), static_cast<size_t>(size_bytes)}};
}

void AddMatrix(const std::string& name, ConstMatrixView matrix, std::deque<MatrixWithoutZeros>& made,
               std::map<std::string, TensorView>& tensors) {
  if (LeavesZerosOut(matrix.dtype, matrix.rows, matrix.cols, CountOfNot0(matrix))) {
    AddTensorsOf(name, made.emplace_back(WithoutZeros(matrix)), matrix.dtype, matrix.rows, matrix.cols, tensors);
  } else {
    tensors[name] = ViewOfArray(matrix.data, matrix.dtype, {matrix.rows, matrix.cols});
  }
}

bool AddList(const std::string& name, const SparseMatrix& list, DType dtype, std::deque<MatrixWithoutZeros>& made,
             std::map<std::string, TensorView>& tensors) {
  const bool added = LeavesZerosOut(dtype, list.rows(), list.cols, std::ssize(list.elements));
  if (added) {
    AddTensorsOf(name, made.emplace_back(WithoutZeros(list, dtype)), dtype, list.rows(), list.cols, tensors);
  }
  return added;
}

void RequireMatrix(const SafetensorsFile& file, const std::string& name, DType dtype, int64_t rows, int64_t cols) {
  PartsOf(file, name, dtype, rows, cols);
}

void ReadMatrix(const SafetensorsFile& file, const std::string& name, MatrixView to) {
  const MatrixParts parts = PartsOf(file, name, to.dtype, to.rows, to.cols);
  auto* const bytes = static_cast<char*>(to.data);
  if (parts.places.empty()) {
    std::memcpy(bytes, parts.values.data(), parts.values.size());
    return;
  }
  const auto element_bytes = static_cast<size_t>(DTypeSize_bytes(to.dtype));
  std::memset(bytes, 0, static_cast<size_t>(to.rows * to.cols) * element_bytes);
  const char* value = parts.values.data();
  EachPlace(parts.places, to.cols, [&](int64_t row, int64_t column) {
    std::memcpy(bytes + static_cast<size_t>(row * to.cols + column) * element_bytes, value, element_bytes);
    value += element_bytes;
  });
}

std::shared_ptr<const SparseMatrix> ReadList(const SafetensorsFile& file, const std::string& name, DType dtype,
                                             int64_t rows, int64_t cols) {
  const MatrixParts parts = PartsOf(file, name, dtype, rows, cols);
  const int64_t count = std::ssize(parts.values) / DTypeSize_bytes(dtype);
  const auto list_bytes = static_cast<int64_t>(sizeof(SparseMatrix::Element)) * count;
  if (parts.places.empty() || list_bytes >= rows * cols * DTypeSize_bytes(dtype)) {
    return nullptr;
  }
  auto list = std::make_shared<SparseMatrix>();
  list->cols = cols;
  list->elements.reserve(static_cast<size_t>(count));
  const char* value = parts.values.data();
  EachPlace(parts.places, cols, [&](int64_t row, int64_t column) {
    while (list->rows() < row) {
      list->EndRow();
    }
    list->Add(column, ReadNumber(dtype, value));
    value += DTypeSize_bytes(dtype);
  });
  while (list->rows() < rows) {
    list->EndRow();
  }
  return list;
}

}  // namespace lamina
