// Elementwise: what the stages of a network (nn/stage.h) need of a backend beside layers. All arrays are in the
// backend's memory, of f32 or f64, and densely stored where nothing else is said.
#pragma once

#include <cmath>
#include <cstdint>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/activation.h"
#include "lamina/neuron/update_rule.h"

namespace lamina {

/// A parameter array with its gradient and optimizer state, all of one length and element type.
struct ParameterArrays {
  void* value = nullptr;
  void* gradient = nullptr;
  void* state[kMostStates] = {};  // null where the rule has no such state
};

/// Neurons with a radius each, after a layer of identity activation: u = distance / radius, a = activation(u).
struct RadiusForwardArgs {
  ConstMatrixView distance;                // batch × outputs; may be the memory of u or of a
  const void* radii = nullptr;             // outputs, of a's type
  const Activation* activation = nullptr;  // of radius 1
  MatrixView u;                            // batch × outputs, written where not empty
  MatrixView a;                            // batch × outputs
};

/// Back through u = distance / radius: ∂E/∂distance = ∂E/∂u / radius and ∂E/∂radius = -Σ over the batch of
/// u ∂E/∂distance. With a rule the radii are updated (without decay, as a bias) and kept at or above smallest_radius.
struct RadiusBackwardArgs {
  ConstMatrixView u;                 // batch × outputs, of RadiusForward
  MatrixView delta;                  // batch × outputs: ∂E/∂u, replaced by ∂E/∂distance
  ParameterArrays radii;             // outputs
  const UpdateRule* rule = nullptr;  // null: only compute the gradient
  double smallest_radius = 0;
};

/// What a normalized layer has beside its weights, each array of its outputs.
struct NormalizationArrays {
  void* gamma = nullptr;
  void* beta = nullptr;
  void* mean = nullptr;  // running statistics
  void* variance = nullptr;
};

/// A normalized layer of a training step, after z = V x. By each column's statistics in the batch, z becomes (z - mean)
/// / √(variance + ε), then y = γ z + β and a = activation(y). A batch of one row takes the running statistics.
struct NormalizeForwardArgs {
  MatrixView z;  // batch × outputs
  NormalizationArrays arrays;
  /// That the batch has in the running statistics, which keep the rest; their variance is the unbiased one. 0: left
  /// alone.
  double share = 0;
  bool keeps_answers = false;  // γ and β follow the running statistics: answers stay
  const Activation* activation = nullptr;
  void* inverse = nullptr;  // outputs: 1 / √(variance + ε)
  MatrixView y;             // batch × outputs, written where not empty
  MatrixView a;             // batch × outputs
};

/// Back through it.
struct NormalizeBackwardArgs {
  ConstMatrixView z;  // batch × outputs, as the forward call leaves it
  const void* gamma = nullptr;
  const void* inverse = nullptr;
  MatrixView delta;                // batch × outputs: ∂E/∂y, replaced by ∂E/∂(V x)
  void* gamma_gradient = nullptr;  // outputs
  void* beta_gradient = nullptr;
};

/// Added to a variance before its root, as PyTorch and Keras have it (Keras: 1e-3).
inline constexpr double kVarianceEpsilon = 1e-5;

/// An output is dropped where its 32 random bits are below this number.
inline uint64_t DroppedBelow(double dropout) { return static_cast<uint64_t>(std::llround(dropout * 0x1.0p32)); }

class Elementwise {
 public:
  virtual ~Elementwise() = default;

  virtual void Fill(MatrixView to, double value) const noexcept = 0;
  /// `times` copies of `from`, one behind the other.
  virtual void Repeat(ConstMatrixView from, int64_t times, MatrixView to) const noexcept = 0;
  /// to = a times b or a + b, element by element; `to` may be one of them.
  virtual void Multiply(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept = 0;
  virtual void Add(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept = 0;
  /// delta *= the slope of the activation, of no softmax, at z (only where it needs that) and a.
  virtual void MultiplySlope(const Activation& activation, ConstMatrixView z, ConstMatrixView a,
                             MatrixView delta) const noexcept = 0;
  /// to = from diag(scale), `scale` of from.cols elements; `to` may be `from`.
  virtual void ScaleColumns(ConstMatrixView from, const void* scale, MatrixView to) const noexcept = 0;
  /// sums[j] = Σ over the rows of a b, in the order of the rows; a.cols elements.
  virtual void ColumnProducts(ConstMatrixView a, ConstMatrixView b, void* sums) const noexcept = 0;
  /// The mean of `blocks` blocks of to.rows rows each.
  virtual void MeanOfBlocks(ConstMatrixView from, int64_t blocks, MatrixView to) const noexcept = 0;
  /// Every row becomes `share` of itself and the rest of the row behind it, the last one of what the first one was.
  virtual void MixRows(double share, MatrixView rows) const noexcept = 0;
  /// Takes the memory that DropoutMask() needs. Throws Error where there is none.
  virtual void PrepareDropout() const {}
  /// After PrepareDropout(): 0 for the share `dropout` of the elements and 1 / (1 - dropout) for the others.
  /// Random(seed, stream) decides, two elements a number, 32 bits each. The same mask on every backend.
  virtual void DropoutMask(double dropout, uint64_t seed, uint64_t stream, MatrixView mask) const noexcept = 0;
  /// gradient = 0 where the parameter is 0; both of one shape.
  virtual void KeepZeros(ConstMatrixView parameters, MatrixView gradient) const noexcept = 0;

  virtual void RadiusForward(const RadiusForwardArgs& args) const noexcept = 0;
  virtual void RadiusBackward(const RadiusBackwardArgs& args) const noexcept = 0;
  virtual void NormalizeForward(const NormalizeForwardArgs& args) const noexcept = 0;
  virtual void NormalizeBackward(const NormalizeBackwardArgs& args) const noexcept = 0;
  /// The layer that answers as a normalized one does by its running statistics. weights (outputs × inputs) become
  /// diag(γ / √(variance + ε)) times themselves; `bias` (outputs) becomes β - γ mean / √(variance + ε).
  virtual void FoldNormalization(const NormalizationArrays& arrays, MatrixView weights, void* bias) const noexcept = 0;
};

}  // namespace lamina
