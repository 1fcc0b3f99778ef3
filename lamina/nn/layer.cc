// One layer on its own, and pairwise distances.
#include "lamina/nn/layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"

namespace lamina {
namespace {

void RequireShape(const char* name, ConstMatrixView view, int64_t rows, int64_t cols, DType dtype) {
  if (view.rows != rows || view.cols != cols || view.dtype != dtype || view.stride < view.cols) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is {} x {} {}, but {} x {} {} is needed", name, view.rows, view.cols,
                            DTypeName(view.dtype), rows, cols, DTypeName(dtype)));
  }
}

}  // namespace

Layer::Layer(const LayerSpec& spec, const Backend& backend, int64_t max_batch, DType dtype)
    : spec_(spec), max_batch_(max_batch), dtype_(dtype) {
  if (spec.inputs < 0 || spec.outputs < 0 || max_batch < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a layer of {} neurons on {} inputs for {} rows", spec.outputs, spec.inputs, max_batch));
  }
  if (backend.space() != Space::kHost) {
    throw Error(ErrorCode::kUnsupported, "a layer on its own computes in host memory",
                {.value = std::string(backend.name())});
  }
  prepared_ = backend.Prepare({spec, dtype, max_batch, /*training=*/false});
}

void Layer::Forward(ConstMatrixView x, ConstMatrixView weights, const void* bias, MatrixView out) {
  if (x.rows > max_batch_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x has {} rows, the layer was planned for up to {}", x.rows, max_batch_));
  }
  RequireShape("x", x, x.rows, spec_.inputs, dtype_);
  RequireShape("the weights", weights, spec_.outputs, spec_.inputs, dtype_);
  RequireShape("the output", out, x.rows, spec_.outputs, dtype_);
  if ((bias != nullptr) != spec_.bias) {
    throw Error(ErrorCode::kInvalidArgument, spec_.bias ? "the layer needs a bias" : "the layer takes no bias");
  }
  ForwardArgs args;
  args.x = x;
  args.weights = weights;
  args.bias = bias;
  args.a = out;
  prepared_->Forward(args);
}

Matrix PairwiseDistance(ConstMatrixView x, ConstMatrixView w, Synapse metric, const Backend& backend) {
  if (x.cols != w.cols || x.dtype != w.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x is {} x {} {} and w is {} x {} {}: the columns and types must be the same", x.rows,
                            x.cols, DTypeName(x.dtype), w.rows, w.cols, DTypeName(w.dtype)));
  }
  Layer layer({x.cols, w.rows, metric, Activation(), /*bias=*/false}, backend, x.rows, x.dtype);
  Matrix distances(x.rows, w.rows, x.dtype);
  layer.Forward(x, w, nullptr, distances.view());
  return distances;
}

}  // namespace lamina
