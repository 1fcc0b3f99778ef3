// One layer on its own: planned once, run many times; and distances between all pairs of two sets of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/neuron/problem.h"

namespace lamina {

class StagedLayer;

/// A layer prepared on a backend. On a CPU, Forward() allocates nothing, and `backend` may go before the layer; a GPU,
/// which gets copies of the operands, must outlive it. One caller at a time.
class Layer {
 public:
  /// Throws Error(kInvalidArgument) for impossible sizes, Error(kUnsupported) with the backend's reason. Integer sums
  /// that may not fit are refused, too: `largest_x` and `largest_w` of the request state smaller magnitudes.
  Layer(const LayerPlanRequest& request, const Backend& backend);
  Layer(const LayerSpec& spec, const Backend& backend, int64_t max_batch, DType dtype = DType::kF32)
      : Layer(LayerPlanRequest{spec, dtype, max_batch}, backend) {}
  Layer(Layer&&) noexcept;
  Layer& operator=(Layer&&) noexcept;
  ~Layer();

  /// out = activation(synapse(x, weights) + bias). Matrices are in host memory or the backend's own (Space), `bias` in
  /// host memory. x is rows × inputs and weights outputs × inputs of the layer's type, out rows × outputs of its
  /// OutputType(). Any strides; rows up to max_batch. bias: outputs elements of OutputType(), or null for a layer
  /// without. `out` must not overlap the others. Throws Error(kInvalidArgument) naming both shapes where they do not
  /// fit.
  void Forward(ConstMatrixView x, ConstMatrixView weights, const void* bias, MatrixView out);

  const LayerSpec& spec() const { return request_.layer; }
  std::string Describe() const;

 private:
  LayerPlanRequest request_;
  std::unique_ptr<StagedLayer> prepared_;
};

/// The type of distances between rows of `dtype`: OutputType(); of integers, whose sums are exact, SumType(), but for
/// l2.
DType DistanceType(DType dtype, Synapse metric);

/// Distances by `metric` (l1, l2, l2sq; dot gives products) between every row of x and of w. `out`: rows of x × rows of
/// w of DistanceType(). x and w have one type and equally many columns, else Error(kInvalidArgument);
/// Error(kUnsupported) where integer sums might not fit. Has stop points (base/stop.h).
void PairwiseDistances(ConstMatrixView x, ConstMatrixView w, Synapse metric, MatrixView out, const Backend& backend);

/// The same in a matrix of its own.
Matrix PairwiseDistance(ConstMatrixView x, ConstMatrixView w, Synapse metric, const Backend& backend);

}  // namespace lamina
