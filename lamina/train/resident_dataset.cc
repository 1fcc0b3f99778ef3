// Placing a data set for a backend.
#include "lamina/train/resident_dataset.h"

#include <vector>

namespace lamina {

ResidentDataset::ResidentDataset(const Dataset& dataset, const Backend& backend)
    : features_(Place(dataset.features, backend, feature_buffer_)),
      targets_(Place(dataset.targets, backend, target_buffer_)),
      is_classification_(!dataset.labels.empty()) {
  if (dataset.sample_weights.empty()) {
    return;
  }
  DispatchFloat(features_.dtype, [&]<class T>(T) {
    const std::vector<T> weights(dataset.sample_weights.begin(), dataset.sample_weights.end());
    const auto size_bytes = static_cast<int64_t>(weights.size() * sizeof(T));
    weight_buffer_ = backend.Allocate(size_bytes);
    backend.Upload(weight_buffer_->data(), weights.data(), size_bytes);
  });
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
