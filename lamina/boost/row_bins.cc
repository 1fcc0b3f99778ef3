// Lists of all columns, made once, from which those of the columns seen are taken.
#include "lamina/boost/row_bins.h"

#include <algorithm>
#include <array>
#include <limits>

#include "lamina/backend/cpu/tree_kernels.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr uint16_t kUnseen = std::numeric_limits<uint16_t>::max();

std::span<const uint8_t> CodesOf(const std::vector<uint8_t>& codes, int64_t column, int64_t rows) {
  return std::span(codes).subspan(static_cast<size_t>(column * rows), static_cast<size_t>(rows));
}

}  // namespace

RowBins::RowBins(const ColumnBins& bins, const std::vector<uint8_t>& codes, int64_t rows, int threads) {
  std::vector<Column> columns(static_cast<size_t>(bins.columns()));
  std::vector<int64_t> listed(columns.size(), 0);  // rows
  RunEach(threads, bins.columns(), [&](int64_t j) {
    std::array<int64_t, ColumnBins::kMost> rows_of{};
    for (const uint8_t code : CodesOf(codes, j, rows)) {
      ++rows_of[code];
    }
    const auto fullest = std::ranges::max_element(rows_of);
    columns[static_cast<size_t>(j)] = {j, 0, std::ssize(bins.cuts[static_cast<size_t>(j)]) + 1,
                                       fullest - rows_of.begin()};
    listed[static_cast<size_t>(j)] = rows - *fullest;
  });
  int64_t all_listed = 0;
  for (const Column& column : columns) {
    if (column.bins > 1) {
      columns_.push_back(column.index);
      all_listed += listed[static_cast<size_t>(column.index)];
    }
  }
  int64_t in_group = 0;
  int64_t bins_of_group = 0;
  for (const int64_t j : columns_) {
    Column column = columns[static_cast<size_t>(j)];
    const bool full = bins_of_group + column.bins > kUnseen || in_group * threads >= all_listed;
    if (groups_.empty() || (full && in_group > 0)) {
      groups_.emplace_back();
      in_group = bins_of_group = 0;
    }
    column.begin = bins_of_group;
    groups_.back().all.push_back(column);
    in_group += listed[static_cast<size_t>(j)];
    bins_of_group += column.bins;
  }
  RunEach(threads, groups(), [&](int64_t g) { List(codes, rows, groups_[static_cast<size_t>(g)]); });
}

void RowBins::List(const std::vector<uint8_t>& codes, int64_t rows, Group& group) {
  std::vector<int64_t>& begin = group.lists.begin;
  begin.assign(static_cast<size_t>(rows + 1), 0);
  const auto each = [&](const auto& fn) {
    for (const Column& column : group.all) {
      const std::span<const uint8_t> of_column = CodesOf(codes, column.index, rows);
      for (size_t i = 0; i < of_column.size(); ++i) {
        if (of_column[i] != column.fullest) {
          fn(i, column.begin + of_column[i]);
        }
      }
    }
  };
  each([&](size_t row, int64_t) { ++begin[row + 1]; });
  for (size_t i = 1; i < begin.size(); ++i) {
    begin[i] += begin[i - 1];
  }
  group.lists.bins.resize(static_cast<size_t>(begin.back()));
  std::vector<int64_t> next(begin.begin(), begin.end() - 1);
  each([&](size_t row, int64_t bin) {
    group.lists.bins[static_cast<size_t>(next[row]++)] = static_cast<uint16_t>(bin);
  });
}

void RowBins::See(const std::vector<int64_t>& columns, int threads) {
  std::vector<uint8_t> is_seen(static_cast<size_t>(columns_.empty() ? 0 : columns_.back() + 1), 0);
  for (const int64_t column : columns) {
    is_seen[static_cast<size_t>(column)] = 1;
  }
  RunEach(threads, groups(), [&](int64_t g) { Choose(is_seen, groups_[static_cast<size_t>(g)]); });
  bins_seen_ = 0;
  for (Group& group : groups_) {
    for (Column& column : group.seen) {
      column.begin = bins_seen_;
      bins_seen_ += column.bins;
    }
  }
}

// Columns whose places count from the first of the group.
void RowBins::Choose(const std::vector<uint8_t>& is_seen, Group& group) {
  group.seen.clear();
  int64_t bins = 0;
  std::vector<uint16_t> place;  // of each bin of the group
  for (const Column& column : group.all) {
    const bool seen = is_seen[static_cast<size_t>(column.index)] != 0;
    for (int64_t b = 0; b < column.bins; ++b) {
      place.push_back(seen ? static_cast<uint16_t>(bins + b) : kUnseen);
    }
    if (seen) {
      group.seen.push_back(column);
      bins += column.bins;
    }
  }
  const Lists& from = group.lists;
  Lists& to = group.seen_lists;
  if (group.seen.size() == group.all.size()) {
    return;  // they are the lists
  }
  to.bins.resize(from.bins.size());
  to.begin.resize(from.begin.size());
  uint16_t* next = to.bins.data();
  for (size_t i = 0; i + 1 < from.begin.size(); ++i) {
    to.begin[i] = next - to.bins.data();
    for (int64_t e = from.begin[i]; e < from.begin[i + 1]; ++e) {
      *next = place[from.bins[static_cast<size_t>(e)]];
      next += *next != kUnseen ? 1 : 0;
    }
  }
  to.begin.back() = next - to.bins.data();
}

void RowBins::Add(int64_t group, std::span<const int32_t> rows, const int32_t* numbers, int64_t width, int32_t* sums,
                  int32_t* total) const {
  const Group& of = groups_[static_cast<size_t>(group)];
  if (of.seen.empty()) {
    return;
  }
  const Lists& lists = of.seen.size() == of.all.size() ? of.lists : of.seen_lists;
  const cpu::TreeTable& kernels = cpu::TreeKernels();
  int32_t* const first = sums + of.seen[0].begin * width;
  kernels.add_rows(
      {lists.bins.data(), lists.begin.data(), rows.data(), std::ssize(rows), numbers, width, first, total});
  for (const Column& column : of.seen) {
    kernels.complete(sums + column.begin * width, column.bins, width, column.fullest, total);
  }
}

}  // namespace lamina
