// Blocks, then rows.
#include "lamina/train/block_order.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace lamina {

std::vector<int64_t> BlockOrder(int64_t rows, int64_t window_rows, Random random) {
  constexpr int64_t kBlocks = 16;  // that make a window
  const int64_t block_rows = std::max<int64_t>(1, window_rows / kBlocks);
  std::vector<int64_t> blocks(static_cast<size_t>((rows + block_rows - 1) / block_rows));
  std::iota(blocks.begin(), blocks.end(), int64_t{0});
  random.Shuffle(std::span(blocks));
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(rows));
  for (const int64_t block : blocks) {
    for (int64_t row = block * block_rows; row < std::min(rows, (block + 1) * block_rows); ++row) {
      order.push_back(row);
    }
  }
  for (int64_t begin = 0; begin < rows; begin += window_rows) {
    const int64_t count = std::min(window_rows, rows - begin);
    random.Shuffle(std::span(order).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)));
  }
  return order;
}

}  // namespace lamina
