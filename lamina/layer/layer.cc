// One layer on its own, and pairwise distances.
#include "lamina/layer/layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/backend/staged_layer.h"
#include "lamina/base/convert.h"
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

LayerPlanRequest Checked(const LayerPlanRequest& request) {
  const LayerSpec& layer = request.layer;
  if (layer.inputs < 0 || layer.outputs < 0 || request.max_batch < 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a layer of {} neurons on {} inputs for {} rows",
                                                         layer.outputs, layer.inputs, request.max_batch));
  }
  return request;
}

}  // namespace

Layer::Layer(const LayerPlanRequest& request, const Backend& backend)
    : request_(Checked(request)), prepared_(std::make_unique<StagedLayer>(backend, request)) {}

Layer::Layer(Layer&&) noexcept = default;
Layer& Layer::operator=(Layer&&) noexcept = default;
Layer::~Layer() = default;

std::string Layer::Describe() const { return prepared_->Describe(); }

void Layer::Forward(ConstMatrixView x, ConstMatrixView weights, const void* bias, MatrixView out) {
  if (x.rows > request_.max_batch) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x has {} rows, the layer was planned for up to {}", x.rows, request_.max_batch));
  }
  RequireShape("x", x, x.rows, spec().inputs, request_.dtype);
  RequireShape("the weights", weights, spec().outputs, spec().inputs, request_.dtype);
  RequireShape("the output", out, x.rows, spec().outputs, OutputType(request_.dtype));
  if ((bias != nullptr) != spec().bias) {
    throw Error(ErrorCode::kInvalidArgument, spec().bias ? "the layer needs a bias" : "the layer takes no bias");
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
  LayerPlanRequest request{{x.cols, w.rows, metric, Activation(), /*bias=*/false}, x.dtype, x.rows};
  const bool sums = IsInteger(x.dtype) && metric != Synapse::kL2;
  if (IsInteger(x.dtype)) {
    request.largest_x = LargestMagnitude(x);
    request.largest_w = LargestMagnitude(w);
  }
  Matrix distances(x.rows, w.rows, sums ? SumType(x.dtype) : OutputType(x.dtype));
  ForwardArgs args;
  args.x = x;
  args.weights = w;
  (sums ? args.sums : args.a) = distances.view();
  StagedLayer(backend, request).Forward(args);
  return distances;
}

}  // namespace lamina
