// Placing a data set for a backend.
#include "lamina/train/resident_dataset.h"

#include <algorithm>

namespace lamina {

Matrix WeightColumnOf(const Dataset& dataset) {
  if (dataset.sample_weights.empty()) {
    return {};
  }
  Matrix column(dataset.size(), 1, dataset.dtype());
  DispatchFloat(column.dtype(), [&]<class T>(T) {
    std::transform(dataset.sample_weights.begin(), dataset.sample_weights.end(), column.Row<T>(0),
                   [](double weight) { return static_cast<T>(weight); });
  });
  return column;
}

ResidentDataset::ResidentDataset(const Dataset& dataset, const Backend& backend)
    : features_(Place(dataset.features, backend, feature_buffer_)),
      targets_(Place(dataset.targets, backend, target_buffer_)),
      is_classification_(!dataset.labels.empty()) {
  if (const Matrix weights = WeightColumnOf(dataset); !weights.empty()) {
    const int64_t size_bytes = weights.rows() * DTypeSize_bytes(weights.dtype());
    weight_buffer_ = backend.Allocate(size_bytes);
    backend.Upload(weight_buffer_->data(), weights.data(), size_bytes);
  }
}

ConstMatrixView ResidentDataset::Place(const Matrix& matrix, const Backend& backend,
                                       std::unique_ptr<Buffer>& buffer) const {
  ConstMatrixView view = matrix.view();
  if (backend.space() != Space::kHost) {
    const int64_t size_bytes = view.rows * view.stride * DTypeSize_bytes(view.dtype);
    buffer = backend.Allocate(size_bytes);
    backend.Upload(buffer->data(), view.data, size_bytes);
    view.data = buffer->data();
    view.space = backend.space();
  }
  return view;
}

const void* ResidentDataset::WeightsAt(int64_t begin) const {
  return weight_buffer_ == nullptr
             ? nullptr
             : static_cast<const char*>(weight_buffer_->data()) + begin * DTypeSize_bytes(features_.dtype);
}

}  // namespace lamina
