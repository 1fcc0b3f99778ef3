// Columns of a table to the numbers of encoded rows.
#pragma once

#include <cstdint>
#include <span>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/fitted_column.h"
#include "lamina/data/encode/preprocess_options.h"

namespace lamina {

/// Numbers beyond are far from those of training: by more than three times their span. Where a column was constant,
/// nobody knows.
NumberSpan NearOf(const NumberSpan& span);

/// Writes `rows` of `columns`, fitted as `fitted`, to `out`: as many rows, f32 or f64, zeros before. Unseen categories
/// are counted in `report`. Throws Error(kBadData) for the first cell in row order that cannot be encoded.
void EncodeColumns(const Table& table, std::span<const FittedColumn> fitted, std::span<const Column* const> columns,
                   std::span<const int64_t> rows, const EncodePolicies& policies, Matrix& out, EncodeReport& report);

}  // namespace lamina
