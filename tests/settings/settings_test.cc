// Settings: JSON, validation, and what they mean for output layer, split and options.
#include "lamina/settings/settings.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/validation.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/settings/settings_text.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"

namespace lamina {
namespace {

using nlohmann::json;

// Gives every field another value than its default.
void ChangeAll(TrainSettings& settings) {
  int count = 0;
  VisitSettings(settings, [&]<class T>(const auto&, T& field) {
    ++count;
    if constexpr (std::is_same_v<T, std::string>) {
      field += fmt::format("x{}", count);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      field = {"a,b", fmt::format("{}", count)};
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
      field = {0.1, count / 3.0};
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
      field = {count, int64_t{1} << 40};
    } else if constexpr (std::is_same_v<T, bool>) {
      field = !field;
    } else if constexpr (std::is_same_v<T, int64_t>) {
      field += (int64_t{1} << 53) + count;
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      field = ~uint64_t{0} - static_cast<uint64_t>(count);
    } else if constexpr (std::is_same_v<T, double>) {
      field += count / 7.0;
    } else {
      field = count / 9.0;
    }
  });
}

TEST(Settings, EveryFieldGoesThroughJson) {
  TrainSettings settings;
  const json defaults = ToJson(settings);
  EXPECT_EQ(ToJson(TrainSettingsFromJson(defaults)), defaults);
  json before = defaults;
  before["recipe"] = "plain";
  EXPECT_EQ(ToJson(TrainSettingsFromJson(json::object())), before) << "a file from before there were recipes";
  ChangeAll(settings);
  const json changed = ToJson(settings);
  ASSERT_EQ(changed.size(), defaults.size());
  for (const auto& [name, value] : changed.items()) {
    EXPECT_NE(value, defaults.at(name)) << name;
  }
  EXPECT_EQ(ToJson(TrainSettingsFromJson(json::parse(changed.dump()))), changed);
}

TEST(Settings, WrongTypesNameTheSetting) {
  const json defaults = ToJson(TrainSettings());
  const json values[] = {json("text"),
                         json(1),
                         json(-1),
                         json(2.5),
                         json(true),
                         json::object({{"a", 1}}),
                         json::array({json::array()}),
                         json(1e300),
                         json(UINT64_MAX)};
  TrainSettings changed;
  ChangeAll(changed);
  const json good = ToJson(changed);
  int refused = 0;
  for (const auto& [name, sample] : good.items()) {
    for (const json& value : values) {
      try {
        const TrainSettings settings = TrainSettingsFromJson({{name, value}});
        const bool switched = value.is_boolean() && TrainSettingRow(name).was_switch;
        EXPECT_EQ(ToJson(settings).at(name), switched ? json("yes") : value) << name << ": taken, but changed";
      } catch (const Error& error) {
        ++refused;
        EXPECT_EQ(error.code(), ErrorCode::kBadModel);
        EXPECT_TRUE(Mentions(error.what(), name));
        EXPECT_TRUE(Mentions(error.what(), value.dump()));
      }
    }
  }
  EXPECT_GT(refused, 5 * static_cast<int>(good.size()));
  EXPECT_THROW(TrainSettingsFromJson({{"epochs", 2.5}}), Error);
  EXPECT_THROW(TrainSettingsFromJson({{"seed", -1}}), Error);
  EXPECT_THROW(TrainSettingsFromJson({{"batch", true}}), Error);
  EXPECT_THROW(TrainSettingsFromJson({{"hidden", json::array({64, 2.5})}}), Error);
  EXPECT_THROW(TrainSettingsFromJson({{"hidden", 64}}), Error);
  EXPECT_THROW(TrainSettingsFromJson(json::array()), Error);
  EXPECT_EQ(TrainSettingsFromJson({{"learning-rate", 1}}).learning_rate, 1.0) << "a whole number is a number";
}

struct PlanRow {
  int64_t classes;
  const char* loss;
  const char* output;
  const char* layers;
  const char* expected;  // loss, activation, "single"; or a part of the error
};

TrainSettings SettingsOf(const PlanRow& row) {
  TrainSettings settings;
  settings.loss = row.loss;
  settings.output_activation = row.output;
  settings.layers = row.layers;
  settings.activation = "tanh";
  return settings;
}

TEST(Settings, PlanOutputTable) {
  const PlanRow rows[] = {
      {3, "auto", "auto", "", "cross_entropy softmax"},
      {3, "auto", "softmax", "", "cross_entropy softmax"},
      {3, "auto", "sigmoid", "", "binary_cross_entropy sigmoid"},
      {3, "auto", "tanh", "", "mse tanh"},
      {3, "mse", "auto", "", "mse tanh"},
      {3, "mse", "softmax", "", "mse softmax"},
      {3, "mse", "bipolar_sigmoid", "", "mse bipolar_sigmoid(gain=1,threshold=0)"},
      {3, "cross_entropy", "auto", "", "cross_entropy softmax"},
      {3, "binary_cross_entropy", "auto", "", "binary_cross_entropy sigmoid"},
      {3, "cross_entropy", "tanh", "", "error: cross_entropy needs a softmax"},
      {3, "binary_cross_entropy", "softmax", "", "error: binary_cross_entropy needs a sigmoid"},
      {2, "auto", "auto", "", "cross_entropy softmax"},
      {2, "auto", "sigmoid", "", "binary_cross_entropy sigmoid single"},
      {2, "binary_cross_entropy", "auto", "", "binary_cross_entropy sigmoid single"},
      {2, "mse", "auto", "", "mse tanh"},
      {0, "auto", "auto", "", "mse identity"},
      {0, "auto", "sigmoid", "", "mse sigmoid"},
      {0, "mse", "tanh", "", "mse tanh"},
      {0, "cross_entropy", "auto", "", "error: cross_entropy needs classes"},
      {0, "binary_cross_entropy", "auto", "", "error: binary_cross_entropy needs targets from 0 to 1"},
      {3, "mae", "auto", "", "mae tanh"},
      {3, "huber(delta=0.5)", "softmax", "", "huber(delta=0.5) softmax"},
      {0, "mae", "auto", "", "mae identity"},
      {0, "huber", "auto", "", "huber(delta=1) identity"},
      {0, "huber(delta=0)", "auto", "", "error: delta of huber must be positive"},
      {0, "hinge", "auto", "", "error: unknown loss"},
      {3, "auto", "softmx", "", "error: Did you mean 'softmax'?"},
      {3, "auto", "auto", "dot-relu:8,dot-softmax:3", "cross_entropy softmax"},
      {3, "auto", "tanh", "dot-relu:8,dot-sigmoid:3", "binary_cross_entropy sigmoid"},
      {2, "auto", "auto", "dot-relu:8,dot-tanh:1", "mse tanh single"},
      {2, "auto", "auto", "dot-relu:8,dot-tanh:2", "mse tanh"},
      {3, "cross_entropy", "auto", "dot-relu:8,dot-tanh:3", "error: cross_entropy needs a softmax"},
      {0, "auto", "auto", "dot-gelu:8,dot-identity:1", "mse identity"},
  };
  for (const PlanRow& row : rows) {
    SCOPED_TRACE(fmt::format("{} {} {} {}", row.classes, row.loss, row.output, row.layers));
    std::string got;
    try {
      const OutputPlan plan = PlanOutput(Resolve(SettingsOf(row), row.classes > 0), row.classes, {});
      got = fmt::format("{} {}{}", plan.loss.Text(), plan.activation.Text(), plan.single_output ? " single" : "");
      EXPECT_EQ(got, row.expected);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      ASSERT_TRUE(std::string_view(row.expected).starts_with("error: ")) << error.what();
      EXPECT_TRUE(Mentions(error.what(), std::string(row.expected).substr(7)));
    }
  }
}

// The gradient a - y of the entropies holds for probabilities only.
TEST(Settings, EntropiesTakeProbabilitiesOnly) {
  TrainSettings settings;
  settings.target_values = {0.1, 0.9};
  EXPECT_THROW(PlanOutput(Resolve(settings, true), 10, {}), Error) << "they sum to 1.8";
  EXPECT_NO_THROW(PlanOutput(Resolve(settings, true), 2, {}));
  settings.target_values = {0.01, 0.91};
  EXPECT_NO_THROW(PlanOutput(Resolve(settings, true), 10, {})) << "label smoothing";
  settings.target_values = {-1, 1};
  EXPECT_THROW(PlanOutput(Resolve(settings, true), 3, {}), Error);
  settings.loss = "binary_cross_entropy";
  EXPECT_THROW(PlanOutput(Resolve(settings, true), 3, {}), Error);
  settings.target_values = {0.1, 0.9};
  EXPECT_NO_THROW(PlanOutput(Resolve(settings, true), 3, {}));
  settings.loss = "mse";
  settings.target_values = {-1, 5};
  EXPECT_NO_THROW(PlanOutput(Resolve(settings, true), 3, {}));
  settings.target_values = {};
  settings.loss = "binary_cross_entropy";
  settings.target_scale = "minmax";
  EXPECT_NO_THROW(PlanOutput(Resolve(settings, false), 0, {}));
}

TEST(Settings, LabelSmoothingNeedsClasses) {
  TrainSettings settings;
  settings.label_smoothing = 0.1;
  EXPECT_NO_THROW(PlanOutput(Resolve(settings, true), 3, {}));
  EXPECT_TRUE(Mentions(CaughtError([&] { PlanOutput(Resolve(settings, false), 0, {}); }).what(),
                       "--label-smoothing needs classes"));
  for (const char* loss : {"mse", "mae", "huber"}) {
    settings.loss = loss;
    const Error error = CaughtError([&] { PlanOutput(Resolve(settings, true), 3, {}); });
    EXPECT_TRUE(Mentions(error.what(), "--label-smoothing") && Mentions(error.what(), loss));
  }
}

// Numbers that the update rule says where nobody does.
TEST(Settings, RatesAndMeansOfTheOptimizer) {
  for (const std::string& name : UpdateKindNames()) {
    TrainSettings settings;
    settings.recipe = "plain";
    settings.optimizer = name;
    UpdateRule rule = TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {}).rule;
    EXPECT_EQ(rule.learning_rate, DefaultLearningRate(rule.kind)) << name;
    EXPECT_EQ(rule.beta2, DefaultBeta2(rule.kind)) << name;
    settings.learning_rate = 0.25;
    settings.beta2 = 0.5;
    rule = TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {}).rule;
    EXPECT_EQ(rule.learning_rate, 0.25);
    EXPECT_EQ(rule.beta2, 0.5);
  }
}

TEST(Settings, LayersFromTheShape) {
  TrainSettings settings;
  settings.hidden = {8, 4};
  settings.activation = "bipolar_sigmoid";
  settings.gain = 2;
  settings.bias = false;
  const OutputPlan plan = PlanOutput(Resolve(settings, true), 3, {});
  const std::vector<LayerSpec> layers = LayersFrom(Resolve(settings, true), plan, 5, 3, {});
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0], (LayerSpec{5, 8, Synapse::kDot, "bipolar_sigmoid(gain=2,threshold=0)", false}));
  EXPECT_EQ(layers[2], (LayerSpec{4, 3, Synapse::kDot, "softmax", false}));
  settings.hidden = {0};
  EXPECT_EQ(LayersFrom(Resolve(settings, true), plan, 5, 3, {}).size(), 1U);
  settings.layers = "dot-tanh:7,dot-softmax:3";
  EXPECT_EQ(LayersFrom(Resolve(settings, true), plan, 5, 3, {})[0].outputs, 7);
  EXPECT_TRUE(Mentions(CaughtError([&] { LayersFrom(Resolve(settings, true), plan, 5, 4, {}); }).what(), "3 neurons"));
  const Activation custom[] = {Activation::Custom<Swish>()};
  settings.layers = "";
  settings.activation = "swish";
  settings.hidden = {2};
  EXPECT_EQ(LayersFrom(Resolve(settings, true), plan, 5, 3, custom)[0].activation, custom[0]);
}

TEST(Settings, InitialisationFollowsActivationAndDepth) {
  TrainSettings settings;
  settings.recipe = "plain";
  const auto of = [&](const char* activation, size_t hidden = 3) {
    std::vector<LayerSpec> layers(hidden, {2, 2, Synapse::kDot, activation, true});
    layers.push_back({2, 2, Synapse::kDot, "softmax", true});
    return InitializationFrom(Resolve(settings, false), layers);
  };
  for (const char* relu : {"relu", "leaky_relu", "gelu"}) {
    EXPECT_EQ(of(relu), Initialization::kHeUniform);
    EXPECT_EQ(of(relu, 2), Initialization::kGlorotUniform);
  }
  for (const char* other : {"tanh", "sigmoid", "bipolar_sigmoid", "identity"}) {
    EXPECT_EQ(of(other), Initialization::kGlorotUniform);
  }
  settings.init = "he_normal";
  EXPECT_EQ(of("tanh"), Initialization::kHeNormal);
}

TEST(Settings, OptionsOfTheParts) {
  TrainSettings settings;
  settings.recipe = "plain";
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {}).rule.learning_rate, 0.001);
  settings.optimizer = "sgd";
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {}).rule.learning_rate, 0.05);
  settings.learning_rate = 0.5;
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {}).rule.learning_rate, 0.5);
  const SplitOptions three = SplitOptionsFrom(settings, false, false);
  EXPECT_EQ(three.train, 0.6);
  EXPECT_EQ(three.test, 0.2);
  const SplitOptions given = SplitOptionsFrom(settings, true, false);
  EXPECT_NEAR(given.train, 5.0 / 6, 1e-15);
  EXPECT_EQ(given.test, 0);
  EXPECT_EQ(SplitOptionsFrom(settings, true, true).train, 1);
  EXPECT_EQ(TargetFormFrom(settings, "tanh", false).negative, -1);
  EXPECT_EQ(TargetFormFrom(settings, "bipolar_sigmoid", false).negative, -1);
  EXPECT_EQ(TargetFormFrom(settings, "softmax", false).negative, 0);
  settings.class_weights = {"balanced", "a=b=2"};
  EXPECT_TRUE(WeightOptionsFrom(settings).balanced_classes);
  EXPECT_EQ(WeightOptionsFrom(settings).class_weights[0].first, "a=b");
  settings.separator = ":";
  EXPECT_EQ(ReadOptionsFrom(settings).separator, ':');
  settings.separator = "tab";
  EXPECT_EQ(ReadOptionsFrom(settings).separator, '\t');
}

struct BadRow {
  void (*edit)(TrainSettings&);
  const char* mention;
};

const BadRow kBadRows[] = {
    {[](TrainSettings& s) { s.data = ""; }, "--data"},
    {[](TrainSettings& s) { s.learning_rate = NAN; }, "learning-rate"},
    {[](TrainSettings& s) { s.learning_rate = 0; }, "learning-rate"},
    {[](TrainSettings& s) { s.learning_rate = -1; }, "learning-rate"},
    {[](TrainSettings& s) { s.learning_rate = INFINITY; }, "learning-rate"},
    {[](TrainSettings& s) { s.momentum = 1; }, "momentum"},
    {[](TrainSettings& s) { s.momentum = -0.1; }, "momentum"},
    {[](TrainSettings& s) { s.momentum = NAN; }, "momentum"},
    {[](TrainSettings& s) { s.weight_decay = -1; }, "weight-decay"},
    {[](TrainSettings& s) { s.beta1 = 1; }, "beta1"},
    {[](TrainSettings& s) { s.beta2 = NAN; }, "beta2"},
    {[](TrainSettings& s) { s.epsilon = 0; }, "epsilon"},
    {[](TrainSettings& s) { s.batch = 0; }, "batch"},
    {[](TrainSettings& s) { s.batch = -5; }, "batch"},
    {[](TrainSettings& s) { s.epochs = 0; }, "epochs"},
    {[](TrainSettings& s) { s.patience = -1; }, "patience"},
    {[](TrainSettings& s) { s.min_improvement = NAN; }, "min-improvement"},
    {[](TrainSettings& s) { s.checkpoint_epochs = -1; }, "checkpoint-epochs"},
    {[](TrainSettings& s) { s.schedule_factor = 0; }, "schedule-factor"},
    {[](TrainSettings& s) { s.schedule_epochs = 0; }, "schedule-epochs"},
    {[](TrainSettings& s) { s.schedule_patience = 0; }, "schedule-patience"},
    {[](TrainSettings& s) {
       s.split = {0.5, 0.2, 0.2};
     },
     "0.9"},
    {[](TrainSettings& s) { s.split = {0.9}; }, "three shares"},
    {[](TrainSettings& s) {
       s.split = {NAN, 0.5, 0.5};
     },
     "split"},
    {[](TrainSettings& s) {
       s.split = {1.5, -0.5, 0};
     },
     "split"},
    {[](TrainSettings& s) {
       s.split = {0, 0.5, 0.5};
     },
     "split"},
    {[](TrainSettings& s) {
       s.hidden = {8, 0};
     },
     "hidden"},
    {[](TrainSettings& s) { s.hidden = {-1}; }, "hidden"},
    {[](TrainSettings& s) { s.threads = -1; }, "threads"},
    {[](TrainSettings& s) { s.threads = int64_t{1} << 32; }, "threads"},
    {[](TrainSettings& s) { s.samples = -1; }, "samples"},
    {[](TrainSettings& s) { s.task = "clasification"; }, "Did you mean 'classification'?"},
    {[](TrainSettings& s) { s.header = "maybe"; }, "--header"},
    {[](TrainSettings& s) { s.separator = "comm"; }, "Did you mean 'comma'?"},
    {[](TrainSettings& s) { s.separator = ""; }, "--separator"},
    {[](TrainSettings& s) { s.missing = "means"; }, "Did you mean 'mean'?"},
    {[](TrainSettings& s) { s.unseen = "zeros"; }, "Did you mean 'zero'?"},
    {[](TrainSettings& s) { s.encode = "one-hot"; }, "Did you mean 'onehot'?"},
    {[](TrainSettings& s) { s.scale = "standard"; }, "--scale"},
    {[](TrainSettings& s) { s.target_scale = "min-max"; }, "--target-scale"},
    {[](TrainSettings& s) { s.target_values = {1}; }, "--target-values"},
    {[](TrainSettings& s) {
       s.target_values = {1, 0};
     },
     "--target-values"},
    {[](TrainSettings& s) {
       s.target_values = {0, NAN};
     },
     "--target-values"},
    {[](TrainSettings& s) { s.class_weights = {"a"}; }, "--class-weights"},
    {[](TrainSettings& s) { s.class_weights = {"a=-1"}; }, "--class-weights"},
    {[](TrainSettings& s) { s.activation = "rellu"; }, "Did you mean 'relu'?"},
    {[](TrainSettings& s) { s.output_activation = "softmaxx"; }, "Did you mean 'softmax'?"},
    {[](TrainSettings& s) { s.layers = "dot-tanh"; }, "dot-tanh"},
    {[](TrainSettings& s) { s.activation = "bipolar_sigmoid", s.gain = 0; }, "gain"},
    {[](TrainSettings& s) { s.activation = "bipolar_sigmoid", s.threshold = NAN; }, "threshold"},
    {[](TrainSettings& s) { s.init = "glorot"; }, "--init"},
    {[](TrainSettings& s) { s.dtype = "f16"; }, "--dtype"},
    {[](TrainSettings& s) { s.dtype = "float"; }, "f32"},
    {[](TrainSettings& s) { s.loss = "mce"; }, "Did you mean 'mse'?"},
    {[](TrainSettings& s) { s.optimizer = "Adam"; }, "Did you mean 'adam'?"},
    {[](TrainSettings& s) { s.schedule = "cosin"; }, "Did you mean 'cosine'?"},
    {[](TrainSettings& s) { s.keep = "first"; }, "best"},
    {[](TrainSettings& s) { s.backend = "cpuu"; }, "Did you mean 'cpu'?"},
};

TEST(Settings, ValidationErrors) {
  TrainSettings good;
  good.data = "data.csv";
  EXPECT_NO_THROW(ValidateSettings(good));
  for (size_t i = 0; i < std::size(kBadRows); ++i) {
    TrainSettings settings = good;
    kBadRows[i].edit(settings);
    const Error error = CaughtError([&] { ValidateSettings(settings); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << i;
    EXPECT_TRUE(Mentions(error.what(), kBadRows[i].mention)) << i;
  }
}

}  // namespace
}  // namespace lamina
