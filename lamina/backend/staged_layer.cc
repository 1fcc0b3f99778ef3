// Copies to and from the device around a call.
#include "lamina/backend/staged_layer.h"

#include <algorithm>
#include <cstring>

namespace lamina {
namespace {

constexpr int64_t kSmallGap = 16;         // elements between rows that are copied along
constexpr int64_t kAlignment_bytes = 16;  // of the rows of other copies

// The slices of a large matrix are a small part of its rows: their copies hold nothing else.
int64_t StrideOfCopy(const ConstMatrixView& host) {
  const int64_t element = DTypeSize_bytes(host.dtype);
  return host.stride - host.cols <= kSmallGap
             ? host.stride
             : (host.cols * element + kAlignment_bytes - 1) / kAlignment_bytes * kAlignment_bytes / element;
}

// From the first element to behind the last one, rows `stride` elements apart.
int64_t SpanBytes(const ConstMatrixView& view, int64_t stride) {
  return view.empty() ? 0 : ((view.rows - 1) * stride + view.cols) * DTypeSize_bytes(view.dtype);
}

void CopyRows(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride,
              const ConstMatrixView& shape) {
  const int64_t element = DTypeSize_bytes(shape.dtype);
  for (int64_t row = 0; row < shape.rows; ++row) {
    std::memcpy(to + row * to_stride * element, from + row * from_stride * element,
                static_cast<size_t>(shape.cols * element));
  }
}

}  // namespace

Staging::Slot& Staging::Take(int64_t size_bytes) {
  if (next_ == slots_.size()) {
    slots_.emplace_back();
  }
  Slot& slot = slots_[next_++];
  if (slot.buffer == nullptr || slot.buffer->size_bytes() < size_bytes) {
    slot.buffer = nullptr;  // before the larger one is there
    slot.buffer = backend_->Allocate(size_bytes);
  }
  slot.out = {};
  return slot;
}

std::byte* Staging::Rows(int64_t size_bytes) {
  if (rows_.size_bytes() < size_bytes) {
    rows_ = AlignedBuffer(size_bytes);
  }
  return static_cast<std::byte*>(rows_.data());
}

ConstMatrixView Staging::In(const ConstMatrixView& host, bool unchanged) {
  if (!is_needed() || host.empty()) {
    return host;
  }
  ConstMatrixView device = host;
  device.stride = StrideOfCopy(host);
  device.space = backend_->space();
  const int64_t span_bytes = SpanBytes(host, device.stride);
  Slot& slot = Take(span_bytes);
  device.data = slot.buffer->data();
  if (unchanged) {
    return device;
  }
  const void* from = host.data;
  if (device.stride != host.stride) {
    std::byte* rows = Rows(span_bytes);
    CopyRows(rows, device.stride, static_cast<const std::byte*>(host.data), host.stride, host);
    from = rows;
  }
  backend_->Upload(slot.buffer->data(), from, span_bytes);
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
  MatrixView device = host;
  device.stride = StrideOfCopy(host);
  device.space = backend_->space();
  Slot& slot = Take(SpanBytes(host, device.stride));
  slot.out = host;
  slot.stride = device.stride;
  device.data = slot.buffer->data();
  return device;
}

void* Staging::InOut(void* host, int64_t size_bytes) {
  if (host == nullptr || !is_needed()) {
    return host;
  }
  void* device = Out(MatrixView{host, 1, size_bytes, size_bytes, DType::kU8, Space::kHost}).data;
  backend_->Upload(device, host, size_bytes);
  return device;
}

void Staging::Finish() {
  for (size_t i = 0; i < next_; ++i) {
    const MatrixView& host = slots_[i].out;
    if (host.empty()) {
      continue;
    }
    const int64_t span_bytes = SpanBytes(host, slots_[i].stride);
    if (host.stride == host.cols) {
      backend_->Download(host.data, slots_[i].buffer->data(), span_bytes);
    } else {  // what lies between the rows belongs to somebody else
      std::byte* rows = Rows(span_bytes);
      backend_->Download(rows, slots_[i].buffer->data(), span_bytes);
      CopyRows(static_cast<std::byte*>(host.data), host.stride, rows, slots_[i].stride, host);
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
    return ParameterArrays{staging_.InOut(host.value, count * element), staging_.InOut(host.gradient, count * element),
                           staging_.InOut(host.state0, count * element), staging_.InOut(host.state1, count * element)};
  };
  device.weights = arrays(args.weights, layer_.weight_count());
  device.bias = arrays(args.bias, layer_.outputs);
  prepared_->WeightGradient(device);
  staging_.Finish();
}

}  // namespace lamina
