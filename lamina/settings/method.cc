// The table of what each method reads, and the neurons they can have.
#include "lamina/settings/method.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/boost/tree_network.h"
#include "lamina/rbf/kernel_layers.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

constexpr const char* kNoFeatureWeights = "none";
constexpr const char* kFullFeatureWeights = "full";

struct MethodReadsRow {
  Method method;
  std::vector<std::string_view> settings;
};

// What a method reads of the settings that not every method reads. Backpropagation also reads all other groups.
const std::vector<MethodReadsRow>& ReadsTable() {
  static const std::vector<MethodReadsRow> table = {
      {Method::kBackpropagation,
       {"start-from", "freeze", "centres", "trees", "tree-leaves", "tree-pairs", "tree-rounds", "tree-rate", "line"}},
      {Method::kFsvc, {"neuron", "radius", "overlap", "learning-rate", "epochs"}},
      {Method::kSfsvc, {"neuron", "radius", "overlap"}},
      {Method::kNearest, {"distance", "k"}},
      {Method::kKernelMachine,
       {"neuron", "feature-weights", "feature-rounds", "ridge", "radius", "fit-seconds", "prune", "class-weights",
        "weight-column", "trees", "tree-leaves", "tree-pairs", "tree-rounds", "tree-rate", "line"}},
      {Method::kBoosting,
       {"tree-leaves", "tree-pairs", "tree-rounds", "tree-rate", "class-weights", "weight-column", "line"}},
      {Method::kElm,
       {"neuron", "radius", "hidden", "hidden-weights", "centres", "ridge-c", "precision", "shards", "class-weights",
        "weight-column", "line"}}};
  return table;
}

constexpr std::string_view kReadByAll[] = {"effort", "time-limit", "state", "nested", "method", "dtype", "seed"};
// What only some methods read, although their groups are those of all methods.
constexpr std::string_view kOfData[] = {"class-weights", "weight-column", "soft-target", "target-values", "monitor"};
constexpr std::string_view kOfFiles[] = {"checkpoint", "checkpoint-epochs"};

template <class List>
bool Contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool IsOfSomeMethods(const Setting<TrainSettings>& row) {
  return row.group == kNetworkGroup || row.group == kTrainingGroup || row.group == kMethodGroup ||
         Contains(kOfData, row.name) || Contains(kOfFiles, row.name);
}

std::string_view OwnNeuron(Method method) {
  return method == Method::kElm ? "dot-abs" : method == Method::kSfsvc ? "l2sq-triangle" : "l1-triangle";
}

}  // namespace

Method MethodFrom(const TrainSettings& settings) {
  return WithSetting("method", [&] { return ParseName(settings.method, kMethods, "--method: unknown choice"); });
}

bool MethodReads(const TrainSettings& settings, std::string_view name) {
  const auto method = std::find_if(std::begin(kMethods), std::end(kMethods),
                                   [&](const Named<Method>& known) { return known.name == settings.method; });
  if (method == std::end(kMethods) || Contains(kReadByAll, name)) {
    return true;
  }
  const Setting<TrainSettings>& row = TrainSettingRow(name);
  for (const MethodReadsRow& reads : ReadsTable()) {
    if (reads.method == method->value) {
      const bool of_some = method->value == Method::kBackpropagation ? row.group == kMethodGroup : IsOfSomeMethods(row);
      return !of_some || Contains(reads.settings, name);
    }
  }
  return true;
}

void ValidateMethod(const ResolvedSettings& resolved) {
  const TrainSettings& settings = resolved.given();
  const Method method = MethodFrom(settings);
  TrainSettings defaults;
  if (settings.recipe == kPlainRecipe) {  // as what is open is without a word
    defaults.recipe = settings.recipe;
  }
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    if (!MethodReads(settings, row.name) && SettingText(settings, row.name) != SettingText(defaults, row.name)) {
      RefuseSetting(row.name, fmt::format("--{} has no effect with --method {}", row.name, settings.method),
                    SettingText(settings, row.name), "Leave it out.");
    }
  }
  if (method == Method::kBackpropagation || method == Method::kBoosting) {
    return;
  }
  if (method == Method::kKernelMachine) {
    KernelChoicesFrom(settings);
    return;
  }
  NeuronFrom(settings);
  if (method == Method::kElm && (resolved->hidden.size() != 1 || resolved->hidden[0] == 0)) {
    RefuseSetting("hidden", "--method elm has one hidden layer", FieldText(&settings.hidden),
                  "Give --hidden its neurons, such as 1000.");
  }
}

MethodNeuron NeuronFrom(const TrainSettings& settings) {
  const Method method = MethodFrom(settings);
  if (method == Method::kNearest) {
    MethodNeuron neuron;
    neuron.layer.synapse =
        WithSetting("distance", [&] { return ParseName(settings.distance, kMetrics, "--distance: unknown choice"); });
    neuron.layer.bias = false;
    return neuron;
  }
  const std::string text = settings.neuron == kAutoText ? std::string(OwnNeuron(method)) : settings.neuron;
  MethodNeuron neuron{WithSetting("neuron", [&] { return ParseNeuron(text); })};
  LayerSpec& layer = neuron.layer;
  if (method != Method::kElm) {
    layer.bias = false;
  }
  const bool curve = layer.activation.radius() > 0;
  if (layer.trained_radius || layer.activation.is_softmax() || (IsDistance(layer.synapse) && layer.bias)) {
    RefuseSetting("neuron", fmt::format("--method {} cannot have this neuron", settings.method), text,
                  "Use for example l1-triangle or dot-abs.");
  }
  if (method != Method::kElm && (!IsDistance(layer.synapse) || !curve)) {
    RefuseSetting("neuron", fmt::format("--method {} needs a distance with a triangle or gaussian", settings.method),
                  text, "Use for example l1-triangle or l2-gaussian.");
  }
  if (settings.radius && !curve) {
    RefuseSetting("radius", fmt::format("--radius is for triangle and gaussian, {} has none", layer.activation.name()));
  }
  if (settings.radius) {
    layer.activation = layer.activation.WithRadius(*settings.radius);
  }
  neuron.has_radius = settings.radius.has_value() || !curve || GivesRadius(text);
  return neuron;
}

OutputPlan OutputOfMethod(const TrainSettings& settings, int64_t classes) {
  const Method method = MethodFrom(settings);
  if (classes > 0 && (method == Method::kKernelMachine || method == Method::kBoosting)) {
    return {Loss::kCrossEntropy, Activation("softmax"), /*single_output=*/false, /*classes=*/true};
  }
  return {Loss::kMse, Activation(), /*single_output=*/false};
}

TargetForm TargetFormOfMethod(const TrainSettings& settings) {
  TargetForm form;
  form.negative = MethodFrom(settings) == Method::kElm ? -1.0 : 0.0;
  return form;
}

std::vector<LayerSpec> LayersOfMethod(const ResolvedSettings& resolved, int64_t inputs, int64_t outputs,
                                      int64_t classes) {
  const TrainSettings& settings = *resolved;
  const Method method = MethodFrom(settings);
  if (classes == 0 && (method == Method::kFsvc || method == Method::kSfsvc)) {
    RefuseSetting("method",
                  fmt::format("--method {} needs classes, and the target is a number to predict", settings.method), "",
                  "Use --method elm, knn, rfm or boost, or --task classification.");
  }
  if (method == Method::kKernelMachine) {
    return KernelLayers(KernelChoicesFrom(settings).kinds.front(), settings.feature_weights != kNoFeatureWeights,
                        inputs, outputs, classes > 0);
  }
  if (method == Method::kBoosting) {
    return TreeLayers(inputs, /*questions=*/1, /*paths=*/1, outputs, classes > 0);
  }
  LayerSpec hidden = NeuronFrom(settings).layer;
  hidden.inputs = inputs;
  hidden.outputs = method == Method::kElm ? settings.hidden[0] : 1;
  return {hidden, {hidden.outputs, outputs, Synapse::kDot, Activation(), /*bias=*/false}};
}

std::vector<std::string> FeatureWeightsChoices() { return {kNoFeatureWeights, "diagonal", kFullFeatureWeights}; }

KernelChoices KernelChoicesFrom(const TrainSettings& settings) {
  KernelChoices choices;
  choices.rounds = settings.feature_weights == kNoFeatureWeights ? 0 : static_cast<int>(settings.feature_rounds);
  choices.full = settings.feature_weights == kFullFeatureWeights;
  if (settings.ridge) {
    choices.ridges = {*settings.ridge};
  }
  if (settings.radius) {
    choices.scales = {*settings.radius};
    choices.absolute = true;
  }
  if (settings.neuron == kAutoText) {
    std::erase_if(choices.kinds, [&](const KernelKind& kind) { return choices.full && kind.p != 2; });
    return choices;
  }
  const LayerSpec neuron = WithSetting("neuron", [&] { return ParseNeuron(settings.neuron); });
  const bool gaussian = neuron.activation.name() == formulas::Gaussian::kName;
  const bool laplace = neuron.activation.name() == formulas::Laplace::kName;
  const bool distance = neuron.synapse == Synapse::kL1 || neuron.synapse == Synapse::kL2;
  if (!distance || (!gaussian && !laplace) || neuron.trained_radius || neuron.bias || GivesRadius(settings.neuron)) {
    RefuseSetting("neuron", "--method rfm needs an l1 or l2 distance with a laplace or gaussian and no radius",
                  settings.neuron, "Use for example l1-laplace or l2-laplace(power=1.4).");
  }
  const int p = neuron.synapse == Synapse::kL1 ? 1 : 2;
  const double power = gaussian ? 2 : neuron.activation.parameters()[1];
  if (power > p) {  // such a kernel is not positive definite
    RefuseSetting("neuron", fmt::format("a kernel of {} distances has a power of at most {}", p == 1 ? "l1" : "l2", p),
                  settings.neuron);
  }
  if (choices.full && p != 2) {
    RefuseSetting("feature-weights", "full weights of columns are for l2 distances alone", settings.feature_weights,
                  "Use --feature-weights diagonal, or for example --neuron l2-laplace.");
  }
  choices.kinds = {{p, power}};
  return choices;
}

FsvcOptions FsvcOptionsFrom(const TrainSettings& settings) {
  const MethodNeuron neuron = NeuronFrom(settings);
  FsvcOptions options;
  options.novelty.synapse = neuron.layer.synapse;
  options.novelty.activation = neuron.layer.activation;
  options.novelty.overlap = settings.overlap.value_or(options.novelty.overlap);
  options.by_class = MethodFrom(settings) == Method::kSfsvc;
  options.learning_rate = options.by_class ? 0 : settings.learning_rate.value_or(0);
  options.epochs = settings.epochs.value_or(options.epochs);
  return options;
}

}  // namespace lamina
