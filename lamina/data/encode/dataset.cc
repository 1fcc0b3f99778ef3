// Rows that are in files.
#include "lamina/data/encode/dataset.h"

namespace lamina {

void Dataset::Release(int64_t begin, int64_t count) const {
  for (const std::shared_ptr<RowSource>& file : files) {
    file->Release(begin, count);
  }
}

}  // namespace lamina
