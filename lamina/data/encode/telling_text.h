// Columns of free text whose words say something about the target (docs/decisions/0130).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/files/table.h"

namespace lamina {

/// What is asked of the rows.
struct TextQuestion {
  std::span<const int64_t> texts;   // positions of columns of free text
  std::span<const int64_t> others;  // of the other inputs
  const Matrix& answers;            // TextAnswers() of the rows
  const Matrix& taught;             // NearAnswers() of them
};

/// Those of `texts` that leave at least 0.5 % less of the target, and surely so. At most 4,000 of `rows` are asked, in
/// two halves. Each is answered by lines of the other through the other inputs, with a ridge of 10, and by scores of
/// the text (TextScores). The other half has taught these, too. Where TextsRecur(), 256 hashes stand in the place of
/// scores. None where rows are fewer than 100, answers more than 100, or the other inputs more than 300.
std::vector<int64_t> TextsThatTell(const Table& table, std::span<const int64_t> rows, const TextQuestion& question);

}  // namespace lamina
