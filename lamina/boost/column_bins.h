// Columns of numbers as few numbered bins, between which trees ask their questions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// Where a column is cut: rows of at most `below` are on one side, those of at least `above` on the other. Both are
/// numbers of training rows.
struct ColumnCut {
  double below = 0;
  double above = 0;
};

/// Cuts of each column, ascending: bin b of a column lies between its cuts b - 1 and b. A column of one value has none.
struct ColumnBins {
  static constexpr int64_t kMost = 256;

  std::vector<std::vector<ColumnCut>> cuts;

  int64_t columns() const { return std::ssize(cuts); }
};

/// At most `most` bins a column (2 to ColumnBins::kMost): one for each different number, or else about as many rows in
/// each. `x`: rows × columns, finite. A column is cut only where numbers are more than its `apart` from each other;
/// empty: 0.
ColumnBins BinColumns(ConstMatrixView x, int64_t most, int threads, std::span<const double> apart = {});

/// The bin of each number of x, column by column (columns × rows). Between `below` and `above` the nearer one counts.
std::vector<uint8_t> BinsOf(const ColumnBins& bins, ConstMatrixView x, int threads);

}  // namespace lamina
