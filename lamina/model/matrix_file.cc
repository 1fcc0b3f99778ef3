// Bits and the elements that they stand for.
#include "lamina/model/matrix_file.h"

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
constexpr size_t kLeastSaved_bytes = 4096;  // small matrices stay whole, as other programs read them

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
  const TensorView whole = ViewOfArray(matrix.data, matrix.dtype, {matrix.rows, matrix.cols});
  const int64_t count = CountOfNot0(matrix);
  const auto rest_bytes =
      static_cast<size_t>(matrix.rows * BytesOfRow(matrix.cols) + count * DTypeSize_bytes(matrix.dtype));
  if (2 * rest_bytes > whole.bytes.size() || rest_bytes + kLeastSaved_bytes > whole.bytes.size()) {
    tensors[name] = whole;
    return;
  }
  const MatrixWithoutZeros& kept = made.emplace_back(WithoutZeros(matrix));
  tensors[name + kPlaces] = ViewOfArray(kept.places.data(), DType::kU8, {matrix.rows, BytesOfRow(matrix.cols)});
  tensors[name + kValues] = ViewOfArray(kept.values.data(), matrix.dtype, {count});
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
  const auto row_bytes = static_cast<size_t>(BytesOfRow(to.cols));
  const auto cols = static_cast<size_t>(to.cols);
  std::memset(bytes, 0, static_cast<size_t>(to.rows) * cols * element_bytes);
  const char* value = parts.values.data();
  for (size_t i = 0; i < parts.places.size(); ++i) {
    const size_t first = i / row_bytes * cols + i % row_bytes * 8;
    for (unsigned byte = static_cast<uint8_t>(parts.places[i]); byte != 0; byte &= byte - 1) {
      const size_t at = first + static_cast<size_t>(std::countr_zero(byte));
      std::memcpy(bytes + at * element_bytes, value, element_bytes);
      value += element_bytes;
    }
  }
}

}  // namespace lamina
