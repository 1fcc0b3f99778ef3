// A row of sums is told by its numbers: each is the sum or the mean of its column.
#include "lamina/data/files/csv_sums.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace lamina {
namespace {

// Whether the last number of `column` is the sum or the mean of those above. `tells`: the sum, as it is not by chance.
bool LastIsOfAll(const Column& column, int64_t rows, bool& tells) {
  constexpr double kOfSum = 1e-6;
  constexpr double kOfMean = 1e-3;  // which is rounded
  constexpr size_t kLeastDifferent = 5;
  const double last = column.Number(rows - 1);
  double sum = 0;
  double size = 0;
  double largest = 0;
  int64_t count = 0;
  std::set<double> different;
  for (int64_t row = 0; row + 1 < rows; ++row) {
    const double value = column.Number(row);
    if (std::isnan(value)) {
      continue;
    }
    sum += value;
    size += std::abs(value);
    largest = std::max(largest, std::abs(value));
    ++count;
    if (different.size() < kLeastDifferent) {
      different.insert(value);
    }
  }
  column.Release();
  if (count > 0 && std::abs(last - sum) <= kOfSum * size) {
    tells = tells || (different.size() == kLeastDifferent && std::abs(last) > largest);
    return true;
  }
  const double mean = sum / static_cast<double>(count);
  return count > 0 && std::abs(last - mean) <= kOfMean * std::abs(mean);
}

// Whether the last row has another word or nothing where the rows above have something.
bool LastIsOdd(const Column& column, int64_t rows) {
  const int64_t last = rows - 1;
  if (column.kind == ColumnKind::kText && !column.IsMissing(last)) {
    const int32_t code = column.codes[static_cast<size_t>(last)];
    return std::find(column.codes.begin(), column.codes.end(), code) == column.codes.begin() + last;
  }
  return column.IsMissing(last);
}

// Whether the last of the first `rows` rows has the sums of those above.
bool HasSums(const Table& table, int64_t rows) {
  bool tells = false;
  bool odd = false;
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kNumber && !column.is_date && !column.IsMissing(rows - 1)) {
      if (!LastIsOfAll(column, rows, tells)) {
        return false;
      }
    } else {
      odd = odd || LastIsOdd(column, rows);
    }
  }
  return tells && odd;
}

// What stands in a row; words in a column of numbers are none of it.
struct CellsInRow {
  int64_t filled = 0;
  int64_t numbers = 0;  // and dates
};
CellsInRow CellsOfRow(const Table& table, int64_t row) {
  CellsInRow cells;
  for (const Column& column : table.columns) {
    if (!column.IsMissing(row)) {
      ++cells.filled;
      cells.numbers += column.kind == ColumnKind::kNumber ? 1 : 0;
    }
  }
  return cells;
}

}  // namespace

int64_t FirstFilledRow(const Table& table, int64_t row) {
  for (++row; row < table.rows; ++row) {
    if (CellsOfRow(table, row).filled > 0) {
      return row;
    }
  }
  return -1;
}

int64_t RowOfSums(const Table& table) {
  constexpr int64_t kLeastRows = 6;
  constexpr int64_t kMostNotes = 30;
  const int64_t least = std::max(kLeastRows, table.rows - kMostNotes);
  for (int64_t rows = table.rows; rows >= least; --rows) {
    if (HasSums(table, rows)) {
      return rows - 1;
    }
    if (const CellsInRow cells = CellsOfRow(table, rows - 1); cells.filled > 1 || cells.numbers > 0) {
      return -1;
    }
  }
  return -1;
}

}  // namespace lamina
