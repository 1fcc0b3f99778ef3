// Batch normalization (Ioffe and Szegedy 2015, arXiv:1502.03167) of the columns of a batch in host memory. Every sum is
// in the order of the samples and in double: the same bits however columns are shared among threads.
#pragma once

#include <cstdint>

#include "lamina/backend/elementwise.h"
#include "lamina/backend/host_parts.h"

namespace lamina {

/// Columns [begin, begin + count) of what the calls of Elementwise say; at most HostParts::kColumns.
void NormalizeForwardColumns(const NormalizeForwardArgs& args, int64_t begin, int64_t count) noexcept;
void NormalizeBackwardColumns(const NormalizeBackwardArgs& args, int64_t begin, int64_t count) noexcept;

}  // namespace lamina
