// StepOptions: what a training step does besides its update rule. Settings make them, trainer and executor hold them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/setting.h"
#include "lamina/neuron/loss.h"
#include "lamina/neuron/problem.h"
#include "lamina/nn/normalization.h"

namespace lamina {

/// How the parameters of dot layers stand to what is trained. kNtk trains sqrt(inputs) times the weights, of variance 1
/// at the start (Jacot et al. 2018). For rules that normalize the gradient, such as adam, this means two things:
/// weights learn at the rate divided by sqrt(inputs), and Initialization::kNtk.
enum class Parametrization { kStandard, kNtk };

std::vector<std::string> ParametrizationNames();
Parametrization ParseParametrization(std::string_view name);

/// Factors of the learning rate for the parameters of a layer. Radii have 1.
struct LayerRates {
  double weights = 1;
  double bias = 1;
};

struct StepOptions {
  Loss loss = Loss::kMse;
  Precision precision = Precision::kExact;  // kBFloat16: master weights and sums stay f32
  double class_threshold = 0.5;             // of a single output, for counting correct answers
  double clip_norm = 0;  // largest L2 norm of the gradient of a step, all parameters together; 0: any
  double label_smoothing =
      0;  // share of the targets that is spread over the classes; evaluation takes them as they are
  /// This share of the hidden layers' outputs is zero; the others are multiplied by 1 / (1 - dropout). Seed, number of
  /// the step (UpdateRule::step) and layer decide which, so any number of threads gives the same.
  double dropout = 0;
  /// Above 0, at most 1: the samples of a step are mixed with one another, as are their targets and weights
  /// (Elementwise::MixRows()). Shares are drawn from Beta(mixup, mixup) by the seed and the number of the step.
  double mixup = 0;
  uint64_t seed = 0;         // of the two, and of the order of rows
  std::vector<bool> frozen;  // layers whose parameters training leaves alone; empty: none
  Parametrization parametrization = Parametrization::kStandard;
  double bias_rate = 1;  // the learning rate of biases as a share of the rate
  /// The first so many layers are embeddings of the inputs: each of their neurons is of one column, and weights that
  /// are zero stay zero. The front scale stands behind them.
  int64_t embedding_layers = 0;
  double embedding_rate = 1;  // the learning rate of their parameters as a share of the rate
  /// Above 0: the first layer is of dot products, with weights W diag(s). s starts at 1 and is trained without weight
  /// decay, at this number times the learning rate. Members have such factors of their own: the rate is then for them,
  /// and 0 means 1.
  double front_scale = 0;
  /// Training steps normalize the layers of NormalizedLayers(); everything else, Forward() and Evaluate() included, has
  /// the running statistics folded into the weights.
  Normalization normalization = Normalization::kNone;
  /// The first weights are those of a trained network. In the first ten steps γ and β follow the running statistics, so
  /// that answers change by the gradients alone.
  bool starts_trained = false;

  /// The learning rates of layers by parametrization, bias_rate and embedding_rate; empty where all are 1.
  std::vector<LayerRates> RatesOf(std::span<const LayerSpec> layers) const;
  bool Freezes(size_t layer) const { return !frozen.empty() && frozen[layer]; }
};

/// A number of a step that the setting of this name gives as it is, with what it may be.
struct StepNumber {
  std::string_view setting;
  double StepOptions::*field;
  NumberRange range;
};

inline constexpr StepNumber kStepNumbers[] = {{"clip-norm", &StepOptions::clip_norm, kNotNegative},
                                              {"label-smoothing", &StepOptions::label_smoothing, kShareBelowOne},
                                              {"dropout", &StepOptions::dropout, kShareBelowOne},
                                              {"mixup", &StepOptions::mixup, {.low = 0, .high = 1}},
                                              {"bias-rate", &StepOptions::bias_rate, kNotNegative},
                                              {"embedding-rate", &StepOptions::embedding_rate, kNotNegative},
                                              {"front-scale", &StepOptions::front_scale, kNotNegative}};

/// What the number of this setting may be.
consteval NumberRange StepRange(std::string_view setting) {
  const StepNumber* number = kStepNumbers;
  while (number->setting != setting) {  // one that is not there is no constant
    ++number;
  }
  return number->range;
}

}  // namespace lamina
