// A layer computed slice by slice, inputs, weights and outputs of any size.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/base/row_source.h"
#include "lamina/layer/slices.h"

namespace lamina {

class StreamedLayer;

/// Results that nobody writes for now.
struct SlicePiece {
  int64_t begin = 0;  // the first sample
  int64_t rows = 0;
  int64_t neuron = 0;  // the first of them
  int64_t neurons = 0;
};

/// Where results go: batch × outputs of OutputType(), and who is told about those that are complete.
struct SlicedOutput {
  MatrixView view;
  std::function<void(const SlicePiece&)> finished;
};

struct SliceProgress {
  double share = 0;  // done, 0 to 1
  double seconds = 0;
  double seconds_left = 0;
  double synapses_per_second = 0;
};

struct SliceCallbacks {
  std::function<void(const SliceProgress&)> progress;  // some times a second
  std::function<bool()> stop_requested;                // asked as often
};

struct SlicedLayerOptions {
  Precision precision = Precision::kExact;
  double largest_x = -1;  // of integers, as in LayerPlanRequest
  double largest_w = -1;
};

/// Prepared once for the largest slice. Every result has the same bits whatever the plan and the number of threads. On
/// a GPU, which must outlive it, slices are copied in both directions while others are computed. One caller at a time.
class SlicedLayer {
 public:
  /// Throws Error(kUnsupported) with the backend's reason.
  SlicedLayer(const LayerSpec& layer, const Backend& backend, const SlicePlan& plan, DType dtype,
              const SlicedLayerOptions& options = {});
  ~SlicedLayer();

  /// out = activation(synapse(x, w) + bias), samples slice by slice and neurons within them. x: batch × inputs; w:
  /// outputs × inputs. bias: outputs elements of the output's type, or null. Rows of x and w are released when a slice
  /// is done with them. Throws Error(kInvalidArgument) naming both shapes where they do not fit. Returns false where
  /// stop_requested() ended it early.
  bool Run(RowSource& x, RowSource& w, const void* bias, const SlicedOutput& out, const SliceCallbacks& callbacks = {});

  const LayerSpec& layer() const { return layer_; }
  const SlicePlan& plan() const { return plan_; }
  std::string Describe() const;

 private:
  struct State;
  void RequireShapes(const RowSource& x, const RowSource& w, const void* bias, const SlicedOutput& out) const;
  bool RunSlices(State& state);
  bool RunSlice(State& state, int64_t sample, int64_t neuron);
  void PieceDone(State& state, const SlicePiece& piece) const;

  LayerSpec layer_;
  SlicePlan plan_;
  DType dtype_;
  std::unique_ptr<StreamedLayer> prepared_;
};

}  // namespace lamina
