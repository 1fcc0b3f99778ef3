// Method auto: a kernel machine for small tables, a network where rows are many or a network's settings are given.
#include "lamina/run/method_choice.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/run/cross_validation.h"
#include "lamina/run/session.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings_text.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// y is a smooth function of the first column; `columns` in all.
TrainSettings TableOf(const TemporaryFolder& folder, int rows, int columns) {
  std::string text;
  for (int j = 0; j < columns; ++j) {
    text += fmt::format("x{},", j);
  }
  text += "y\n";
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      text += fmt::format("{:.4f},", std::sin(1.7 * i + j * (i % 13)));
    }
    text += fmt::format("{:.4f}\n", std::cos(3 * std::sin(1.7 * i)));
  }
  TrainSettings settings;
  settings.data = folder.Path(fmt::format("{}-{}.csv", rows, columns));
  WriteFileAtomically(settings.data, text);
  return settings;
}

TEST(MethodChoice, SmallTablesHaveAKernelMachine) {
  const TemporaryFolder folder;
  const TrainSettings settings = TableOf(folder, 100, 3);
  const MethodChoice choice = ChooseMethod(settings, ReadRawData(settings));
  EXPECT_EQ(choice.settings.method, "rfm");
  EXPECT_EQ(choice.settings.split, (std::vector<double>{0.8, 0, 0.2})) << "it leaves rows out itself";
  EXPECT_TRUE(Mentions(choice.remark, "80 training rows"));
  EXPECT_TRUE(Mentions(choice.remark, "--method backpropagation"));
  TrainSession session(settings);
  EXPECT_EQ(session.settings().method, "rfm");
  EXPECT_EQ(session.recipe_remark(), choice.remark);
  EXPECT_EQ(session.train().size(), 80);
  EXPECT_EQ(session.validation().size(), 0);
  const TrainResult result = session.Run({});
  ASSERT_TRUE(result.test.has_value());
  EXPECT_EQ(session.model().training["settings"]["method"], "rfm");
  EXPECT_EQ(session.model().network.layers().back().inputs, 80);
}

TEST(MethodChoice, RowsThatAreSplitByTheUserStaySo) {
  const TemporaryFolder folder;
  TrainSettings settings = TableOf(folder, 100, 3);
  settings.split = {0.5, 0.25, 0.25};
  const MethodChoice choice = ChooseMethod(settings, ReadRawData(settings));
  EXPECT_EQ(choice.settings.method, "rfm");
  EXPECT_EQ(choice.settings.split, settings.split);
}

TEST(MethodChoice, WhatNamesANetworkTrainsOne) {
  const TemporaryFolder folder;
  const TrainSettings open = TableOf(folder, 100, 3);
  const RawData raw = ReadRawData(open);
  const std::pair<const char*, const char*> kGiven[] = {
      {"hidden", "8"},       {"layers", "dot-relu:8,auto"}, {"activation", "tanh"}, {"epochs", "3"},
      {"batch", "8"},        {"learning-rate", "0.01"},     {"members", "2"},       {"loss", "mae"},
      {"precision", "bf16"}, {"recipe", "plain"},           {"recipe", "tabular"},  {"method", "backpropagation"},
      {"intervals", "0.9"},  {"checkpoint", "c"},           {"backend", "cuda"}};
  for (const auto& [name, text] : kGiven) {
    TrainSettings given = open;
    SetSetting(given, name, text);
    const MethodChoice choice = ChooseMethod(given, raw);
    EXPECT_EQ(choice.settings.method, given.method) << name;
    EXPECT_TRUE(LearnsByGradient(choice.settings)) << name;
    EXPECT_EQ(choice.settings.recipe, RecipeFor(given, false)) << name;
    EXPECT_EQ(choice.remark, RecipeRemark(given, false)) << name;
  }
}

TEST(MethodChoice, WhatAKernelMachineReadsLeavesItTheChoice) {
  const TemporaryFolder folder;
  const TrainSettings open = TableOf(folder, 100, 3);
  const RawData raw = ReadRawData(open);
  for (const auto& [name, text] : {std::pair("seed", "7"), std::pair("scale", "minmax"), std::pair("drop", "x2"),
                                   std::pair("threads", "1"), std::pair("dtype", "f64"), std::pair("model", "m")}) {
    TrainSettings given = open;
    SetSetting(given, name, text);
    EXPECT_EQ(ChooseMethod(given, raw).settings.method, "rfm") << name;
  }
}

TEST(MethodChoice, ManyRowsOrInputsHaveANetwork) {
  const TemporaryFolder folder;
  const auto most = static_cast<int>(kMostRowsOfKernels);
  for (const auto& [rows, columns, method] : {std::tuple(most, 1, "rfm"), std::tuple(most + 1, 1, "auto"),
                                              std::tuple(4 * most, 1, "auto"), std::tuple(10, 501, "auto")}) {
    TrainSettings settings = TableOf(folder, rows, columns);
    settings.split = {1, 0, 0};
    EXPECT_EQ(ChooseMethod(settings, ReadRawData(settings)).settings.method, method) << rows << " " << columns;
    settings.samples = 10;
    EXPECT_EQ(ChooseMethod(settings, ReadRawData(settings)).settings.method, columns == 1 ? "rfm" : "auto") << rows;
  }
}

TEST(MethodChoice, BetweenThemAreBoth) {
  const TemporaryFolder folder;
  const auto most = static_cast<int>(kMostRowsOfMixed);
  for (const auto& [rows, recipe] :
       {std::pair(static_cast<int>(kMostRowsOfKernels) + 1, "mixed"), {most, "mixed"}, {most + 1, "tabular"}}) {
    TrainSettings settings = TableOf(folder, rows, 2);
    const RawData raw = ReadRawData(settings);
    settings.split = {1, 0, 0};
    const MethodChoice choice = ChooseMethod(settings, raw);
    EXPECT_EQ(choice.settings.recipe, recipe) << rows;
    EXPECT_EQ(choice.settings.method, "auto") << rows;
    EXPECT_EQ(choice.settings.min_count, rows <= kMostRowsOfPairs ? std::optional<int64_t>(2) : std::nullopt) << rows;
    EXPECT_EQ(choice.remark.empty(), choice.settings.recipe == "tabular");
    for (const auto& [name, text] :
         {std::pair("group", "x1"), {"split-by", "x1"}, {"epochs", "3"}, {"calibrate", "yes"}, {"intervals", "0.9"}}) {
      TrainSettings given = settings;
      SetSetting(given, name, text);
      EXPECT_EQ(ChooseMethod(given, raw).settings.recipe, "tabular") << name;
    }
  }
}

TEST(MethodChoice, CategoriesOfTwoRowsHaveAnInputWhereRowsAreFew) {
  const TemporaryFolder folder;
  for (const int rows : {2100, 4200}) {  // each category has three rows
    std::string text = "name,x,y\n";
    for (int i = 0; i < rows; ++i) {
      text += fmt::format("n{},{:.4f},{:.3f}\n", i % (rows / 3), std::sin(1.7 * i), std::cos(0.3 * i));
    }
    TrainSettings settings;
    settings.data = folder.Path(fmt::format("{}-names.csv", rows));
    WriteFileAtomically(settings.data, text);
    settings.split = {1, 0, 0};
    const RawData raw = ReadRawData(settings);
    const MethodChoice choice = ChooseMethod(settings, raw);
    EXPECT_EQ(choice.settings.recipe, "mixed");
    const int64_t inputs = PlanData(choice.settings, raw).preprocessor.inputs().count();
    EXPECT_EQ(inputs > 700, rows == 2100) << inputs;
    settings.min_count = 5;
    EXPECT_EQ(ChooseMethod(settings, raw).settings.min_count, std::optional<int64_t>(5));
  }
}

TEST(MethodChoice, ManyInputsHaveBothWhereTheMachineIsQuickEnough) {
  const TemporaryFolder folder;
  TrainSettings wide = TableOf(folder, 1100, 501);
  wide.split = {1, 0, 0};
  EXPECT_EQ(ChooseMethod(wide, ReadRawData(wide)).settings.recipe, "mixed");
  // Two columns of so many categories; those of a few rows share an input.
  constexpr int kRows = 9000;
  static_assert(int64_t{kRows} * kRows * 2 * 900 > kMostWorkOfMixed);
  for (const auto& [categories, recipe] : {std::pair(100, "mixed"), {900, "tabular"}, {3000, "mixed"}}) {
    std::string text = "a,b,y\n";
    for (int i = 0; i < kRows; ++i) {
      text += fmt::format("a{},b{},{}\n", i % categories, i * 7 % categories, i % 11);
    }
    TrainSettings settings;
    settings.data = folder.Path(fmt::format("{}.csv", categories));
    WriteFileAtomically(settings.data, text);
    settings.task = "regression";
    settings.split = {1, 0, 0};
    EXPECT_EQ(ChooseMethod(settings, ReadRawData(settings)).settings.recipe, recipe) << categories;
  }
}

TEST(MethodChoice, FoldsChooseOnce) {
  const TemporaryFolder folder;
  TrainSettings settings = TableOf(folder, 60, 2);
  settings.folds = 3;
  const RawData raw = ReadRawData(settings);
  const CrossValidation folds = CrossValidate(settings, raw, {}, {});
  EXPECT_EQ(folds.final_settings.method, "rfm");
  for (const FoldResult& fold : folds.folds) {
    EXPECT_EQ(fold.epochs, 1);
    EXPECT_EQ(fold.validation_rows, 0);
  }
}

TEST(MethodChoice, APlanHasIt) {
  const TemporaryFolder folder;
  const TrainSettings settings = TableOf(folder, 60, 2);
  const RunPlan plan = PlanRun(settings, ReadRawData(settings));
  EXPECT_EQ(plan.method, "rfm");
  EXPECT_EQ(plan.train_rows, 48);
  EXPECT_FALSE(plan.recipe_remark.empty());
}

}  // namespace
}  // namespace lamina
