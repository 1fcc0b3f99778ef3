// All distances at once, then a short list in order.
#include "lamina/model/nearest_predictor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "lamina/base/nan.h"

namespace lamina {
namespace {

template <class T>
struct NearRow {
  T distance;
  int64_t row;
};

int64_t ToLines(int64_t size_bytes) { return (size_bytes + 63) / 64 * 64; }

// Rows are padded to this number where they are read in panels. A sum then runs in the order of the inputs, as in the
// tiles that compare whole tables.
int64_t WholeVectors(int64_t rows, DType dtype) {
  return std::max(rows, cpu::kLeastRowVectors * 64 / DTypeSize_bytes(dtype));
}

cpu::RowLayer DistancesTo(ConstMatrixView kept, Synapse metric) {
  StoredWeights rows;
  rows.numbers = Matrix(WholeVectors(kept.rows, kept.dtype), kept.cols, kept.dtype);
  for (int64_t i = 0; i < kept.rows; ++i) {
    std::memcpy(rows.numbers.view().Rows(i, 1).data, kept.Rows(i, 1).data,
                static_cast<size_t>(kept.cols * DTypeSize_bytes(kept.dtype)));
  }
  // The square has the order of l2, without the ties that a root makes.
  const LayerSpec layer{kept.cols, rows.numbers.rows(), metric == Synapse::kL2 ? Synapse::kL2Squared : metric,
                        Activation(), /*bias=*/false};
  return {layer, kept.dtype, rows, nullptr};
}

}  // namespace

[[gnu::cold]] NearestPredictor::NearestPredictor(const Network& network, int64_t k)
    : k_(k),
      rows_(network.layers()[0].outputs),
      largest_(network.layers()[0].synapse == Synapse::kDot),
      dtype_(network.dtype()),
      distances_(DistancesTo(network.Weights(0), network.layers()[0].synapse)),
      targets_(rows_, network.outputs(), dtype_) {
  DispatchFloat(dtype_, [&]<class T>(T) {
    for (int64_t j = 0; j < network.outputs(); ++j) {
      for (int64_t i = 0; i < rows_; ++i) {
        targets_.Row<T>(i)[j] = network.Weights(1).Row<T>(j)[i];
      }
    }
    near_at_ = ToLines(WholeVectors(rows_, dtype_) * static_cast<int64_t>(sizeof(T)));
    layer_at_ = near_at_ + ToLines(k_ * static_cast<int64_t>(sizeof(NearRow<T>)));
  });
  scratch_bytes_ = layer_at_ + distances_.scratch_bytes();
}

template <class T>
void NearestPredictor::Answer(const T* x, T* y, char* scratch) const noexcept {
  auto* const distances = reinterpret_cast<T*>(scratch);
  auto* const near = reinterpret_cast<NearRow<T>*>(scratch + near_at_);
  distances_.Forward(x, 1, distances, scratch + layer_at_);
  const auto nearer = [this](T a, T b) { return largest_ ? a > b : a < b; };
  T limit = largest_ ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  int64_t found = 0;
  for (int64_t row = 0; row < rows_; ++row) {
    if (!nearer(distances[row], limit)) {
      continue;
    }
    found = std::min(found + 1, k_);
    int64_t place = found - 1;
    for (; place > 0 && nearer(distances[row], near[place - 1].distance); --place) {
      near[place] = near[place - 1];
    }
    near[place] = {distances[row], row};
    limit = found == k_ ? near[k_ - 1].distance : limit;
  }
  for (int64_t j = 0; j < targets_.cols(); ++j) {
    double sum = found < k_ ? kNaN : 0;
    for (int64_t n = 0; n < found; ++n) {
      sum += static_cast<double>(targets_.Row<T>(near[n].row)[j]);
    }
    y[j] = static_cast<T>(sum / static_cast<double>(k_));
  }
}

void NearestPredictor::PredictAt(const void* x, void* y, void* scratch) const noexcept {
  DispatchFloat(dtype_, [&]<class T>(T) {
    Answer<T>(static_cast<const T*>(x), static_cast<T*>(y), static_cast<char*>(scratch));
  });
}

}  // namespace lamina
