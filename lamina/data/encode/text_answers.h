// What the words of texts shall say of the target (docs/decisions/0132).
#pragma once

#include <cstdint>
#include <span>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/target_encoder.h"
#include "lamina/data/files/table.h"

namespace lamina {

/// What scores of texts shall say: rows × scores, f64, columns of mean 0. Numbers are themselves, with a column a
/// target. A class has a column that says whether it is the row's. Two classes share one, about the second.
/// `positions`: of the targets.
Matrix TextAnswers(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                   const TargetEncoder& targets);
/// The same with numbers between about -3 and 3, so that a few far ones do not teach alone.
Matrix NearAnswers(const Matrix& answers, const TargetEncoder& targets);

}  // namespace lamina
