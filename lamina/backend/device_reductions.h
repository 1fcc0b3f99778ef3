// Products whose results are reduced while they are computed, and stay there. The counterpart of reductions.h for
// backends in a memory of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lamina/backend/backend.h"
#include "lamina/neuron/formulas.h"

namespace lamina {

/// The k nearest of many rows for each of some, in lists that stay where the distances are computed. Operands are in
/// host memory. One caller at a time; calls may throw Error(kResource | kUnsupported) of the device.
class NearestLists {
 public:
  virtual ~NearestLists() = default;
  /// Empty lists for these rows, at most the request's max_batch.
  virtual void Start(ConstMatrixView x) = 0;
  /// Rows that may be near, at most the layer's outputs; `first_index`, which ascends from call to call, is that of the
  /// first.
  virtual void Add(ConstMatrixView y, int64_t first_index) = 0;
  /// The k nearest of each row of x in order; of equally near ones, the lower
  /// index first. Indices are i64, sums of x's type (l2: the distance squared),
  /// both rows × k and dense. Where fewer were finite, the index is kNone.
  virtual void Finish(MatrixView indices, MatrixView sums) = 0;

  static constexpr int64_t kNone = -1;
};

/// Sums of activations over outputs that are kept and become more: those of a novelty pass. Operands are in host
/// memory; errors as NearestLists.
class ActivationSums {
 public:
  virtual ~ActivationSums() = default;
  /// Weights of further outputs.
  virtual void Append(ConstMatrixView rows) = 0;
  /// sums[i] += activations of row i of x, at most max_batch rows, at outputs [begin, begin + count), each as
  /// AsExactTerm().
  virtual void Add(ConstMatrixView x, int64_t begin, int64_t count, double* sums) = 0;
};

/// A layer and one of dot neurons over it, whose results alone are stored. Operands in the backend's memory.
struct TwoLayerArgs {
  ConstMatrixView x;               // batch × inputs
  ConstMatrixView hidden_weights;  // hidden × inputs
  const void* hidden_bias = nullptr;
  ConstMatrixView output_weights;  // outputs × hidden
  const void* output_bias = nullptr;
  MatrixView a;  // batch × outputs
};
class TwoLayers {
 public:
  virtual ~TwoLayers() = default;
  virtual void Forward(const TwoLayerArgs& args) noexcept = 0;
  virtual std::string Describe() const = 0;
};

/// A number from 0 to 1 as a multiple of 2^-40: sums of such up to 2^13 are exact in f64, in whatever order.
LAMINA_HD inline double AsExactTerm(double value) {
  constexpr double kShift = 4096;  // numbers above it are multiples of 2^-40
  return (value + kShift) - kShift;
}

/// What a backend is, too, if it can do these; null for what it cannot. Sums have the bits of a layer prepared with
/// any_slicing.
class ReducesOnDevice {
 public:
  virtual ~ReducesOnDevice() = default;
  /// Reads the sizes, the synapse and the type of the request's layer; 1 <= k <= 1024.
  virtual std::unique_ptr<NearestLists> PrepareNearest(const LayerPlanRequest& request, int64_t k) const = 0;
  /// Reads the inputs, the synapse, the type and the activation of the layer, which is from 0 to 1.
  virtual std::unique_ptr<ActivationSums> PrepareActivationSums(const LayerPlanRequest& request) const = 0;
  /// `output`: over hidden.layer.outputs inputs. Not with any_slicing: sums of activations depend on how they are cut.
  virtual std::unique_ptr<TwoLayers> PrepareTwoLayers(const LayerPlanRequest& hidden,
                                                      const LayerSpec& output) const = 0;
};

}  // namespace lamina
