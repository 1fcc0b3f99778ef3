// Recipes: named sets of defaults for the settings of network and training.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/settings/recipe_names.h"
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

/// Settings of which what the recipe decides is no longer open; whatever is given stays. What the recipe leaves open,
/// too, stays so: it goes by the rows or by other settings. Made once what is known of the rows, and taken by whatever
/// a run is planned with.
class ResolvedSettings {
 public:
  const TrainSettings& operator*() const { return whole_; }
  const TrainSettings* operator->() const { return &whole_; }
  /// As asked for.
  const TrainSettings& given() const { return given_; }
  bool is_tabular() const { return whole_.recipe == kTabularRecipe; }

 private:
  friend ResolvedSettings Resolve(const TrainSettings& settings, std::optional<bool> classes, int64_t train_rows);

  TrainSettings given_;
  TrainSettings whole_;
};

/// As the recipe has it for `classes` or numbers; without a value, what it has for both. `train_rows` choose the width
/// of recipe tabular, where they are known (0: not), as for a network they must be. Recipe auto is that of a table
/// here: where rows may be images, RecipeFor() comes first. Throws Error(kInvalidArgument) for an unknown recipe.
ResolvedSettings Resolve(const TrainSettings& settings, std::optional<bool> classes = std::nullopt,
                         int64_t train_rows = 0);

/// The settings that the recipe decided, with their text: {"hidden", "128,128,128"}.
std::map<std::string, std::string> RecipeChoices(const ResolvedSettings& settings);

}  // namespace lamina
