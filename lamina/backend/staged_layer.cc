// Copies to and from the device around a call.
#include "lamina/backend/staged_layer.h"

#include "lamina/backend/device_rows.h"

namespace lamina {

void Staging::RequireReach(Space space) const {
  if (space != Space::kHost && !is_needed()) {
    throw Error(ErrorCode::kInvalidArgument, "backend computes in host memory, and an operand is in a device's",
                {.value = std::string(backend_->name()), .remedy = "Use backend cuda, or copy the operand."});
  }
}

bool Staging::IsInPlace(Space space) {
  RequireReach(space);
  if (space == Space::kHost) {
    return !is_needed();
  }
  if (!in_place_) {
    backend_->AwaitOthers();
    in_place_ = true;
  }
  return true;
}

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

ConstMatrixView Staging::In(const ConstMatrixView& host) {
  if (host.empty() || IsInPlace(host.space)) {
    return host;
  }
  ConstMatrixView device = host;
  device.stride = StrideOfCopy(host);
  device.space = backend_->space();
  const int64_t span_bytes = SpanBytes(host, device.stride);
  Slot& slot = Take(span_bytes);
  device.data = slot.buffer->data();
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
  if (host.empty() || IsInPlace(host.space)) {
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
  if (in_place_) {
    backend_->Synchronize();
  }
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

void StagedLayer::Forward(const ForwardArgs& args) {
  if (!staged_) {
    for (const Space space : {args.x.space, args.weights.space, args.a.space, args.sums.space}) {
      staging_.RequireReach(space);
    }
    prepared_->Forward(args);
    return;
  }
  staging_.Begin();
  ForwardArgs device = args;
  device.weights = staging_.In(args.weights);
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
    ParameterArrays device_arrays{staging_.InOut(host.value, count * element),
                                  staging_.InOut(host.gradient, count * element)};
    for (int i = 0; i < kMostStates; ++i) {
      device_arrays.state[i] = staging_.InOut(host.state[i], count * element);
    }
    return device_arrays;
  };
  device.weights = arrays(args.weights, layer_.weight_count());
  device.bias = arrays(args.bias, layer_.outputs);
  prepared_->WeightGradient(device);
  staging_.Finish();
}

}  // namespace lamina
