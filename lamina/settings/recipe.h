// Recipes: named sets of defaults for the settings of network and training.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

std::vector<std::string> RecipeNames();

/// What "auto" is: tabular for tables, whatever is given beside it; plain for images and where WhyNotTabular() has a
/// reason. Other names as they are.
std::string RecipeFor(const TrainSettings& settings, bool images);

/// What is given that recipe tabular cannot be trained with, in words: "--shards cannot be combined with a front
/// scale". Empty: nothing, or no recipe counts since the method takes no training steps. Looks at no recipe that is
/// named.
std::string WhyNotTabular(const TrainSettings& settings);

/// One line for the user where recipe auto became plain for such a reason, else empty. `given` is what was asked for.
std::string RecipeRemark(const TrainSettings& given, bool images);

/// The settings with what they leave open ("auto") as their recipe has it for classes or numbers; whatever is given
/// stays. What the recipe leaves open, too, stays open: it goes by the rows or by other settings. Recipe auto
/// is that of a table here: where rows may be images, RecipeFor() comes first. Throws Error(kInvalidArgument) for an
/// unknown recipe.
TrainSettings WithRecipe(const TrainSettings& settings, bool classes);

/// The settings that the recipe of `settings` decides, with their text: {"hidden", "256,256,256"}.
std::map<std::string, std::string> RecipeChoices(const TrainSettings& settings, bool classes);

}  // namespace lamina
