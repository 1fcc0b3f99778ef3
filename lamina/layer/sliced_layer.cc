// The walk over slices.
#include "lamina/layer/sliced_layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/backend/streamed_layer.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

// A slice is computed in pieces of about this long. After each, finished rows start on their way to the disk, and the
// caller hears of the progress.
constexpr double kPiece_seconds = 0.1;
constexpr int64_t kFirstPieceRows = 96;
constexpr int64_t kLeastPieceRows = 96;  // the weights are packed again for each piece

std::string ShapeText(const RowSource& rows) {
  return fmt::format("{} x {} {}", rows.rows(), rows.cols(), DTypeName(rows.dtype()));
}

LayerPlanRequest RequestOf(const LayerSpec& layer, const SlicePlan& plan, DType dtype,
                           const SlicedLayerOptions& options) {
  LayerPlanRequest request;
  request.layer = layer;
  request.layer.outputs = plan.neurons;
  request.dtype = dtype;
  request.max_batch = plan.samples;
  request.precision = options.precision;
  request.any_slicing = true;
  request.largest_x = options.largest_x;
  request.largest_w = options.largest_w;
  return request;
}

}  // namespace

// What the pieces of one run share.
struct SlicedLayer::State {
  RowSource& x;
  RowSource& w;
  const void* bias;
  const SlicedOutput& out;
  const SliceCallbacks& callbacks;
  Stopwatch watch;
  double done = 0;  // results
  int64_t piece_rows = kFirstPieceRows;
};

SlicedLayer::SlicedLayer(const LayerSpec& layer, const Backend& backend, const SlicePlan& plan, DType dtype,
                         const SlicedLayerOptions& options)
    : layer_(layer),
      plan_(plan),
      dtype_(dtype),
      prepared_(std::make_unique<StreamedLayer>(backend, RequestOf(layer, plan, dtype, options))) {}

SlicedLayer::~SlicedLayer() = default;

std::string SlicedLayer::Describe() const { return prepared_->Describe(); }

void SlicedLayer::RequireShapes(const RowSource& x, const RowSource& w, const void* bias,
                                const SlicedOutput& out) const {
  if (x.cols() != w.cols() || x.dtype() != w.dtype()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x is {} and w is {}: the columns and types must be the same", ShapeText(x), ShapeText(w)));
  }
  if (x.rows() != plan_.batch || w.rows() != plan_.outputs || x.cols() != layer_.inputs || x.dtype() != dtype_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x is {} and w is {}, but {} x {} {} and {} x {} were planned", ShapeText(x), ShapeText(w),
                            plan_.batch, layer_.inputs, DTypeName(dtype_), plan_.outputs, layer_.inputs));
  }
  if (out.view.rows != plan_.batch || out.view.cols != plan_.outputs || out.view.dtype != OutputType(dtype_)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the output is {} x {} {}, but {} x {} {} is needed", out.view.rows, out.view.cols,
                            DTypeName(out.view.dtype), plan_.batch, plan_.outputs, DTypeName(OutputType(dtype_))));
  }
  if ((bias != nullptr) != layer_.bias) {
    throw Error(ErrorCode::kInvalidArgument, layer_.bias ? "the layer needs a bias" : "the layer takes no bias");
  }
}

bool SlicedLayer::RunSlice(State& state, int64_t sample, int64_t neuron) {
  const int64_t samples = std::min(plan_.samples, plan_.batch - sample);
  const int64_t neurons = std::min(plan_.neurons, plan_.outputs - neuron);
  const bool last_use = neuron + neurons == plan_.outputs;
  const int64_t out_bytes = DTypeSize_bytes(state.out.view.dtype);
  // The system may map more of an output row than a slice writes: whole rows of a piece stay within a slice's memory.
  const int64_t row_bytes = std::max<int64_t>(1, plan_.outputs * out_bytes);
  const int64_t most_rows =
      std::min(prepared_->LargestPiece(), std::max(kLeastPieceRows, plan_.slice_bytes / row_bytes / 48 * 48));
  const ConstMatrixView x = state.x.Rows(sample, samples);
  ForwardArgs args;
  args.weights = state.w.Rows(neuron, neurons);
  args.bias = state.bias == nullptr ? nullptr : static_cast<const std::byte*>(state.bias) + neuron * out_bytes;
  for (int64_t begin = 0; begin < samples;) {
    int64_t rows = std::min({state.piece_rows, most_rows, samples - begin});
    rows = samples - begin - rows < kLeastPieceRows ? samples - begin : rows;
    if (last_use) {
      state.x.Prefetch(sample + begin + rows, std::min(state.piece_rows, most_rows));
    }
    const double before = state.watch.Elapsed_seconds();
    args.x = x.Rows(begin, rows);
    args.a = state.out.view.Rows(sample + begin, rows);
    args.a.data = static_cast<std::byte*>(args.a.data) + neuron * out_bytes;
    args.a.cols = neurons;
    prepared_->Forward(
        args, /*same_weights=*/begin > 0,
        [this, &state, piece = SlicePiece{sample + begin, rows, neuron, neurons}] { PieceDone(state, piece); });
    if (last_use) {
      state.x.Release(sample + begin, rows);
    }
    begin += rows;
    const double now = state.watch.Elapsed_seconds();
    const double ideal = static_cast<double>(rows) * kPiece_seconds / std::max(1e-6, now - before);
    state.piece_rows = std::max(kLeastPieceRows, static_cast<int64_t>(std::min(ideal, 1e12)) / 48 * 48);
    StopPoint();
    if (state.callbacks.stop_requested && state.callbacks.stop_requested()) {
      return false;
    }
  }
  return true;
}

void SlicedLayer::PieceDone(State& state, const SlicePiece& piece) const {
  if (state.out.finished) {
    state.out.finished(piece);
  }
  state.done += static_cast<double>(piece.rows) * static_cast<double>(piece.neurons);
  if (state.callbacks.progress) {
    const double now = state.watch.Elapsed_seconds();
    const double share = state.done / (static_cast<double>(plan_.batch) * static_cast<double>(plan_.outputs));
    const double synapses = state.done * static_cast<double>(layer_.inputs);
    state.callbacks.progress({share, now, now / share - now, synapses / std::max(1e-9, now)});
  }
}

bool SlicedLayer::RunSlices(State& state) {
  for (int64_t sample = 0; sample < plan_.batch; sample += plan_.samples) {
    for (int64_t neuron = 0; neuron < plan_.outputs; neuron += plan_.neurons) {
      if (!RunSlice(state, sample, neuron)) {
        return false;
      }
      if (plan_.neurons < plan_.outputs) {
        state.w.Release(neuron, std::min(plan_.neurons, plan_.outputs - neuron));
      }
    }
  }
  return true;
}

bool SlicedLayer::Run(RowSource& x, RowSource& w, const void* bias, const SlicedOutput& out,
                      const SliceCallbacks& callbacks) {
  RequireShapes(x, w, bias, out);
  State state{x, w, bias, out, callbacks, Stopwatch(), 0, kFirstPieceRows};
  bool complete = false;
  try {
    complete = RunSlices(state);
    prepared_->Finish();
  } catch (...) {
    prepared_->Abandon();  // nobody may write into `out` or hear of it from now on
    throw;
  }
  w.Release(0, plan_.outputs);
  return complete;
}

}  // namespace lamina
