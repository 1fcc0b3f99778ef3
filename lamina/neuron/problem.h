// LayerSpec: what a layer computes. Problem: one pass of one layer on one batch, the unit of plans, tests and
// benchmarks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/activation.h"

namespace lamina {

/// How an input meets a weight, summed over the inputs.
enum class Synapse { kDot };

std::string_view SynapseName(Synapse synapse);
Synapse ParseSynapse(std::string_view name);

enum class Pass { kForward, kInputGradient, kWeightGradient };

std::string_view PassName(Pass pass);

/// `outputs` neurons over `inputs` features: a = activation(synapse(x, w) + bias).
struct LayerSpec {
  int64_t inputs = 0;
  int64_t outputs = 0;
  Synapse synapse = Synapse::kDot;
  Activation activation;
  bool bias = true;

  int64_t weight_count() const { return inputs * outputs; }
  int64_t parameter_count() const { return weight_count() + (bias ? outputs : 0); }
  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

/// Text form: "dot-tanh:f32:forward:128x1024x784" (batch × outputs × inputs); "-nobias" after the activation if none.
struct Problem {
  LayerSpec layer;
  Pass pass = Pass::kForward;
  int64_t batch = 0;
  DType dtype = DType::kF32;

  std::string Text() const;
  /// Throws Error(kInvalidArgument) naming the wrong part.
  static Problem Parse(std::string_view text, std::span<const Activation> custom = {});
};

}  // namespace lamina
