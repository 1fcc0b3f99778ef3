// Rows that are in files, or sparse.
#include "lamina/data/encode/dataset.h"

#include "lamina/data/encode/sparse_rows.h"

namespace lamina {

int64_t Dataset::size() const { return sparse != nullptr ? sparse->rows() : features.rows(); }
int64_t Dataset::inputs() const { return sparse != nullptr ? sparse->cols() : features.cols(); }
DType Dataset::dtype() const { return sparse != nullptr ? sparse->dtype() : features.dtype(); }

void Dataset::Release(int64_t begin, int64_t count) const {
  for (const std::shared_ptr<RowSource>& file : files) {
    file->Release(begin, count);
  }
}

}  // namespace lamina
