// The row of sums at the end of a report, and what stands below it. Private to the CSV reader.
#pragma once

#include <cstdint>

#include "lamina/data/files/table.h"

namespace lamina {

/// The row that holds the sums of all above, a word or nothing where they have values; -1 where there is none. Below it
/// are rows of one cell with words, notes, or of none.
int64_t RowOfSums(const Table& table);
/// The first row below `row` that has a value; -1 where there is none.
int64_t FirstFilledRow(const Table& table, int64_t row);

}  // namespace lamina
