// The order of training rows that are read from files: at random, and yet in pieces that lie together.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/base/random.h"

namespace lamina {

/// 0..rows - 1 in an order whose windows, `window_rows` each but the last, consist of few blocks of neighboring rows.
/// Blocks are shuffled, then the rows of each window. A row can come to any window; blocks decide which rows share a
/// window.
std::vector<int64_t> BlockOrder(int64_t rows, int64_t window_rows, Random random);

}  // namespace lamina
