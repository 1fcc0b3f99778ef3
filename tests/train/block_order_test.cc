// The order of rows that are read from files: every row once, windows of few blocks, at random.
#include "lamina/train/block_order.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "gtest/gtest.h"

namespace lamina {
namespace {

TEST(BlockOrder, EveryRowOnceInWindowsOfFewBlocks) {
  for (const int64_t rows : {1, 100, 1000, 12345}) {
    for (const int64_t window : {1, 7, 160, 1600}) {
      const std::vector<int64_t> order = BlockOrder(rows, window, Random(3, 5));
      std::vector<int64_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      std::vector<int64_t> all(static_cast<size_t>(rows));
      std::iota(all.begin(), all.end(), int64_t{0});
      ASSERT_EQ(sorted, all) << rows << " " << window;
      const int64_t block = std::max<int64_t>(1, window / 16);
      for (int64_t begin = 0; begin < rows; begin += window) {
        std::set<int64_t> blocks;
        for (int64_t i = begin; i < std::min(rows, begin + window); ++i) {
          blocks.insert(order[static_cast<size_t>(i)] / block);
        }
        ASSERT_LE(std::ssize(blocks), window / block + 3) << rows << " " << window;
      }
    }
  }
}

TEST(BlockOrder, IsBySeedAndDifferentEachTime) {
  EXPECT_EQ(BlockOrder(5000, 640, Random(1, 2)), BlockOrder(5000, 640, Random(1, 2)));
  EXPECT_NE(BlockOrder(5000, 640, Random(1, 2)), BlockOrder(5000, 640, Random(1, 3)));
  // A row comes to any window: of 40 epochs the first row is in one of 8 windows each.
  std::set<int64_t> windows;
  for (uint64_t epoch = 0; epoch < 40; ++epoch) {
    const std::vector<int64_t> order = BlockOrder(5000, 640, Random(1, epoch));
    windows.insert((std::find(order.begin(), order.end(), 0) - order.begin()) / 640);
  }
  EXPECT_EQ(windows.size(), 8U);
}

}  // namespace
}  // namespace lamina
