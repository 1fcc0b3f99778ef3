// Copies to and from the device around a call.
#include "lamina/backend/staged_layer.h"

#include <algorithm>
#include <cstring>

namespace lamina {
namespace {

// From the first element to behind the last one.
int64_t SpanBytes(const ConstMatrixView& view) {
  return view.empty() ? 0 : ((view.rows - 1) * view.stride + view.cols) * DTypeSize_bytes(view.dtype);
}

}  // namespace

Staging::Slot& Staging::Take(int64_t size_bytes) {
  if (next_ == slots_.size()) {
    slots_.emplace_back();
  }
  Slot& slot = slots_[next_++];
  if (slot.buffer == nullptr || slot.buffer->size_bytes() < size_bytes) {
    slot.buffer = backend_->Allocate(size_bytes);
  }
  slot.out = {};
  return slot;
}

ConstMatrixView Staging::In(const ConstMatrixView& host, bool unchanged) {
  if (!is_needed() || host.empty()) {
    return host;
  }
  Slot& slot = Take(SpanBytes(host));
  if (!unchanged) {
    backend_->Upload(slot.buffer->data(), host.data, SpanBytes(host));
  }
  ConstMatrixView device = host;
  device.data = slot.buffer->data();
  device.space = backend_->space();
  return device;
}

const void* Staging::In(const void* host, int64_t size_bytes) {
  return host == nullptr ? nullptr
                         : In(ConstMatrixView{host, 1, size_bytes, size_bytes, DType::kU8, Space::kHost}).data;
}

MatrixView Staging::Out(const MatrixView& host) {
  if (!is_needed() || host.empty()) {
    return host;
  }
  Slot& slot = Take(SpanBytes(host));
  backend_->Upload(slot.buffer->data(), host.data, SpanBytes(host));
  slot.out = host;
  MatrixView device = host;
  device.data = slot.buffer->data();
  device.space = backend_->space();
  return device;
}

void* Staging::Out(void* host, int64_t size_bytes) {
  return host == nullptr ? nullptr : Out(MatrixView{host, 1, size_bytes, size_bytes, DType::kU8, Space::kHost}).data;
}

void Staging::Finish() {
  for (size_t i = 0; i < next_; ++i) {
    const MatrixView& host = slots_[i].out;
    if (host.empty()) {
      continue;
    }
    const int64_t span_bytes = SpanBytes(host);
    if (host.stride == host.cols) {
      backend_->Download(host.data, slots_[i].buffer->data(), span_bytes);
      continue;
    }
    // What lies between the rows belongs to somebody else.
    if (rows_.size_bytes() < span_bytes) {
      rows_ = AlignedBuffer(span_bytes);
    }
    backend_->Download(rows_.data(), slots_[i].buffer->data(), span_bytes);
    const int64_t element = DTypeSize_bytes(host.dtype);
    for (int64_t row = 0; row < host.rows; ++row) {
      const int64_t at = row * host.stride * element;
      std::memcpy(static_cast<char*>(host.data) + at, static_cast<const char*>(rows_.data()) + at,
                  static_cast<size_t>(host.cols * element));
    }
  }
}

StagedLayer::StagedLayer(const Backend& backend, const LayerPlanRequest& request)
    : prepared_(backend.Prepare(request)),
      staging_(backend),
      staged_(staging_.is_needed()),
      layer_(request.layer),
      dtype_(request.dtype) {}

void StagedLayer::Forward(const ForwardArgs& args, bool same_weights) {
  if (!staged_) {
    prepared_->Forward(args);
    return;
  }
  staging_.Begin();
  ForwardArgs device = args;
  device.weights = staging_.In(args.weights, same_weights);
  device.x = staging_.In(args.x);
  device.bias = staging_.In(args.bias, args.weights.rows * DTypeSize_bytes(OutputType(dtype_)));
  device.a = staging_.Out(args.a);
  device.z = staging_.Out(args.z);
  device.distance = staging_.Out(args.distance);
  device.sums = staging_.Out(args.sums);
  prepared_->Forward(device);
  staging_.Finish();
}

void StagedLayer::InputGradient(const InputGradientArgs& args) {
  if (!staged_) {
    prepared_->InputGradient(args);
    return;
  }
  staging_.Begin();
  InputGradientArgs device = args;
  device.delta = staging_.In(args.delta);
  device.weights = staging_.In(args.weights);
  device.x = staging_.In(args.x);
  device.previous_z = staging_.In(args.previous_z);
  device.distance = staging_.In(args.distance);
  device.out = staging_.Out(args.out);
  prepared_->InputGradient(device);
  staging_.Finish();
}

void StagedLayer::WeightGradient(const WeightGradientArgs& args) {
  if (!staged_) {
    prepared_->WeightGradient(args);
    return;
  }
  staging_.Begin();
  WeightGradientArgs device = args;
  device.x = staging_.In(args.x);
  device.delta = staging_.In(args.delta);
  device.distance = staging_.In(args.distance);
  const int64_t element = DTypeSize_bytes(dtype_);
  const auto arrays = [&](const ParameterArrays& host, int64_t count) {
    return ParameterArrays{staging_.Out(host.value, count * element), staging_.Out(host.gradient, count * element),
                           staging_.Out(host.state0, count * element), staging_.Out(host.state1, count * element)};
  };
  device.weights = arrays(args.weights, layer_.weight_count());
  device.bias = arrays(args.bias, layer_.outputs);
  prepared_->WeightGradient(device);
  staging_.Finish();
}

}  // namespace lamina
