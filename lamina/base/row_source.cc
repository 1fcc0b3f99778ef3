// What is asked of all rows, block by block.
#include "lamina/base/row_source.h"

#include <algorithm>

#include "lamina/base/convert.h"

namespace lamina {

double LargestMagnitude(RowSource& rows) {
  constexpr int64_t kBlock_bytes = 1 << 20;
  const int64_t block =
      std::max<int64_t>(1, kBlock_bytes / std::max<int64_t>(1, rows.cols() * DTypeSize_bytes(rows.dtype())));
  double largest = 0;
  for (int64_t begin = 0; begin < rows.rows(); begin += block) {
    const int64_t count = std::min(block, rows.rows() - begin);
    const double of_block = LargestMagnitude(rows.Rows(begin, count));
    if (of_block < 0) {
      return of_block;  // of a device: not looked at
    }
    largest = std::max(largest, of_block);
    rows.Release(begin, count);
  }
  return largest;
}

}  // namespace lamina
