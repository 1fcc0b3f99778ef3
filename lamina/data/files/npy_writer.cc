// .npy writer (format: numpy.lib.format, version 1.0).
#include "lamina/data/files/npy_writer.h"

#include <fmt/format.h>

#include "lamina/base/buffer.h"
#include "lamina/base/convert.h"
#include "lamina/base/file.h"
#include "lamina/data/files/npy_header.h"

namespace lamina {
std::string NpyHeaderText(int64_t rows, int64_t cols, DType dtype) {
  const DType stored = dtype == DType::kBF16 ? DType::kF32 : dtype;
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                       NameOf(stored, kNpyTypes), rows, cols);
  while ((10 + dictionary.size() + 1) % 64 != 0) {  // the data start at a multiple of 64
    dictionary += ' ';
  }
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

void WriteNpy(const std::string& path, ConstMatrixView matrix) {
  AtomicFile file(path);
  WriteNpy(file, matrix);
  file.Commit();
}

void WriteNpy(AtomicFile& file, ConstMatrixView matrix) {
  Check(matrix.space == Space::kHost, "WriteNpy: a host matrix expected");
  file.Write(NpyHeaderText(matrix.rows, matrix.cols, matrix.dtype));
  const int64_t element_bytes = DTypeSize_bytes(matrix.dtype);
  Matrix widened(1, matrix.dtype == DType::kBF16 ? matrix.cols : 0, DType::kF32);
  for (int64_t i = 0; i < matrix.rows; ++i) {
    if (!widened.empty()) {
      ConvertMatrix(matrix.Rows(i, 1), widened.view());
      file.Write(widened.data(), static_cast<size_t>(matrix.cols) * sizeof(float));
    } else {
      const auto* row = static_cast<const std::byte*>(matrix.data) + i * matrix.stride * element_bytes;
      file.Write(row, static_cast<size_t>(matrix.cols * element_bytes));
    }
  }
}

}  // namespace lamina
