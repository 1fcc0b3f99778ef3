// From named settings to the options of each part of the library.
#include "lamina/settings/meanings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/layers_text.h"
#include "lamina/settings/method.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/setting_names.h"

namespace lamina {
namespace {

using namespace setting_names;  // NOLINT(google-build-using-namespace): its own lists

// The value called `text`, or an error that names the flag and the choices.
template <class E, size_t N>
E Choose(std::string_view flag, const std::string& text, const Named<E> (&choices)[N]) {
  return WithSetting(flag, [&] { return ParseName(text, choices, fmt::format("--{}: unknown choice", flag)); });
}

void RequireProbabilities(const TrainSettings& settings, const Loss& loss, int64_t classes) {
  if (classes == 0 && settings.target_scale != "none" && settings.target_scale != "minmax") {
    RefuseSetting("target-scale",
                  fmt::format("{} needs targets from 0 to 1, and standardized ones are not", loss.name()), "",
                  "Use --target-scale minmax (or none, for probabilities), or --loss mse.");
  }
  if (classes == 0 || settings.target_values.size() != 2) {
    return;
  }
  const double low = settings.target_values[0];
  const double high = settings.target_values[1];
  const double sum = high + static_cast<double>(classes - 1) * low;
  const bool distribution = loss.targets() == LossTargets::kDistribution;
  if (low < 0 || high > 1 || (distribution && std::abs(sum - 1) > 1e-6)) {
    RefuseSetting("target-values",
                  fmt::format("{} needs --target-values from 0 to 1{}", loss.name(),
                              distribution ? " that sum to 1 over the classes" : ""),
                  FieldText(&settings.target_values), "Leave them out, or use --loss mse.");
  }
}

// Whether targets are counts or amounts. They stay such only if nothing is subtracted from them.
bool HasLogLink(const Loss& loss) {
  return loss.targets() == LossTargets::kNotNegative || loss.targets() == LossTargets::kPositive;
}

// The gradients of some losses hold for some targets only.
void RequireTargets(const TrainSettings& settings, const Loss& loss, int64_t classes) {
  if (loss.of_classes()) {
    RequireProbabilities(settings, loss, classes);
    return;
  }
  if (classes > 0 && (HasLogLink(loss) || !loss.levels().empty())) {
    RefuseSetting("loss", fmt::format("{} is for numbers to predict, and the targets are classes", loss.name()), "",
                  "Use --task regression, or --loss cross_entropy.");
  }
  if (HasLogLink(loss) && settings.target_scale != "auto" && settings.target_scale != "none" &&
      settings.target_scale != "size") {
    RefuseSetting("target-scale", fmt::format("{} needs targets that are divided at most, not shifted", loss.name()),
                  settings.target_scale, "Use --target-scale auto, size or none, or --loss mse.");
  }
}
bool IsAuto(const std::string& text) { return text == kAutoText; }
// The loss of classes that asks for this output activation, else mse.
Loss LossForClasses(std::string_view output) {
  for (const std::string& name : LossNames()) {
    if (const Loss loss = Loss::Parse(name); loss.of_classes() && loss.output() == output) {
      return loss;
    }
  }
  return Loss::kMse;
}

}  // namespace

ReadOptions ReadOptionsFrom(const TrainSettings& settings) {
  ReadOptions options;
  options.header = Choose("header", settings.header, kHeaders);
  options.header_line = settings.header_line;
  options.around = Choose("around", settings.around, kArounds);
  options.separator =
      settings.separator.size() == 1 ? settings.separator[0] : Choose("separator", settings.separator, kSeparators);
  options.decimal = Choose("decimal", settings.decimal, kDecimals);
  options.date_order = Choose("date-order", settings.date_order, kDateOrders);
  options.text_columns = settings.text_columns;
  options.missing_values = settings.missing_values;
  options.strict = settings.strict;
  options.encoding = settings.encoding;
  options.sheet = settings.sheet;
  options.answer_columns = settings.target.empty() ? std::vector<std::string>{"-1"} : settings.target;
  return options;
}
MissingPolicy ParseMissing(const std::string& name) { return Choose("missing", name, kMissing); }
UnseenPolicy ParseUnseen(const std::string& name) { return Choose("unseen", name, kUnseen); }

PreprocessOptions PreprocessOptionsFrom(const ResolvedSettings& resolved) {
  const TrainSettings& settings = *resolved;
  PreprocessOptions options;
  options.targets = settings.target;
  options.drop_columns = settings.drop;
  options.leave_out_useless = true;
  options.use_columns = settings.use;
  for (const std::string* column : {&settings.weight_column, &settings.group}) {
    if (!column->empty()) {
      options.drop_columns.push_back(*column);
    }
  }
  options.drop_columns.insert(options.drop_columns.end(), settings.soft_target.begin(), settings.soft_target.end());
  options.encoding = Choose("encode", settings.encode, kEncodings);
  options.scaling = Choose("scale", settings.scale, kScalings);
  options.limits_may_go = settings.scale != resolved.given().scale;  // those of the recipe
  const Method method = MethodFrom(settings);
  const bool novelty = method == Method::kFsvc || method == Method::kSfsvc;  // docs/decisions/0045
  options.auto_scaling = novelty ? Scaling::kMinMax : Scaling::kStandardize;
  options.target_scaling = Choose("target-scale", settings.target_scale, kScalings);
  if (options.target_scaling == Scaling::kAuto && HasLogLink(LossFrom(settings))) {
    options.target_scaling = Scaling::kSize;
  }
  options.missing = ParseMissing(settings.missing);
  options.missing_values = settings.missing_values;
  const std::string& indicator = settings.missing_indicator;
  options.missing_indicator = indicator == kAutoText ? std::nullopt : std::optional(indicator == kYesText);
  const bool all_rows = settings.bag && settings.select == kAutoText;  // would choose, also those that are tested
  options.select = all_rows ? ColumnSelection::kAll : Choose("select", settings.select, kSelections);
  options.numbers = Choose("numbers", settings.numbers, kNumberEncodings);
  options.bins = settings.bins;
  const bool days = LearnsByGradient(settings) && !resolved.is_tabular();
  options.dates = settings.dates == kAutoText ? (days ? DateEncoding::kDays : DateEncoding::kCalendar)
                                              : Choose("dates", settings.dates, kDateEncodings);
  options.codes = settings.codes == std::vector<std::string>{"none"} ? std::vector<std::string>() : settings.codes;
  const bool parted = !settings.group.empty() || !settings.split_by.empty();  // rows of names that training lacks
  options.find_codes = settings.codes.empty() && !parted && !days && !novelty;
  const bool asks_rows = settings.text != kAutoText || !(parted || novelty);
  options.text = asks_rows ? Choose("text", settings.text, kTextEncodings) : TextEncoding::kLeaveOut;
  options.text_inputs = settings.text_inputs;
  options.min_count = settings.min_count.value_or(options.min_count);
  options.max_categories = settings.max_categories;
  options.unseen = ParseUnseen(settings.unseen);
  options.task = Choose("task", settings.task, kTasks);
  options.derive = {settings.derive, settings.series_by, settings.order_by};
  options.class_map = WithSetting("class-map", [&] { return ClassMap::Parse(settings.class_map); });
  options.baseline = settings.baseline;
  return options;
}

Loss LossFrom(const TrainSettings& settings) {
  const Loss loss = IsAuto(settings.loss) ? Loss() : WithSetting("loss", [&] { return Loss::Parse(settings.loss); });
  if (settings.quantiles.empty() || loss.kind() != Loss::kQuantile) {
    return loss;
  }
  return WithSetting("quantiles", [&] { return Loss::Quantiles(settings.quantiles); });
}

TargetForm TargetFormFrom(const TrainSettings& settings, const Activation& output, bool single_output) {
  TargetForm form;
  form.single_output = single_output;
  form.quantiles = LossFrom(settings).levels();
  if (settings.target_values.size() == 2 && std::isfinite(settings.target_values[0]) &&
      std::isfinite(settings.target_values[1]) && settings.target_values[0] < settings.target_values[1]) {
    form.negative = settings.target_values[0];
    form.positive = settings.target_values[1];
  } else if (!settings.target_values.empty()) {
    RefuseSetting("target-values", "--target-values takes two ascending numbers", FieldText(&settings.target_values));
  } else if (output.bipolar()) {
    form.negative = -1.0;
  }
  return form;
}

SplitOptions SplitOptionsFrom(const TrainSettings& settings, bool test_given, bool validation_given) {
  SplitOptions options;
  options.seed = settings.seed;
  options.stratify = settings.stratify;
  std::vector<double> shares = settings.split;
  if (shares.empty() && EffortFrom(settings) == Effort::kBest) {
    shares = {1, 0, 0};
  } else if (shares.empty()) {
    shares = test_given || settings.folds > 0 ? std::vector<double>{5.0 / 6.0, 1.0 / 6.0, 0.0}
                                              : std::vector<double>{0.6, 0.2, 0.2};
    if (validation_given) {
      shares[0] += std::exchange(shares[1], 0.0);
    }
  }
  if (shares.size() != 3) {
    RefuseSetting("split", "--split takes three shares: training, validation, test", FieldText(&shares),
                  "For example 0.8,0.2,0.");
  }
  options.train = shares[0];
  options.validation = shares[1];
  options.test = shares[2];
  return options;
}

WeightOptions WeightOptionsFrom(const TrainSettings& settings) {
  WeightOptions options;
  options.weight_column = settings.weight_column;
  for (const std::string& entry : settings.class_weights) {
    if (entry == "balanced") {
      options.balanced_classes = true;
      continue;
    }
    const size_t equals = entry.rfind('=');
    const double weight = equals == std::string::npos ? std::nan("") : ParseNumber(entry.substr(equals + 1));
    if (!std::isfinite(weight) || weight < 0) {
      RefuseSetting("class-weights", "--class-weights takes balanced or name=weight", entry);
    }
    options.class_weights.emplace_back(entry.substr(0, equals), weight);
  }
  return options;
}

Activation ActivationFrom(const TrainSettings& settings, const std::string& text, std::span<const Activation> custom) {
  if (text != formulas::BipolarSigmoid::kName || (!settings.gain && !settings.threshold)) {
    return Activation::Parse(text, custom);
  }
  const formulas::BipolarSigmoid defaults;
  return Activation::Parse(fmt::format("{}(gain={},threshold={})", text, settings.gain.value_or(defaults.gain),
                                       settings.threshold.value_or(defaults.threshold)),
                           custom);
}

OutputPlan PlanOutput(const ResolvedSettings& resolved, int64_t classes, std::span<const Activation> custom) {
  const TrainSettings& settings = *resolved;
  if (!LearnsByGradient(settings)) {
    return OutputOfMethod(settings, classes);
  }
  int64_t given_outputs = 0;
  OutputPlan plan{};
  plan.classes = classes > 0;
  std::string given = settings.output_activation;
  if (!settings.layers.empty() && !EndsInAuto(settings.layers)) {
    const LayerSpec last = ParseLayers(settings.layers, 1, settings.bias, custom).back();
    given = last.activation.Text();
    given_outputs = last.outputs;
  }
  if (!IsAuto(settings.loss)) {
    plan.loss = LossFrom(settings);
  } else if (classes > 0) {
    plan.loss = LossForClasses(IsAuto(given) ? Loss(Loss::kCrossEntropy).output() : given);
  }
  if (classes == 0 && plan.loss.targets() == LossTargets::kDistribution) {
    RefuseSetting("loss", fmt::format("{} needs classes, and the target is a number to predict", plan.loss.name()), "",
                  "Use --loss mse, or --task classification.");
  }
  if (!IsAuto(given)) {
    plan.activation = ActivationFrom(settings, given, custom);
  } else if (!plan.loss.output().empty()) {
    plan.activation = Activation::Parse(plan.loss.output());
  } else {
    plan.activation = classes > 0 ? ActivationFrom(settings, settings.activation, custom) : Activation();
  }
  if (const Verdict verdict = LossAccepts(plan.loss, plan.activation); !verdict) {
    RefuseSetting("loss", verdict.reason);
  }
  RequireTargets(settings, plan.loss, classes);
  if (*settings.label_smoothing > 0 && classes == 0) {
    RefuseSetting("label-smoothing", "--label-smoothing needs classes, and the target is a number to predict", "",
                  "Leave it out, or use --task classification.");
  }
  // A recipe smooths where it can.
  if (const Verdict verdict = LossSmooths(plan.loss); resolved.given().label_smoothing.value_or(0) > 0 && !verdict) {
    RefuseSetting("label-smoothing", "--label-smoothing: " + verdict.reason, "",
                  "Use --loss cross_entropy or binary_cross_entropy.");
  }
  plan.single_output = classes == 2 && (plan.loss.targets() == LossTargets::kProbabilities || given_outputs == 1);
  return plan;
}

std::vector<LayerSpec> LayersFrom(const ResolvedSettings& resolved, const OutputPlan& plan, int64_t inputs,
                                  int64_t outputs, std::span<const Activation> custom) {
  const TrainSettings& settings = *resolved;
  std::vector<LayerSpec> layers;
  int64_t width = inputs;
  if (EndsInAuto(settings.layers)) {
    if (const std::string hidden = HiddenPart(settings.layers); !hidden.empty()) {
      layers = ParseLayers(hidden, inputs, settings.bias, custom);
      width = layers.back().outputs;
    }
    layers.push_back({width, outputs, Synapse::kDot, plan.activation, settings.bias});
    return layers;
  }
  if (!settings.layers.empty()) {
    layers = ParseLayers(settings.layers, inputs, settings.bias, custom);
    if (layers.back().outputs != outputs) {
      RefuseSetting("layers",
                    fmt::format("the output layer has {} neurons, the target needs {}", layers.back().outputs, outputs),
                    settings.layers);
    }
    return layers;
  }
  const std::vector<int64_t> none = {0};
  for (const int64_t neurons : settings.hidden == none ? std::vector<int64_t>() : settings.hidden) {
    layers.push_back(
        {width, neurons, Synapse::kDot, ActivationFrom(settings, settings.activation, custom), settings.bias});
    layers.back().residual = settings.residual && layers.size() > 1 && width == neurons ? 1 : 0;
    width = neurons;
  }
  if (settings.residual && std::ranges::none_of(layers, [](const LayerSpec& layer) { return layer.residual > 0; })) {
    RefuseSetting("residual", "--residual needs a hidden layer that is as wide as the one before, and there is none",
                  FieldText(&settings.hidden), "Give for example --hidden 64,64,64.");
  }
  layers.push_back({width, outputs, Synapse::kDot, plan.activation, settings.bias});
  return layers;
}

bool LastStartsAtZero(const ResolvedSettings& settings) { return settings->zero_last == kYesText; }

Initialization InitializationFrom(const ResolvedSettings& settings, std::span<const LayerSpec> layers) {
  if (!IsAuto(settings->init)) {
    return ParseInitialization(settings->init);
  }
  if (ParseParametrization(settings->parametrization) == Parametrization::kNtk) {
    return Initialization::kNtk;
  }
  // Through many layers of the relu family signals of smaller weights fade; through few, smaller ones generalize
  // better.
  constexpr size_t kFewLayers = 3;
  return layers.front().activation.relu_like() && layers.size() > kFewLayers ? Initialization::kHeUniform
                                                                             : Initialization::kGlorotUniform;
}

}  // namespace lamina
