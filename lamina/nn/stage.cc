// Places in the shared arrays.
#include "lamina/nn/stage.h"

namespace lamina {

std::unique_ptr<Buffer> StageMemory::AllocateRows(int64_t rows, int64_t cols) const {
  return backend.Allocate(rows * cols * DTypeSize_bytes(dtype));
}

void StageMemory::Grow(std::unique_ptr<Buffer>& buffer, int64_t rows, int64_t cols) const {
  if (buffer != nullptr && buffer->size_bytes() < rows * cols * DTypeSize_bytes(dtype)) {
    buffer = nullptr;  // not both at a time
    buffer = AllocateRows(rows, cols);
  }
}

MatrixView StageMemory::View(const std::unique_ptr<Buffer>& buffer, int64_t rows, int64_t cols, int64_t first) const {
  if (buffer == nullptr) {
    return {};
  }
  return MatrixView{buffer->data(), rows, cols, cols, dtype, backend.space()}.Rows(kept + first, rows);
}

void* StageMemory::At(const Buffer& flat, int64_t offset) const {
  return static_cast<char*>(flat.data()) + offset * DTypeSize_bytes(dtype);
}

MatrixView StageMemory::MatrixAt(const Buffer& flat, int64_t offset, int64_t rows, int64_t cols) const {
  return {At(flat, offset), rows, cols, cols, dtype, backend.space()};
}

ParameterArrays StageMemory::ArraysAt(int64_t offset) const {
  ParameterArrays arrays;
  arrays.value = At(*parameters, offset);
  arrays.gradient = At(*gradients, offset);
  for (size_t i = 0; i < states.size(); ++i) {
    arrays.state[i] = At(*states[i], offset);
  }
  return arrays;
}

}  // namespace lamina
