// Two-pass statistics and the search for missing cells, blocked so that columns of a row-major block share
// cache lines.
#include "lamina/data/encode/column_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lamina/base/hardware.h"
#include "lamina/base/team.h"
#include "lamina/data/encode/column_access.h"

namespace lamina {
namespace {

constexpr int64_t kColumnBlock = 16;  // of bytes: a quarter of a cache line of each row
constexpr int64_t kStatisticsRows = 256;
constexpr int64_t kParallelReads = 1 << 18;  // fewer are read before a second thread wakes up

// Calls fn(column index, rows of the tile) for blocks of columns in parallel, all tiles of a block in order. Columns in
// files are blocks of their own, which are gone from the memory behind.
template <class Fn>
void ForTiles(std::span<const Column* const> all, std::span<const int64_t> rows, Fn&& fn) {
  const auto count = static_cast<int64_t>(rows.size());
  const auto columns = static_cast<int64_t>(all.size());
  const int64_t width = !all.empty() && all[0]->mapping != nullptr ? 1 : kColumnBlock;
  const int threads = count * columns > kParallelReads ? UsualThreads() : 1;
  RunEach(threads, (columns + width - 1) / width, [&](int64_t index) {
    const int64_t block = index * width;
    const int64_t end = std::min(columns, block + width);
    for (int64_t begin = 0; begin < count; begin += kStatisticsRows) {
      const auto tile =
          rows.subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(kStatisticsRows, count - begin)));
      for (int64_t j = block; j < end; ++j) {
        fn(static_cast<size_t>(j), tile, begin);
      }
    }
    for (int64_t j = block; j < end; ++j) {
      all[static_cast<size_t>(j)]->Release();
    }
  });
}

// Calls fn(position in `rows`) for each missing cell until it returns false.
template <class Fn>
void ForMissing(const Column& column, std::span<const int64_t> rows, Fn&& fn) {
  if (column.kind == ColumnKind::kText) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (column.IsMissing(rows[i]) && !fn(i)) {
        return;
      }
    }
    return;
  }
  DispatchNumbers(column, [&](const auto* numbers) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto value = numbers[rows[i] * column.stride];
      if (value != value && !fn(i)) {  // NOLINT(misc-redundant-expression): a NaN; integers are none
        return;
      }
    }
  });
}

}  // namespace

std::vector<ColumnStatistics> ComputeStatistics(std::span<const Column* const> columns, std::span<const int64_t> rows) {
  std::vector<ColumnStatistics> all(columns.size());
  for (ColumnStatistics& s : all) {
    s.min = std::numeric_limits<double>::infinity();
    s.max = -s.min;
  }
  ForTiles(columns, rows, [&](size_t j, std::span<const int64_t> tile, int64_t) {
    DispatchNumbers(*columns[j], [&](const auto* numbers) {
      ColumnStatistics s = all[j];
      for (const int64_t row : tile) {
        const auto value = static_cast<double>(numbers[row * columns[j]->stride]);
        const bool present = value == value;
        s.count += present ? 1 : 0;
        s.mean += present ? value : 0;  // the sum, until the end of the pass
        s.min = value < s.min ? value : s.min;
        s.max = value > s.max ? value : s.max;
      }
      all[j] = s;
    });
  });
  for (ColumnStatistics& s : all) {
    s.mean = s.count == 0 ? 0 : s.mean / static_cast<double>(s.count);
    if (s.count == 0 || s.min == s.max) {
      s.mean = s.min = s.max = s.count == 0 ? 0 : s.min;
    }
  }
  ForTiles(columns, rows, [&](size_t j, std::span<const int64_t> tile, int64_t) {
    DispatchNumbers(*columns[j], [&](const auto* numbers) {
      double sum = all[j].deviation;
      for (const int64_t row : tile) {
        const double difference = static_cast<double>(numbers[row * columns[j]->stride]) - all[j].mean;
        sum += difference == difference ? difference * difference : 0;
      }
      all[j].deviation = sum;
    });
  });
  for (ColumnStatistics& s : all) {
    s.deviation = s.count == 0 ? 0 : std::sqrt(s.deviation / static_cast<double>(s.count));
  }
  return all;
}

std::vector<double> SortedValues(const Column& column, std::span<const int64_t> rows) {
  std::vector<double> values;
  values.reserve(rows.size());
  DispatchNumbers(column, [&](const auto* numbers) {
    for (const int64_t row : rows) {
      const auto value = static_cast<double>(numbers[row * column.stride]);
      if (value == value) {
        values.push_back(value);
      }
    }
  });
  std::sort(values.begin(), values.end());
  return values;
}

double QuantileOf(std::span<const double> ascending, double share) {
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = place - static_cast<double>(below);
  return ascending[below] == ascending[above] ? ascending[below]
                                              : (1 - part) * ascending[below] + part * ascending[above];
}

std::vector<ColumnSummary> SummarizeColumns(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  std::vector<const Column*> numbers;
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kNumber) {
      numbers.push_back(&column);
    }
  }
  const std::vector<ColumnStatistics> statistics = ComputeStatistics(numbers, rows);
  std::vector<ColumnSummary> summaries;
  size_t next = 0;
  for (const Column& column : table.columns) {
    ColumnSummary& summary = summaries.emplace_back();
    if (column.kind == ColumnKind::kNumber) {
      summary.numbers = statistics[next++];
      summary.missing = table.rows - summary.numbers.count;
    } else {
      summary.missing = std::count(column.codes.begin(), column.codes.end(), -1);
      summary.categories = std::ssize(column.categories);
    }
  }
  return summaries;
}

std::optional<CellPosition> FindMissing(std::span<const Column* const> columns, std::span<const int64_t> rows) {
  std::vector<int64_t> first(columns.size(), std::numeric_limits<int64_t>::max());
  ForTiles(columns, rows, [&](size_t j, std::span<const int64_t> tile, int64_t begin) {
    const Column& column = *columns[j];
    if (!CanBeMissing(column) || first[j] <= begin) {
      return;
    }
    ForMissing(column, tile, [&](size_t i) {
      first[j] = begin + static_cast<int64_t>(i);
      return false;
    });
  });
  const auto earliest = std::min_element(first.begin(), first.end());
  if (earliest == first.end() || *earliest == std::numeric_limits<int64_t>::max()) {
    return std::nullopt;
  }
  return CellPosition{*earliest, earliest - first.begin()};
}

std::vector<int64_t> CompleteRows(std::span<const Column* const> columns, std::span<const int64_t> rows) {
  std::vector<uint8_t> incomplete(rows.size());
  for (const Column* column : columns) {
    if (!CanBeMissing(*column)) {
      continue;
    }
    ForMissing(*column, rows, [&](size_t i) {
      incomplete[i] = 1;
      return true;
    });
    column->Release();
  }
  std::vector<int64_t> complete;
  complete.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (incomplete[i] == 0) {
      complete.push_back(rows[i]);
    }
  }
  return complete;
}

}  // namespace lamina
