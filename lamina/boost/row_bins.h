// Rows as lists of the bins that they are in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lamina/boost/column_bins.h"

namespace lamina {

/// Sums of rows over the bins of columns. The fullest bin of a column is in no list: its sum is what the others leave.
/// So inputs for all categories of a column cost what one of them costs.
class RowBins {
 public:
  struct Column {
    int64_t index = 0;
    int64_t begin = 0;  // of its bins among those of all columns seen
    int64_t bins = 0;
    int64_t fullest = 0;
  };

  /// `codes`: what BinsOf() says of `rows` rows. Columns are in a group a thread, as far as there are so many.
  RowBins(const ColumnBins& bins, const std::vector<uint8_t>& codes, int64_t rows, int threads);

  /// Those that have a cut, ascending.
  const std::vector<int64_t>& columns() const { return columns_; }

  /// Columns (some of columns(), ascending) that are summed over from now on.
  void See(const std::vector<int64_t>& columns, int threads);
  /// Bins of them all.
  int64_t bins() const { return bins_seen_; }
  int64_t groups() const { return std::ssize(groups_); }
  std::span<const Column> Seen(int64_t group) const { return groups_[static_cast<size_t>(group)].seen; }

  /// sums (bins() × width, those of the group 0 before) = sums of `numbers` (all rows × width) over the bins of the
  /// group's columns; total (width) += all of them.
  void Add(int64_t group, std::span<const int32_t> rows, const int32_t* numbers, int64_t width, int32_t* sums,
           int32_t* total) const;

 private:
  struct Lists {
    std::vector<uint16_t> bins;
    std::vector<int64_t> begin;  // of a row; rows + 1
  };
  struct Group {
    std::vector<Column> all;
    Lists lists;
    std::vector<Column> seen;
    Lists seen_lists;
  };

  static void List(const std::vector<uint8_t>& codes, int64_t rows, Group& group);
  static void Choose(const std::vector<uint8_t>& is_seen, Group& group);

  std::vector<int64_t> columns_;
  std::vector<Group> groups_;
  int64_t bins_seen_ = 0;
};

}  // namespace lamina
