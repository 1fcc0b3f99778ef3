// Recipes: what is open follows them, what is given stays, and what was written before them means what it meant.
#include "lamina/settings/recipe.h"
#include "lamina/settings/meanings.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "lamina/run/run_plan.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/settings_text.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

TrainSettings Tabular() {
  TrainSettings settings;
  settings.recipe = "tabular";
  return settings;
}

TEST(Recipe, TabularIsRealMlpTdS) {
  for (const bool classes : {true, false}) {
    const TrainSettings whole = *Resolve(Tabular(), classes);
    EXPECT_EQ(whole.hidden, (std::vector<int64_t>{256, 256, 256}));
    EXPECT_EQ(whole.activation, classes ? "selu" : "mish");
    EXPECT_EQ(whole.label_smoothing, classes ? 0.1 : 0);
    EXPECT_EQ(whole.monitor, classes ? "accuracy" : "loss");
    const TrainOptions options = TrainOptionsFrom(Resolve(Tabular(), classes), Loss::kMse, {100, 20, classes, 5});
    EXPECT_EQ(options.epochs, 256);
    EXPECT_EQ(options.batch, 256);
    EXPECT_EQ(options.patience, 0);
    EXPECT_EQ(options.patience_waves, 1);
    EXPECT_EQ(options.rule.learning_rate, classes ? 0.04 : 0.07);
    EXPECT_EQ(options.rule.beta2, 0.95);
    EXPECT_EQ(options.rule.weight_decay, 0);
    EXPECT_EQ(options.step.front_scale, 6);
    EXPECT_EQ(options.schedule.kind, ScheduleKind::kCosLog4);
    const std::vector<LayerSpec> layers{{16, 4, Synapse::kDot, "selu", true}, {4, 4, Synapse::kL1, "identity", false}};
    const std::vector<LayerRates> rates = options.step.RatesOf(layers);
    EXPECT_EQ(rates[0].weights, 0.25);
    EXPECT_EQ(rates[0].bias, 0.1);
    EXPECT_EQ(rates[1].weights, 1);
    EXPECT_EQ(InitializationFrom(Resolve(Tabular(), classes), layers), Initialization::kNtk);
  }
}

TEST(Recipe, TabularIsNarrowForTheRowsOfMixed) {
  const auto width = [](TrainSettings settings, int64_t train_rows) {
    return Resolve(settings, true, train_rows)->hidden;
  };
  const std::vector<int64_t> narrow{128, 128, 128};
  const std::vector<int64_t> wide{256, 256, 256};
  EXPECT_EQ(width(Tabular(), 1'000), wide);
  EXPECT_EQ(width(Tabular(), 1'001), narrow);
  EXPECT_EQ(width(Tabular(), 10'000), narrow);
  EXPECT_EQ(width(Tabular(), 10'001), wide);
  TrainSettings settings = Tabular();
  settings.recipe = "mixed";
  EXPECT_EQ(width(settings, 10'000), narrow);
  settings.recipe = "plain";
  EXPECT_EQ(width(settings, 10'000), std::vector<int64_t>{128});
  settings = Tabular();
  settings.number_embedding = "pbld";
  EXPECT_EQ(width(settings, 10'000), wide);
  settings = Tabular();
  settings.hidden = {7};
  EXPECT_EQ(width(settings, 10'000), std::vector<int64_t>{7});
}

TEST(Recipe, BeforeRowsAreKnownWhatDependsOnThemStaysOpen) {
  const ResolvedSettings resolved = Resolve(Tabular());
  EXPECT_TRUE(resolved.is_tabular());
  EXPECT_EQ(resolved->scale, "robust");
  EXPECT_EQ(resolved->hidden, (std::vector<int64_t>{256, 256, 256}));
  EXPECT_EQ(resolved->activation, kAutoText);
  EXPECT_FALSE(resolved->learning_rate);
  EXPECT_EQ(resolved.given().scale, kAutoText);
  EXPECT_EQ(Resolve(resolved.given(), true)->activation, "selu");
}

TEST(Recipe, WavesEndTrainingOnlyWhereNobodySaysHowLong) {
  EXPECT_EQ(TrainOptionsFrom(Resolve(Tabular(), false), Loss::kMse, {100, 0, false, 5}).patience_waves,
            0);  // nothing to watch
  TrainSettings settings = Tabular();
  settings.epochs = 20;
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {100, 20, false, 5}).patience_waves, 0);
  settings.patience_waves = 2;
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {100, 20, false, 5}).patience_waves, 2);
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {100, 0, false, 5}).patience_waves,
            2);  // the trainer refuses
}

TEST(Recipe, BesideAKernelMachineEpochsAreFewAndNoWaveEndsThem) {
  TrainSettings mixed;
  mixed.recipe = kMixedRecipe;
  for (const auto& [rows, epochs] : {std::pair<int64_t, int64_t>{100, 48}, {1500, 48}, {2000, 36}, {8000, 24}}) {
    const TrainOptions options = TrainOptionsFrom(Resolve(mixed, true), Loss::kMse, {rows, 20, true, 5});
    EXPECT_EQ(options.epochs, epochs);
    EXPECT_EQ(options.patience_waves, 0);
    EXPECT_EQ(options.keep, Keep::kBestWave);
    EXPECT_EQ(options.rule.weight_decay, 0);
  }
  EXPECT_TRUE(Resolve(mixed, true).is_tabular());
  mixed.epochs = 7;
  EXPECT_EQ(TrainOptionsFrom(Resolve(mixed, true), Loss::kMse, {100, 20, true, 5}).epochs, 7);
}

TEST(Recipe, PlainLeavesTrainingAsItWas) {
  TrainSettings plain;
  plain.recipe = "plain";
  const TrainOptions options = TrainOptionsFrom(Resolve(plain, true), Loss::kMse, {100, 20, true, 5});
  const AutoTraining by_rows = AutoTrainingFor({100, 20});
  EXPECT_EQ(options.epochs, by_rows.epochs);
  EXPECT_EQ(options.batch, by_rows.batch);
  EXPECT_EQ(options.step.front_scale, 0);
  EXPECT_EQ(options.step.bias_rate, 1);
  EXPECT_EQ(options.step.label_smoothing, 0);
  EXPECT_EQ(options.schedule.kind, ScheduleKind::kConstant);
  EXPECT_EQ(options.keep, Keep::kAuto);
  EXPECT_TRUE(options.step.RatesOf(std::vector<LayerSpec>(2)).empty());
  EXPECT_FALSE(LastStartsAtZero(Resolve(plain)));
}

// For every setting that a recipe decides, a value that is not the recipe's.
TEST(Recipe, WhatIsGivenStays) {
  const TrainSettings whole = *Resolve(Tabular(), true);
  for (const auto& [name, by_recipe] : RecipeChoices(Resolve(Tabular(), true))) {
    EXPECT_EQ(by_recipe, SettingText(whole, name));
    for (const std::string& text :
         {std::string("1"), std::string("0"), std::string("standard"), std::string("relu"), std::string("yes"),
          std::string("no"), std::string("loss"), std::string("last"), std::string("cosine")}) {
      TrainSettings given = Tabular();
      try {
        SetSetting(given, name, text);
        CheckSettingRows(given);
      } catch (const Error&) {
        continue;
      }
      EXPECT_EQ(SettingText(*Resolve(given, true), name), SettingText(given, name)) << name << " " << by_recipe;
    }
  }
}

TEST(Recipe, RatesAreThoseOfItsRuleAndParametrization) {
  TrainSettings settings = Tabular();
  settings.parametrization = "standard";
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {}).rule.learning_rate,
            DefaultLearningRate(UpdateKind::kAdam));
  settings = Tabular();
  settings.optimizer = "sgd";
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, false), Loss::kMse, {}).rule.learning_rate,
            DefaultLearningRate(UpdateKind::kSgd));
}

TEST(Recipe, WavesOfNumbersHaveAHigherRateAndAQuarterOfTheEpochs) {
  const TrainRows rows{10'000, 0, false, 8};
  const auto options = [&](const TrainSettings& settings, bool classes) {
    return TrainOptionsFrom(Resolve(settings, classes), classes ? Loss::kCrossEntropy : Loss::kMse, rows);
  };
  TrainSettings waves = Tabular();
  waves.number_embedding = "pbld";
  for (const bool classes : {false, true}) {
    EXPECT_GT(options(waves, classes).rule.learning_rate, 3 * options(Tabular(), classes).rule.learning_rate);
    EXPECT_EQ(4 * options(waves, classes).epochs, options(Tabular(), classes).epochs);
  }
  waves.learning_rate = 0.01;
  waves.epochs = 7;
  EXPECT_EQ(options(waves, false).rule.learning_rate, 0.01);
  EXPECT_EQ(options(waves, false).epochs, 7);
}

TEST(Recipe, EpochsAreBoundedByTheRows) {
  int64_t before = 256;
  for (int64_t rows = 100; rows < 100'000'000; rows *= 3) {
    const AutoTraining now = RecipeTrainingFor({rows, 0, false, 10}, /*waves=*/false);
    EXPECT_EQ(RecipeTrainingFor({rows, 0, false, 10}, /*waves=*/true).epochs, now.epochs / 4);
    EXPECT_LE(now.epochs, before);
    EXPECT_GE(now.epochs, 1);
    before = now.epochs;
  }
  EXPECT_LT(before, 64);
}

// A flag changes what it names. Each setting of network and training alone keeps the recipe and its other choices, or
// has a reason.
TEST(Recipe, AutoStaysTabularWhateverIsGivenBesideIt) {
  const std::map<std::string, std::string> choices = RecipeChoices(Resolve(TrainSettings(), true));
  EXPECT_EQ(choices, RecipeChoices(Resolve(Tabular(), true)));
  int tried = 0;
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    if ((row.group != kNetworkGroup && row.group != kTrainingGroup) || row.name == "recipe") {
      continue;
    }
    for (const char* text : {"7", "0.25", "tanh", "yes", "no", "cosine", "adamw", "lbfgs", "dot-relu:8,auto"}) {
      TrainSettings given;
      try {
        SetSetting(given, row.name, text);
        CheckSettingRows(given);
      } catch (const Error&) {
        continue;
      }
      ++tried;
      SCOPED_TRACE(std::string(row.name) + " " + text);
      const std::string why = WhyNotTabular(given);
      EXPECT_EQ(RecipeFor(given, false), why.empty() ? "tabular" : "plain");
      const bool told = !why.empty();
      if (row.name == "layers" && !std::string_view(text).starts_with("dot-")) {
        continue;  // no layers
      }
      EXPECT_EQ(told, row.name == "shards" || row.name == "shard-data"
                          ? given.shards > 0 || given.shard_data
                          : row.name == "optimizer" && std::string_view(text) == "lbfgs");
      EXPECT_EQ(RecipeRemark(given, false).empty(), !told);
      if (!told && row.name != "schedule" && row.name != "optimizer" && row.name != "epochs" &&
          row.name != "patience" && row.name != "parametrization") {
        for (const auto& [name, text_of] : RecipeChoices(Resolve(given, true))) {
          EXPECT_EQ(text_of, choices.at(name)) << name;
        }
      }
    }
  }
  EXPECT_GT(tried, 30);
}

TEST(Recipe, PlainHasAReason) {
  TrainSettings settings;
  EXPECT_EQ(RecipeFor(settings, true), "plain") << "images";
  EXPECT_EQ(RecipeRemark(settings, true), "");
  settings.backend = "cuda";
  EXPECT_EQ(RecipeFor(settings, false), "tabular");
  settings.backend = "auto";
  settings.shards = 2;
  EXPECT_EQ(RecipeFor(settings, false), "plain");
  EXPECT_TRUE(Mentions(RecipeRemark(settings, false), "--shards cannot be combined with a front scale"));
  settings = {};
  settings.layers = "rbf:8,auto";
  EXPECT_EQ(RecipeFor(settings, false), "plain");
  settings.layers = "dot-bipolar_sigmoid(gain=2,threshold=0):4,dot-softmax:2";
  EXPECT_EQ(RecipeFor(settings, false), "tabular");
  settings = {};
  settings.method = "elm";
  EXPECT_EQ(RecipeFor(settings, false), "plain");
  EXPECT_EQ(RecipeRemark(settings, false), "") << "no recipe counts";
  EXPECT_EQ(RecipeFor(Tabular(), true), "tabular") << "who asks for it gets it";
}

TEST(Recipe, FilesOfBeforeArePlain) {
  nlohmann::json before = ToJson(TrainSettings());
  before["hidden"] = {128};
  before["activation"] = "relu";
  before.erase("recipe");
  EXPECT_EQ(TrainSettingsFromJson(before).recipe, "plain");
  TrainSettings settings;
  settings.recipe = "tabula";
  EXPECT_TRUE(Mentions(CaughtError([&] { Resolve(settings, true); }).what(), "Did you mean 'tabular'?"));
}

}  // namespace
}  // namespace lamina
