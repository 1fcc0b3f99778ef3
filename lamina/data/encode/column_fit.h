// Learning from training rows how columns are encoded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/fitted_column.h"
#include "lamina/data/encode/preprocess_options.h"

namespace lamina {

/// Fits the columns at `positions`, in that order. `taught` (rows × scores): NearAnswers(), for scores of texts. Throws
/// Error for columns without values in `rows`, and values too large to scale.
std::vector<FittedColumn> FitInputs(const Table& table, std::span<const int64_t> rows,
                                    std::span<const int64_t> positions, const PreprocessOptions& options,
                                    const Matrix& taught = {});

/// Fits a target: numbers are scaled, nothing else is learned. Throws Error for values too large to scale.
FittedColumn FitTarget(const Table& table, std::span<const int64_t> rows, int64_t position, Scaling scaling);

}  // namespace lamina
