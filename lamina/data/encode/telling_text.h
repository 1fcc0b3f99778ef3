// Columns of free text whose words say something about the target (docs/decisions/0130).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

/// What is asked of the rows.
struct TextQuestion {
  std::span<const int64_t> texts;   // positions of columns of free text
  std::span<const int64_t> others;  // of the other inputs
  int64_t target = 0;               // its position
  bool classes = false;             // of the target
};

/// Those of `texts` that leave at least 2.5 % less of the target, and surely so. A line through the other inputs is
/// compared with one that has 256 hashes of the text, too, both with a ridge of 10. Each half of at most 4,000 of
/// `rows` is answered by a line through the other half. None where rows are fewer than 100, classes more than 100, or
/// the other inputs more than 300.
std::vector<int64_t> TextsThatTell(const Table& table, std::span<const int64_t> rows, const TextQuestion& question);

}  // namespace lamina
