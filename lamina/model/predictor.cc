// Rows through a network, layer by layer on one thread.
#include "lamina/model/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/row_forward.h"
#include "lamina/backend/host_backend.h"

namespace lamina {
namespace {

// Elements to whole cache lines.
int64_t PaddedBytes(int64_t elements, DType dtype) { return (elements * DTypeSize_bytes(dtype) + 63) / 64 * 64; }

}  // namespace

Predictor::Predictor(const Network& network)
    : layers_(network.layers()),
      offsets_(network.offsets()),
      dtype_(network.dtype()),
      parameters_(network.parameter_bytes()) {
  cpu::ApplyInstructionSets();
  std::memcpy(parameters_.data(), network.parameters(), static_cast<size_t>(network.parameter_bytes()));
  for (LayerSpec& layer : layers_) {
    radius_activations_.emplace_back();
    if (layer.trained_radius) {
      radius_activations_.back() = layer.activation.WithRadius(1);
      layer.activation = Activation();
      layer.trained_radius = false;
    }
    widest_ = std::max(widest_, layer.outputs);
  }
  scratch_bytes_ = 2 * PaddedBytes(widest_, dtype_);
}

void Predictor::PredictAt(const void* x, void* y, void* scratch) const noexcept {
  const auto at = [&](int64_t offset) {
    return static_cast<char*>(parameters_.data()) + offset * DTypeSize_bytes(dtype_);
  };
  auto* to = static_cast<char*>(scratch);
  auto* other = to + PaddedBytes(widest_, dtype_);
  for (size_t l = 0; l < layers_.size(); ++l) {
    const LayerSpec& layer = layers_[l];
    void* const a = l + 1 == layers_.size() ? y : to;
    ForwardArgs args;
    args.x = {x, 1, layer.inputs, layer.inputs, dtype_};
    args.weights = {at(offsets_[l].weights), layer.outputs, layer.inputs, layer.inputs, dtype_};
    args.bias = layer.bias ? at(offsets_[l].bias) : nullptr;
    args.a = {a, 1, layer.outputs, layer.outputs, dtype_};
    cpu::ForwardRows(layer, args);
    if (radius_activations_[l]) {
      RadiusForwardOnHost({args.a, at(offsets_[l].radius), &*radius_activations_[l], {}, args.a});
    }
    x = a;
    std::swap(to, other);
  }
}

RowPredictor::RowPredictor(const Model& model)
    : predictor_(model.network),
      columns_(model.network.inputs()),
      targets_(static_cast<size_t>(model.network.outputs())) {
  const Preprocessor& preprocessor = model.preprocessor;
  if (preprocessor.inputs().count() == 0) {
    return;
  }
  encoder_.emplace(preprocessor);
  columns_ = encoder_->columns();
  for (size_t j = 0; j < targets_.size() && preprocessor.targets().task() == Task::kRegression; ++j) {
    targets_[j] = preprocessor.targets().columns()[j].scaling;
  }
}

// The inputs and the outputs in the network's type stand before the predictor's own part.
int64_t RowPredictor::scratch_bytes() const {
  return PaddedBytes(predictor_.inputs(), predictor_.dtype()) + PaddedBytes(outputs(), predictor_.dtype()) +
         predictor_.scratch_bytes();
}

int64_t RowPredictor::Predict(const double* row, double* out, PredictorScratch& scratch) const noexcept {
  return DispatchFloat(predictor_.dtype(), [&]<class T>(T) -> int64_t {
    auto* x = static_cast<T*>(scratch.data());
    if (encoder_) {
      if (const int64_t bad = encoder_->Encode(row, x); bad >= 0) {
        return bad;
      }
    } else {
      std::copy_n(row, columns_, x);
    }
    T* const y = x + PaddedBytes(predictor_.inputs(), DTypeOf<T>()) / static_cast<int64_t>(sizeof(T));
    predictor_.PredictAt(x, y, y + PaddedBytes(outputs(), DTypeOf<T>()) / static_cast<int64_t>(sizeof(T)));
    const auto answer = [&](size_t j) { return targets_[j].Decode(static_cast<double>(y[j])); };
    bool finite = true;
    for (size_t j = 0; j < targets_.size(); ++j) {
      finite = finite && std::isfinite(answer(j));
    }
    for (size_t j = 0; j < targets_.size() && finite; ++j) {
      out[j] = answer(j);
    }
    return finite ? -1 : kNotFinite;
  });
}

}  // namespace lamina
