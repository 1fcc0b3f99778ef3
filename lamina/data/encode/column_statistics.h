// Statistics of columns over chosen rows, in double precision.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

struct ColumnStatistics {
  int64_t count = 0;  // without missing values
  double mean = 0;
  double deviation = 0;  // population standard deviation; exactly 0 for constant columns
  double min = 0;
  double max = 0;
};

/// Statistics of each of the number columns, over `rows`. Two passes, so that large offsets cost no digits. Any number
/// of threads gives the same bits.
std::vector<ColumnStatistics> ComputeStatistics(std::span<const Column* const> columns, std::span<const int64_t> rows);

/// The values of a number column in `rows`, without missing ones, ascending.
std::vector<double> SortedValues(const Column& column, std::span<const int64_t> rows);
/// The value with this share of the others below it, between two of them in proportion; of at least one value.
double QuantileOf(std::span<const double> ascending, double share);

/// What a column holds, for people to look at.
struct ColumnSummary {
  int64_t missing = 0;
  ColumnStatistics numbers;  // of number columns, without missing values
  int64_t categories = 0;    // of text columns
};

/// Summaries of every column, over all rows.
std::vector<ColumnSummary> SummarizeColumns(const Table& table);

/// A cell: position in `rows`, and in `columns`.
struct CellPosition {
  int64_t row = 0;
  int64_t column = 0;
};

/// The first missing cell in row order, if there is one.
std::optional<CellPosition> FindMissing(std::span<const Column* const> columns, std::span<const int64_t> rows);

/// The rows without a missing cell.
std::vector<int64_t> CompleteRows(std::span<const Column* const> columns, std::span<const int64_t> rows);

}  // namespace lamina
