// Recipes: named sets of defaults for the settings of network and training.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lamina/train/settings.h"

namespace lamina {

std::vector<std::string> RecipeNames();

/// The settings with what they leave open ("auto") as their recipe has it for classes or numbers; whatever is given
/// stays. What the recipe leaves open, too, stays open: it goes by the rows or by other settings. Throws
/// Error(kInvalidArgument) for an unknown recipe.
TrainSettings WithRecipe(const TrainSettings& settings, bool classes);

/// A line a setting that the recipe of `settings` decides: "hidden 256,256,256".
std::vector<std::string> RecipeLines(const TrainSettings& settings, bool classes);

}  // namespace lamina
