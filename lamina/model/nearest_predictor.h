// Single answers of a model of nearest neighbors: the distances to all rows that it keeps, and the mean of the
// nearest.
#pragma once

#include <cstdint>

#include "lamina/backend/cpu/row_forward.h"
#include "lamina/base/buffer.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Immutable, with rows of its own: any number of threads may ask at once.
class NearestPredictor {
 public:
  /// `network`: as Model::nearest says; `k` > 0.
  NearestPredictor(const Network& network, int64_t k);

  /// For PredictAt(), 64-byte aligned.
  int64_t scratch_bytes() const { return scratch_bytes_; }

  /// y (outputs elements of the network's type) = the mean of the targets of the k rows nearest to x; of equally near
  /// ones, the lower index. These are the answers of NearestRows(), to the bit. NaN where fewer than k distances are
  /// finite. Allocates nothing.
  void PredictAt(const void* x, void* y, void* scratch) const noexcept;

 private:
  template <class T>
  void Answer(const T* x, T* y, char* scratch) const noexcept;

  int64_t k_;
  int64_t rows_;
  bool largest_;  // products: the largest is the nearest
  DType dtype_;
  cpu::RowLayer distances_;  // to the rows, and to zeros up to whole vectors
  Matrix targets_;           // rows × outputs
  int64_t near_at_ = 0;      // of scratch
  int64_t layer_at_ = 0;
  int64_t scratch_bytes_ = 0;
};

}  // namespace lamina
