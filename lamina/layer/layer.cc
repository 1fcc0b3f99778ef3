// One layer on its own, and pairwise distances.
#include "lamina/layer/layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/backend/staged_layer.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"

namespace lamina {
namespace {

// Distances are computed in pieces, with a stop point behind each.
constexpr int64_t kSynapsesOfPiece = int64_t{1} << 31;
constexpr int64_t kLeastRows = 192;
constexpr int64_t kLeastColumns = 512;

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

DType DistanceType(DType dtype, Synapse metric) {
  return IsInteger(dtype) && metric != Synapse::kL2 ? SumType(dtype) : OutputType(dtype);
}

void PairwiseDistances(ConstMatrixView x, ConstMatrixView w, Synapse metric, MatrixView out, const Backend& backend) {
  if (x.cols != w.cols || x.dtype != w.dtype) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x is {} x {} {} and w is {} x {} {}: the columns and types must be the same", x.rows,
                            x.cols, DTypeName(x.dtype), w.rows, w.cols, DTypeName(w.dtype)));
  }
  RequireShape("out", out, x.rows, w.rows, DistanceType(x.dtype, metric));
  // A device gets all at once: every call would copy w there.
  const bool whole = backend.space() != Space::kHost;
  const int64_t most_columns = std::max(kLeastColumns, kSynapsesOfPiece / kLeastRows / std::max<int64_t>(1, x.cols));
  const int64_t columns = whole ? w.rows : std::min(w.rows, most_columns);
  const int64_t most_rows = std::max(kLeastRows, kSynapsesOfPiece / std::max<int64_t>(1, columns * x.cols));
  const int64_t rows = whole ? x.rows : std::min(x.rows, most_rows);
  LayerPlanRequest request{{x.cols, columns, metric, Activation(), /*bias=*/false}, x.dtype, rows};
  request.any_slicing = true;
  if (IsInteger(x.dtype)) {
    request.largest_x = LargestMagnitude(x);
    request.largest_w = LargestMagnitude(w);
  }
  StagedLayer layer(backend, request);
  for (int64_t row = 0; row < x.rows; row += rows) {
    for (int64_t column = 0; column < w.rows; column += columns) {
      ForwardArgs args;
      args.x = x.Rows(row, std::min(rows, x.rows - row));
      args.weights = w.Rows(column, std::min(columns, w.rows - column));
      MatrixView part = out.Rows(row, args.x.rows);
      part.data = static_cast<std::byte*>(part.data) + column * DTypeSize_bytes(out.dtype);
      part.cols = args.weights.rows;
      (IsInteger(out.dtype) ? args.sums : args.a) = part;
      layer.Forward(args);
      StopPoint();
    }
  }
}

Matrix PairwiseDistance(ConstMatrixView x, ConstMatrixView w, Synapse metric, const Backend& backend) {
  Matrix distances(x.rows, w.rows, DistanceType(x.dtype, metric));
  PairwiseDistances(x, w, metric, distances.view(), backend);
  return distances;
}

}  // namespace lamina
