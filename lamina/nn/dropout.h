// Dropout (Srivastava et al. 2014): which outputs of a layer a training step leaves out. In host memory.
#pragma once

#include <cstdint>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// The masks' streams of a seed begin here; those below belong to weights and the order of rows.
inline constexpr uint64_t kDropoutStreams = uint64_t{1} << 32;

/// Fills `mask` (f32 or f64, densely stored) with 0 for the share `dropout` of its elements and 1 / (1 - dropout) for
/// the others, by seed and stream.
void FillDropoutMask(double dropout, uint64_t seed, uint64_t stream, MatrixView mask) noexcept;

/// to = a times b, element by element, all densely stored, of one shape and type.
void Multiply(ConstMatrixView a, ConstMatrixView b, MatrixView to) noexcept;
inline void MultiplyInPlace(MatrixView a, ConstMatrixView b) noexcept { Multiply(a, b, a); }

}  // namespace lamina
