// The rows of TrainSettings.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/text.h"
#include "lamina/model/metrics.h"
#include "lamina/nn/routes.h"
#include "lamina/settings/data_rows.h"
#include "lamina/settings/layers_text.h"
#include "lamina/settings/method.h"
#include "lamina/settings/method_rows.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/number_embedding.h"
#include "lamina/settings/quality_rows.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/setting_names.h"
#include "lamina/settings/settings.h"
#include "lamina/settings/training_rows.h"
#include "lamina/settings/validation.h"

namespace lamina {
namespace {

using namespace setting_names;  // NOLINT(google-build-using-namespace): its own lists
using S = TrainSettings;
using Row = Setting<S>;

// Help texts that follow the library's lists of formulas.

std::string ActivationHelp() {
  std::string text;
  for (const std::string& name : ActivationNames()) {
    if (const Activation activation(name); !activation.is_softmax()) {
      text += (text.empty() ? "" : ", ") + activation.Text();
    }
  }
  return text;
}

bool HasWaves(const S& s) { return s.number_embedding != NumberEmbeddingNames().front(); }
bool OutputIsOpen(const S& s) { return s.layers.empty() || EndsInAuto(s.layers); }
// With --layers it is written into the activation.
bool HasBipolar(const S& s) {
  const std::string_view bipolar = formulas::BipolarSigmoid::kName;
  return s.layers.empty() && (s.activation == bipolar || s.output_activation == bipolar);
}
constexpr std::string_view kBipolarText =
    "For the activation bipolar_sigmoid of all hidden layers or of the output. With --layers, write it into the "
    "activation: bipolar_sigmoid(gain=2,threshold=0)";

std::vector<Row> LayerRows() {
  return {
      Row("recipe", &S::recipe,
          fmt::format(
              "What open settings (auto) of network and training become. plain: one layer, quick. tabular: three "
              "layers trained as RealMLP-TD-S, better on tables, but slower. mixed: that network and a kernel "
              "machine, as rfm, by shares that fit the validation rows. auto: mixed for tables of more than {} and up "
              "to {} training rows where no setting of a network is given, else tabular for tables. It is plain for "
              "images and, with a note, for "
              "what tabular cannot do: lbfgs, shards, layers of distances",
              WithThousands(kMostRowsOfKernels), WithThousands(kMostRowsOfMixed)),
          {.choices = &RecipeNames, .basic = "plain is quick, tabular answers better, mixed best; auto"}),
      Row("hidden", &S::hidden,
          "Neurons of the hidden layers, input side first; 0 alone: none; auto: by the recipe (plain: 128)",
          {.range = kNotNegative,
           .effect = [](const S& s) { return s.layers.empty(); },
           .basic = "Neurons of the hidden layers, such as 64,32"}),
      Row("activation", &S::activation,
          "Activation of the hidden layers, with parameters where the defaults do not fit: " + ActivationHelp() +
              "; auto: by the recipe (plain: relu)",
          {.choices = &AutoAnd<&ActivationNames>, .more_choices = true, .effect = &OutputIsOpen}),
      Row("output-activation", &S::output_activation,
          "Activation of the output layer; auto: what the loss needs (mse: that of the hidden layers for classes, "
          "identity for values)",
          {.choices = &AutoAnd<&ActivationNames>,
           .more_choices = true,
           .effect = &OutputIsOpen,
           .effect_text = "Where --layers does not say the output layer"}),
      Row("layers", &S::layers,
          "All layers in full instead, for example dot-tanh:256,dot-softmax:10. Synapses: dot, and the distances l1, "
          "l2, l2sq with activations such as triangle(radius=12). -radius at the end trains a radius for every "
          "neuron. rbf is l1-triangle, mul is dot-tanh. A first layer of distances starts at training rows, its "
          "radius at their distances if none is given. auto as the last layer: what the target needs"),
      Row("bias", &S::bias, "dot neurons have a bias (a neuron in --layers can say otherwise: -bias, -nobias)"),
      Row("gain", &S::gain, "Gain of bipolar_sigmoid (2018 paper)",
          {.range = kNotZero, .effect = &HasBipolar, .effect_text = kBipolarText}),
      Row("threshold", &S::threshold, "Threshold of bipolar_sigmoid (2018 paper)",
          {.range = kAnyNumber, .effect = &HasBipolar, .effect_text = kBipolarText})};
}

// What the weights start as, and what is built around the layers.
std::vector<Row> StartRows() {
  return {
      Row("init", &S::init,
          "Weights at the start: glorot_uniform, glorot_normal, he_uniform, he_normal, or ntk (normal, standard "
          "deviation 1 / sqrt(inputs), biases 1); auto: ntk with --parametrization ntk, he_uniform for the relu "
          "family in more than three layers, else glorot_uniform",
          {.choices = &AutoAnd<&InitializationNames>}),
      Row("zero-last", &S::zero_last,
          "Whether the output layer starts at zero: yes, no, or auto: by the recipe (plain: no)",
          {.choices = &Names<kHeaders>}),
      Row("residual", &S::residual,
          "Hidden layers with as many neurons as the layer before add their input to their output; longer blocks are "
          "written --layers \"residual(dot-relu:64,dot-identity:64),auto\"",
          {}),
      Row("members", &S::members,
          "Networks in one that share the hidden layers (TabM-mini). Each has factors for the inputs and an output "
          "layer; their mean is the answer; 1: one network",
          {.range = NumberRange{.low = 1, .high = 4096}}),
      Row("parametrization", &S::parametrization,
          "standard, or ntk: dot layers learn with the learning rate divided by sqrt(inputs), from weights of --init "
          "ntk; auto: by the recipe (plain: standard)",
          {.choices = &AutoAnd<&ParametrizationNames>})};
}

// What inputs become before the hidden layers.
std::vector<Row> EmbeddingRows() {
  return {Row("number-embedding", &S::number_embedding,
              "Embedding of number inputs: none, or pbld: beside each number stand --embedding-size numbers, mixed "
              "from trained sine waves of it; auto: by the recipe (none)",
              {.choices = &AutoAnd<&NumberEmbeddingNames>}),
          Row("waves", &S::waves, "Sine waves of each number",
              {.range = NumberRange{.low = 1, .high = 1024}, .effect = &HasWaves}),
          Row("wave-scale", &S::wave_scale,
              "Standard deviation of the waves' frequencies at the start, in turns per unit of the encoded number",
              {.range = kPositive, .effect = &HasWaves, .logarithmic = true}),
          Row("embedding-size", &S::embedding_size, "Numbers into which the waves of a number are mixed",
              {.range = NumberRange{.low = 1, .high = 1024},
               .effect = &HasWaves,
               .effect_text = "For --number-embedding pbld"}),
          Row("category-embedding", &S::category_embedding,
              "One-hot columns with more categories than this become as many trained numbers; 0: none; auto: by the "
              "recipe (plain: 0)",
              {.range = NumberRange{.low = 0, .high = 1024}}),
          Row("front-scale", &S::front_scale,
              "Trains a factor for every input of a first layer of dot neurons, at this times the learning rate; 0: "
              "none; auto: by the recipe (plain: 0)",
              {.range = StepRange("front-scale")})};
}

std::vector<Row> NumberRows() {
  return {Row("dtype", &S::dtype, "f32 or f64", {.choices = &Names<kTypes>}),
          Row("precision", &S::precision,
              "Operands of products while training. exact. bf16 (backends cpu and cuda, dot layers in f32): faster "
              "where the processor multiplies bf16, with parameters and sums still in f32. fast: TF32 on backend "
              "cuda, two bf16 per number on AMX tiles, exact elsewhere. bf16x3: three bf16 per number on AMX tiles, "
              "as good as exact for finite numbers, exact elsewhere. auto: for classes the faster one here, bf16 "
              "or else fast; for numbers exact",
              {.choices = &AutoAnd<&Names<kPrecisions>>, .after_checkpoint = true})};
}

std::vector<Row> MachineRows() {
  constexpr InTrials kOutside = InTrials::kOutside;
  return {Row("backend", &S::backend, BackendNamesText(), {.choices = &BackendNames, .after_checkpoint = true}),
          Row("threads", &S::threads, "Threads to use; 0: all cores",
              {.range = kThreadCounts, .trials = kOutside, .after_checkpoint = true}),
          Row("model", &S::model, "Write the trained model to this file",
              {.trials = kOutside,
               .after_checkpoint = true,
               .writes = true,
               .basic = "Write the trained model to this file"}),
          Row("overwrite", &S::overwrite,
              "Replace the file of --model even if it holds a model of other data or another target, and that of "
              "--checkpoint even if it is none. A model of the same is always replaced",
              {.trials = kOutside, .after_checkpoint = true, .decides_writing = true}),
          Row("history", &S::history, "Write the history to this file as CSV",
              {.trials = kOutside, .after_checkpoint = true, .writes = true}),
          Row("history-json", &S::history_json, "Write the history to this file as JSON",
              {.trials = kOutside, .after_checkpoint = true, .writes = true}),
          Row("checkpoint", &S::checkpoint,
              "Keep a checkpoint in this file, written at Ctrl-C and as --checkpoint-epochs says",
              {.trials = kOutside, .after_checkpoint = true, .writes = true}),
          Row("checkpoint-epochs", &S::checkpoint_epochs, "Epochs from one checkpoint to the next; 0: only at Ctrl-C",
              {.range = TrainRanges::checkpoint_epochs,
               .effect = [](const S& s) { return !CheckpointPathOf(s).empty(); },
               .trials = kOutside,
               .after_checkpoint = true})};
}

}  // namespace

template <>
std::span<const Setting<TrainSettings>> SettingRows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all = JoinGroups<S>({{kDataGroup, DataRows()},
                                          {kNetworkGroup, LayerRows()},
                                          {kNetworkGroup, StartRows()},
                                          {kNetworkGroup, EmbeddingRows()},
                                          {kNetworkGroup, NumberRows()},
                                          {kMethodGroup, MethodRows()},
                                          {kTrainingGroup, TrainingRows()},
                                          {kQualityGroup, QualityRows()},
                                          {kMachineGroup, MachineRows()}});
    for (Row& row : all) {
      row.help += RefusalsText(row.name);
    }
    return all;
  }();
  return rows;
}

}  // namespace lamina
