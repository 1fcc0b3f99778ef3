// Recipes: named sets of defaults for the settings of network and training.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/train/settings.h"

namespace lamina {

std::vector<std::string> RecipeNames();

/// What "auto" is: tabular for tables where no setting of network, method and training is given (number types and the
/// seed may be), else plain, as on backend cuda. Other names as they are.
std::string RecipeFor(const TrainSettings& settings, bool images);

/// The settings with what they leave open ("auto") as their recipe has it for classes or numbers; whatever is given
/// stays. What the recipe leaves open, too, stays open: it goes by the rows or by other settings. Recipe auto
/// is plain here: RecipeFor() first. Throws Error(kInvalidArgument) for an unknown recipe.
TrainSettings WithRecipe(const TrainSettings& settings, bool classes);

/// The settings that the recipe of `settings` decides, with their text: {"hidden", "256,256,256"}.
std::map<std::string, std::string> RecipeChoices(const TrainSettings& settings, bool classes);

}  // namespace lamina
