// Lists of bins: sums of every bin, of chosen columns, in any number of groups.
#include "lamina/boost/row_bins.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

struct Table {
  ColumnBins bins;
  std::vector<uint8_t> codes;
  int64_t rows = 0;
};

// Columns of 1 to `most` bins. Every third has one bin for most rows, as an input for a category has.
Table RandomTable(int64_t rows, int64_t columns, int64_t most, uint64_t seed) {
  Random random(seed);
  Table table;
  table.rows = rows;
  for (int64_t j = 0; j < columns; ++j) {
    const uint64_t bins = 1 + random.Below(static_cast<uint64_t>(most));
    table.bins.cuts.emplace_back(bins - 1);
    const uint64_t usual = random.Below(bins);
    for (int64_t i = 0; i < rows; ++i) {
      const bool is_usual = j % 3 == 0 && random.Below(10) > 0;
      table.codes.push_back(static_cast<uint8_t>(is_usual ? usual : random.Below(bins)));
    }
  }
  return table;
}

void ExpectSums(const Table& table, const RowBins& bins, const std::vector<int64_t>& seen) {
  constexpr int64_t kWidth = 4;
  Random random(3);
  std::vector<int32_t> numbers(static_cast<size_t>(table.rows * kWidth));
  std::generate(numbers.begin(), numbers.end(), [&] { return static_cast<int32_t>(random.Below(100)); });
  std::vector<int32_t> rows;
  for (int32_t i = 1; i < table.rows; i += 1 + static_cast<int32_t>(random.Below(3))) {
    rows.push_back(i);
  }
  std::vector<int32_t> sums(static_cast<size_t>(bins.bins() * kWidth), 0);
  std::vector<int64_t> met;
  int64_t bins_met = 0;
  for (int64_t g = 0; g < bins.groups(); ++g) {
    std::vector<int32_t> total(kWidth, 0);
    bins.Add(g, rows, numbers.data(), kWidth, sums.data(), total.data());
    for (const RowBins::Column& column : bins.Seen(g)) {
      met.push_back(column.index);
      EXPECT_EQ(column.begin, bins_met);
      EXPECT_EQ(column.bins, std::ssize(table.bins.cuts[static_cast<size_t>(column.index)]) + 1);
      bins_met += column.bins;
      std::vector<int32_t> wanted(static_cast<size_t>(column.bins * kWidth), 0);
      for (const int32_t row : rows) {
        const int64_t bin = table.codes[static_cast<size_t>(column.index * table.rows + row)];
        for (int64_t k = 0; k < kWidth; ++k) {
          wanted[static_cast<size_t>(bin * kWidth + k)] += numbers[static_cast<size_t>(row * kWidth + k)];
        }
      }
      ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), sums.begin() + column.begin * kWidth)) << column.index;
    }
  }
  EXPECT_EQ(met, seen);
  EXPECT_EQ(bins_met, bins.bins());
}

TEST(RowBins, SumEveryBinOfTheColumnsSeen) {
  const Table table = RandomTable(200, 31, 20, 1);
  for (const int threads : {1, 2, 3, 100}) {
    RowBins bins(table.bins, table.codes, table.rows, threads);
    EXPECT_LE(bins.groups(), threads);
    for (const int64_t column : bins.columns()) {
      EXPECT_FALSE(table.bins.cuts[static_cast<size_t>(column)].empty());
    }
    bins.See(bins.columns(), threads);
    ExpectSums(table, bins, bins.columns());
    Random random(2);
    for (int i = 0; i < 4; ++i) {
      std::vector<int64_t> seen;
      std::copy_if(bins.columns().begin(), bins.columns().end(), std::back_inserter(seen),
                   [&](int64_t) { return random.Below(3) == 0; });
      bins.See(seen, threads);
      ExpectSums(table, bins, seen);
    }
    bins.See({}, threads);
    EXPECT_EQ(bins.bins(), 0);
  }
}

TEST(RowBins, MoreBinsThanANumberOfSixteenBits) {
  Table table = RandomTable(40, 700, 256, 4);
  RowBins bins(table.bins, table.codes, table.rows, 1);
  EXPECT_GT(bins.groups(), 1);
  bins.See(bins.columns(), 1);
  EXPECT_GT(bins.bins(), 65536);
  ExpectSums(table, bins, bins.columns());
}

}  // namespace
}  // namespace lamina
