// Which layers --residual and "residual(...)" of --layers give, and what is refused.
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/validation.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

TEST(LayersFrom, ResidualIsOfEquallyWideHiddenLayers) {
  TrainSettings settings;
  settings.data = "-";
  settings.recipe = "plain";
  settings.residual = true;
  settings.hidden = {8, 8, 5, 5, 5};
  const OutputPlan plan = PlanOutput(Resolve(settings, true), 3, {});
  std::vector<int64_t> residual;
  for (const LayerSpec& layer : LayersFrom(Resolve(settings, true), plan, 4, 3, {})) {
    residual.push_back(layer.residual);
  }
  EXPECT_EQ(residual, (std::vector<int64_t>{0, 1, 0, 1, 1, 0}));
  settings.hidden = {8, 5};
  EXPECT_EQ(CaughtError([&] { LayersFrom(Resolve(settings, true), plan, 4, 3, {}); }).context().setting, "residual");
  settings.hidden = {5, 5};
  settings.layers = "dot-relu:5,auto";
  EXPECT_EQ(CaughtError([&] { ValidateSettings(settings); }).context().setting, "residual");
  settings = {};
  settings.data = "-";
  settings.layers = "residual(dot-relu:5,dot-identity:7),auto";  // of 7 inputs
  ValidateSettings(settings);
  EXPECT_EQ(RecipeFor(settings, false), "tabular");
  settings.layers = "dot-relu:6,residual(dot-relu:5,dot-identity:7),auto";
  EXPECT_EQ(CaughtError([&] { ValidateSettings(settings); }).context().setting, "layers");
}

}  // namespace
}  // namespace lamina
