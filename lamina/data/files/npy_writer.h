// Writing matrices as NumPy .npy files.
#pragma once

#include <string>

#include "lamina/base/matrix_view.h"

namespace lamina {

class AtomicFile;  // base/file.h

/// The header of such a file for a matrix of rows × cols; the elements follow it, at a multiple of 64 bytes.
std::string NpyHeaderText(int64_t rows, int64_t cols, DType dtype);

/// Writes a host matrix as version 1.0, C order, little-endian; whole or not at all. bf16 is written as f32.
/// Throws Error(kIo).
void WriteNpy(const std::string& path, ConstMatrixView matrix);
/// The same into a file that its owner commits.
void WriteNpy(AtomicFile& file, ConstMatrixView matrix);

}  // namespace lamina
