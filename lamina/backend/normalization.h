// Batch normalisation (Ioffe and Szegedy 2015, arXiv:1502.03167) of the columns of a batch in host memory. Every sum is
// in the order of the samples and in double: the same bits however columns are shared among threads.
#pragma once

#include <cstdint>

#include "lamina/backend/backend.h"

namespace lamina {

/// Columns that are normalised at a time, at most: whole cache lines.
inline constexpr int64_t kNormalizedColumns = 64;

/// Columns [begin, begin + count) of what the calls of Backend say.
void NormalizeForwardColumns(const NormalizeForwardArgs& args, int64_t begin, int64_t count) noexcept;
void NormalizeBackwardColumns(const NormalizeBackwardArgs& args, int64_t begin, int64_t count) noexcept;

/// The layer that answers as a normalised one does by its running statistics: weights (outputs × inputs, f32 or f64)
/// become diag(γ / √(variance + ε)) times themselves, `bias` (outputs) becomes β - γ mean / √(variance + ε).
void FoldNormalization(const NormalizationArrays& arrays, MatrixView weights, void* bias) noexcept;

}  // namespace lamina
