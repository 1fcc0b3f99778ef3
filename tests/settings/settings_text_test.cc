// Settings as text: every field there and back, all problems with the setting to change, and the command of a run.
#include "lamina/settings/settings_text.h"
#include "lamina/settings/meanings.h"

#include "lamina/settings/method.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/settings/removed_settings.h"
#include "lamina/settings/validation.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

std::map<std::string, std::string> ProblemsOf(const TrainSettings& settings) {
  std::map<std::string, std::string> found;
  for (const SettingProblem& problem : CheckSettings(settings)) {
    EXPECT_TRUE(found.emplace(problem.setting, problem.error.message()).second) << problem.setting << " twice";
  }
  return found;
}

TrainSettings Valid() {
  TrainSettings settings;
  settings.data = "digits.csv";
  return settings;
}

TEST(SettingsText, EveryFieldThereAndBack) {
  const std::map<std::string, std::string> other = {{"hidden", "64,32"},
                                                    {"split", "0.5,0.25,0.25"},
                                                    {"target-values", "-1,1"},
                                                    {"learning-rate", "0.125"},
                                                    {"gain", "2"},
                                                    {"threshold", "-0.5"},
                                                    {"seed", "18446744073709551615"},
                                                    {"epochs", "100000"},
                                                    {"bias", "no"},
                                                    {"momentum", "0.9"},
                                                    {"epsilon", "1e-07"}};
  for (const auto& row : SettingRows<TrainSettings>()) {
    const std::string name(row.name);
    TrainSettings settings;
    const std::string before = SettingText(settings, name);
    const auto json = ToJson(settings);
    SetSetting(settings, name, before);
    EXPECT_EQ(ToJson(settings), json) << name;
    if (const auto it = other.find(name); it != other.end()) {
      SetSetting(settings, name, it->second);
      EXPECT_EQ(SettingText(settings, name), it->second);
      EXPECT_NE(ToJson(settings).at(name), json.at(name)) << name;
    }
    EXPECT_FALSE(row.help.empty()) << name;
  }
}

TEST(SettingsText, WhatWasRemovedIsNamedWithWhatToDoInstead) {
  for (const RemovedSetting& removed : RemovedSettings()) {
    TrainSettings settings = Valid();
    const Error error = CaughtError([&] {
      SetSetting(settings, removed.name, removed.value.empty() ? "1" : removed.value);
      ValidateSettings(settings);
    });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << removed.name;
    EXPECT_EQ(error.message(), removed.Text());
    EXPECT_EQ(error.context().remedy, removed.instead);
    EXPECT_EQ(error.context().setting, removed.name);
  }
}

TEST(SettingsText, StoredSettingsThatAskForWhatWasRemovedAreRefused) {
  for (const RemovedSetting& removed : RemovedSettings()) {
    nlohmann::json stored = ToJson(Valid());
    RefuseRemoved(stored, "old.checkpoint");
    stored[removed.name] = removed.value.empty() ? nlohmann::json(0) : nlohmann::json("none");
    RefuseRemoved(stored, "old.checkpoint");
    stored[removed.name] = removed.value.empty() ? nlohmann::json(4) : nlohmann::json(removed.value);
    const Error error = CaughtError([&] { RefuseRemoved(stored, "old.checkpoint"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel) << removed.name;
    EXPECT_NE(error.message().find(removed.Text()), std::string::npos) << error.message();
    EXPECT_EQ(error.context().file, "old.checkpoint");
  }
}

TEST(SettingsText, WrongTextsLeaveTheSettingAlone) {
  const std::pair<const char*, const char*> wrong[] = {
      {"epochs", "1.5"},        {"checkpoint-epochs", ""}, {"epochs", "ten"},  {"momentum", ""},   {"momentum", "x"},
      {"seed", "-1"},           {"bias", "maybe"},         {"hidden", "3,,4"}, {"split", "1;0;0"}, {"epochs", "1e30"},
      {"learning-rate", "fast"}};
  for (const auto& [name, text] : wrong) {
    TrainSettings settings;
    const std::string before = SettingText(settings, name);
    EXPECT_EQ(CaughtError([&, n = name, t = text] { SetSetting(settings, n, t); }).code(), ErrorCode::kInvalidArgument)
        << name << " " << text;
    EXPECT_EQ(SettingText(settings, name), before);
  }
  TrainSettings settings;
  const Error error = CaughtError([&] { SetSetting(settings, "epoch", "3"); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(error.context().remedy.find("'epochs'"), std::string::npos);
  SetSetting(settings, "learning-rate", " ");
  EXPECT_FALSE(settings.learning_rate.has_value());
}

TEST(SettingsText, AllProblemsAreFoundAtTheirSettings) {
  EXPECT_TRUE(CheckSettings(Valid()).empty());
  TrainSettings settings = Valid();
  const std::pair<const char*, const char*> wrong[] = {{"samples", "-3"},
                                                       {"split", "0.5,0.2,0.2"},
                                                       {"hidden", "0,3"},
                                                       {"activation", "rellu"},
                                                       {"gain", "2"},
                                                       {"init", "zero"},
                                                       {"dtype", "i8"},
                                                       {"precision", "half"},
                                                       {"loss", "l2"},
                                                       {"optimizer", "sdg"},
                                                       {"learning-rate", "-0.1"},
                                                       {"momentum", "1"},
                                                       {"weight-decay", "-1"},
                                                       {"epochs", "0"},
                                                       {"batch", "0"},
                                                       {"schedule", "sometimes"},
                                                       {"patience", "-1"},
                                                       {"keep", "none"},
                                                       {"backend", "gpu"},
                                                       {"threads", "-2"},
                                                       {"missing", "ignore"},
                                                       {"encode", "binary"},
                                                       {"scale", "logarithm"},
                                                       {"target-values", "1,0"},
                                                       {"output-activation", "tan"},
                                                       {"header", "maybe"},
                                                       {"task", "guess"},
                                                       {"class-weights", "a=none"}};
  for (const auto& [name, text] : wrong) {
    TrainSettings one = Valid();
    SetSetting(one, name, text);
    const auto found = ProblemsOf(one);
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(found.begin()->first, name) << found.begin()->second;
    SetSetting(settings, name, text);
  }
  EXPECT_EQ(ProblemsOf(settings).size(), std::size(wrong));
}

TEST(SettingsText, MissingDataIsOneProblemAmongOthers) {
  TrainSettings settings;
  settings.momentum = 2;
  const auto found = ProblemsOf(settings);
  EXPECT_EQ(found.size(), 2u);
  EXPECT_TRUE(found.contains("data") && found.contains("momentum"));
}

TEST(SettingsText, EveryChoiceIsAccepted) {
  int lists = 0;
  for (const auto& row : SettingRows<TrainSettings>()) {
    const std::string name(row.name);
    const std::vector<std::string> choices = SettingChoices(name);
    lists += choices.empty() ? 0 : 1;
    for (const std::string& choice : choices) {
      TrainSettings settings = Valid();
      SetSetting(settings, name, choice);
      if (!MethodReads(settings, name)) {  // given to another method it is refused
        settings.method = name == "distance" ? "knn" : name == "feature-weights" ? "rfm" : "elm";
      }
      if (name == "activation" && choice == "softmax") {
        continue;  // for output layers only, which shows when the network is built
      }
      if (name == "backend" && choice != "auto") {
        const auto table = BackendTable();
        const auto row =
            std::find_if(table.begin(), table.end(), [&](const auto& each) { return each.name == choice; });
        if (!row->available()) {
          continue;
        }
      }
      EXPECT_TRUE(CheckSettings(settings).empty()) << name << " " << choice;
    }
    if (!choices.empty()) {
      EXPECT_NE(std::find(choices.begin(), choices.end(), SettingText(TrainSettings(), name)), choices.end()) << name;
    }
  }
  EXPECT_GE(lists, 15);
}

TEST(SettingsText, AutoAsTheLastLayerIsWhatTheTargetNeeds) {
  TrainSettings settings = Valid();
  settings.layers = "rbf(radius=2):8,auto";
  EXPECT_TRUE(CheckSettings(settings).empty());
  OutputPlan plan = PlanOutput(Resolve(settings, true), 3, {});
  EXPECT_EQ(plan.loss, Loss::kCrossEntropy);
  const std::vector<LayerSpec> layers = LayersFrom(Resolve(settings, true), plan, 5, 3, {});
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].synapse, Synapse::kL1);
  EXPECT_EQ(layers[0].outputs, 8);
  EXPECT_EQ(layers[1].inputs, 8);
  EXPECT_EQ(layers[1].outputs, 3);
  EXPECT_TRUE(layers[1].activation.is_softmax());
  settings.output_activation = "sigmoid";
  plan = PlanOutput(Resolve(settings, true), 2, {});
  EXPECT_TRUE(plan.single_output) << "as without --layers";
  settings.layers = "auto";
  EXPECT_EQ(LayersFrom(Resolve(settings, true), plan, 5, 1, {}).size(), 1u);
  settings.layers = "dot-softmax:4,auto";
  ASSERT_EQ(CheckSettings(settings).size(), 1u);
  EXPECT_EQ(CheckSettings(settings)[0].setting, "layers");
  settings.layers = "dot-tanh:0,auto";
  EXPECT_EQ(CheckSettings(settings).size(), 1u);
  settings.layers = ",auto";
  EXPECT_EQ(CheckSettings(settings).size(), 1u);
}

}  // namespace
}  // namespace lamina
