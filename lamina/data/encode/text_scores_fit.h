// Learning the scores of texts (docs/decisions/0132).
#pragma once

#include <cstdint>
#include <span>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/text_scores.h"
#include "lamina/data/files/table.h"

namespace lamina {

/// Ridge regression of `answers` (rows × scores, f64, columns of mean 0: NearAnswers()) on the words of the text
/// column. Rows without text count as texts without words. Scores have mean 0 and variance 1 over the rows. Rows
/// are thinned out where their texts have more than six million different pieces, times scores.
TextScores FitTextScores(const Column& column, std::span<const int64_t> rows, const Matrix& answers);

}  // namespace lamina
