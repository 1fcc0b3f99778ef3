// Columns and rows that make a model look better than it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/preprocessor.h"

namespace lamina {

/// An input that tells the target by itself, almost without a mistake. Often it is the target in other words, or known
/// only after it.
struct Leak {
  std::string column;
  /// Judged on held-out rows (half of at most 4,000 training rows) by the other half's rows with the nearest value of
  /// the column. Classes: the share told right; numbers: R² of the target's ranks.
  double figure = 0;
};

/// The leaks among the columns that `fitted` takes as they are in the table, not derived. They are judged on at least
/// 100 training rows, `rows`. Images and several targets are not judged.
std::vector<Leak> FindLeaks(const Table& table, std::span<const int64_t> rows, const Preprocessor& fitted);

/// A hash of inputs and target for each encoded row.
std::vector<uint64_t> HashRows(const Dataset& data);

/// How many rows of `part` have the inputs and the target of a training row, whose hashes are `known`. 0 where
/// rows recur by the nature of the table: twice each and more, in the mean (of a file put in twice 1.4 times).
int64_t RowsAlsoIn(const Dataset& part, std::vector<uint64_t> known);
inline int64_t RowsAlsoIn(const Dataset& part, const Dataset& train) {
  return part.size() == 0 ? 0 : RowsAlsoIn(part, HashRows(train));
}

}  // namespace lamina
