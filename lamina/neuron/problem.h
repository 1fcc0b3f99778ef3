// LayerSpec: what a layer computes. Problem: one pass of one layer on one batch, the unit of plans, tests and
// benchmarks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/matrix_view.h"
#include "lamina/base/names.h"
#include "lamina/neuron/activation.h"

namespace lamina {

/// How an input meets a weight, summed over the inputs. Index in formulas::Synapses; stored by name: dot (sum of x w),
/// l1 (sum of |x - w|), l2 (Euclidean distance), l2sq (its square). Gradients, also where they do not exist: see
/// formulas.inc.
enum class Synapse { kDot, kL1, kL2, kL2Squared };

std::string_view SynapseName(Synapse synapse);
std::vector<std::string> SynapseNames();
/// Throws Error(kInvalidArgument) with the nearest known name.
Synapse ParseSynapse(std::string_view name);
/// l1, l2 and l2sq. Such layers have no bias unless LayerSpec::bias asks for one.
bool IsDistance(Synapse synapse);
/// Whether the gradients read the distances of the forward pass (ForwardArgs::distance).
bool SynapseNeedsDistance(Synapse synapse);
/// Whether the gradients are sums over a scaled delta (ScaleDelta in formulas.inc).
bool SynapseScalesDelta(Synapse synapse);

/// Calls fn(F{}) with the formula of the synapse.
template <class Fn>
decltype(auto) VisitSynapse(Synapse synapse, Fn&& fn) {
  return VisitFormula<formulas::Synapses>(static_cast<size_t>(synapse), std::forward<Fn>(fn));
}

enum class Pass { kForward, kInputGradient, kWeightGradient };

std::string_view PassName(Pass pass);

/// `outputs` neurons over `inputs` features: a = activation(z), z = synapse(x, w) + bias.
struct LayerSpec {
  int64_t inputs = 0;
  int64_t outputs = 0;
  Synapse synapse = Synapse::kDot;
  Activation activation;
  bool bias = true;
  /// Every neuron has a radius of its own, trained like a weight; that of the activation is where it starts. The layer
  /// then is a = activation(z / radius) of a curve with radius 1, z = synapse(x, w) (nn/executor.h).
  bool trained_radius = false;
  /// Above 0: the layer ends a residual block of so many layers, whose input is added to its output (He et al. 2016).
  /// Blocks have hidden layers only and do not overlap.
  int64_t residual = 0;

  int64_t weight_count() const { return inputs * outputs; }
  int64_t parameter_count() const { return weight_count() + (bias ? outputs : 0) + (trained_radius ? outputs : 0); }
  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

/// A trained radius needs an activation that has one, and no bias.
Verdict CheckNeuron(const LayerSpec& layer);

/// A neuron's text, "dot-tanh", "l1-triangle(radius=12)-radius", into synapse, activation, bias and trained_radius of a
/// layer without sizes. Suffixes after the activation: "-bias", "-nobias" (dot layers have a bias by default, distance
/// layers have none) and "-radius" (trained_radius). Presets of the 2017 paper: "rbf" is l1-triangle (eqs. (1) and
/// (2)), "mul" is dot-tanh (eq. (3)), with parameters and suffixes as theirs: "rbf(radius=12)". Throws
/// Error(kInvalidArgument).
LayerSpec ParseNeuron(std::string_view text, std::span<const Activation> custom = {});
/// Whether that text gives its radius ("l1-triangle(radius=12)"), which is measured from data where it is left open.
bool GivesRadius(std::string_view neuron);
/// The text of a parsed neuron; without the preset's names.
std::string NeuronText(const LayerSpec& layer);

/// How sums may be computed. kFast allows an l1 synapse of floats as 2 sum of max(x, w) - sum of x - sum of w. On a GPU
/// it allows an l2 synapse as |x|^2 + |w|^2 - 2 x w, at the speed of a matrix product. Errors then grow with x and w
/// instead of x - w (bounds: docs/library.md), and an infinite one gives NaN. It also rounds operands of f32 dot
/// layers. A GPU has TF32 (10 bits of mantissa); AMX tiles have two bf16 each (16 bits). All else is computed exactly.
/// kBFloat16, for f32 dot layers: operands are rounded to bf16 (8 bits of mantissa); sums, results and
/// parameters stay f32. kBFloat16x3, for the same layers, is as good as kExact for finite numbers. On AMX tiles an
/// operand is three bf16 (24 bits), and the six largest of their products are summed. Parts and results below the least
/// normal number count as 0; an infinity gives NaN. Elsewhere kBFloat16x3 is computed exactly. With it and with kFast,
/// stored f16 is exactly two bf16 on tiles.
enum class Precision { kExact, kFast, kBFloat16, kBFloat16x3 };

inline constexpr Named<Precision> kPrecisions[] = {{"exact", Precision::kExact},
                                                   {"fast", Precision::kFast},
                                                   {"bf16", Precision::kBFloat16},
                                                   {"bf16x3", Precision::kBFloat16x3}};

/// Whether results may be worse than those of kExact.
constexpr bool LosesDigits(Precision precision) {
  return precision == Precision::kFast || precision == Precision::kBFloat16;
}

/// The type of the activations of a layer on inputs and weights of `dtype`: f64 for f64, i64 and i32, else f32.
DType OutputType(DType dtype);
/// The type of its sums: exact integers for integers (i32 for 8-bit types, i64 for others), else that of the outputs.
DType SumType(DType dtype);

/// Text form: "dot-tanh:f32:forward:128x1024x784" (batch × outputs × inputs), the neuron as in ParseNeuron (without a
/// trained radius: that is the network's). A precision other than exact follows the type: "f32-fast", "f32-bf16x3".
struct Problem {
  LayerSpec layer;
  Pass pass = Pass::kForward;
  int64_t batch = 0;
  DType dtype = DType::kF32;
  Precision precision = Precision::kExact;

  std::string Text() const;
  /// Throws Error(kInvalidArgument) naming the wrong part.
  static Problem Parse(std::string_view text, std::span<const Activation> custom = {});
};

}  // namespace lamina
