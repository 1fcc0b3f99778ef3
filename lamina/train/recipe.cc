// One table of what each recipe makes of a setting that is not given.
#include "lamina/train/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lamina/base/names.h"
#include "lamina/base/setting.h"
#include "lamina/train/settings_text.h"

namespace lamina {
namespace {

// The numbers of RealMLP-TD-S are those of its parametrisation and update rule.
bool HasItsRates(const TrainSettings& s) { return s.optimizer == "adam" && s.parametrization == "ntk"; }
bool HasOpenEpochs(const TrainSettings& s) { return !s.epochs; }                      // 20 epochs are 20 epochs
bool HasOpenPatience(const TrainSettings& s) { return s.patience.value_or(0) == 0; }  // it counts epochs, not waves
bool IsAdam(const TrainSettings& s) { return s.optimizer == "adam"; }

struct RecipeRow {
  std::string_view setting;
  std::string_view plain;
  std::string_view classes;  // of tabular, for classes and for numbers
  std::string_view numbers;
  bool (*only_if)(const TrainSettings&) = nullptr;  // for tabular; null: always
};

// tabular: RealMLP-TD-S of Holzmüller, Grinsztajn and Steinwart 2024, "Better by Default". Rows that others ask about
// stand before them. Empty: left open.
constexpr RecipeRow kRows[] = {
    {"scale", "", "robust", "robust"},
    {"hidden", "128", "256,256,256", "256,256,256"},
    {"activation", "relu", "selu", "mish"},
    {"parametrization", "standard", "ntk", "ntk"},
    {"bias-rate", "1", "0.1", "0.1"},
    {"number-embedding", "none", "none", "none"},
    {"category-embedding", "0", "0", "0"},
    {"embedding-rate", "1", "0.1", "0.1"},
    {"front-scale", "0", "6", "6"},
    {"zero-last", "no", "yes", "yes"},
    {"label-smoothing", "0", "0.1", ""},
    {"learning-rate", "", "0.04", "0.07", &HasItsRates},
    {"beta2", "", "0.95", "0.95", &IsAdam},
    {"weight-decay", "", "0", "0"},
    {"schedule", "constant", "coslog4", "coslog4"},
    {"patience", "", "0", "0"},
    {"patience-waves", "0", "1", "1", &HasOpenEpochs},
    {"monitor", "loss", "accuracy", "loss"},
    {"keep", "auto", "last_best", "last_best"},
    {"keep", "", "best_wave", "best_wave", &HasOpenPatience},
};

bool IsOpen(const TrainSettings& settings, std::string_view name) {
  const std::string text = SettingText(settings, name);
  return text.empty() || text == kAutoText;
}

}  // namespace

std::vector<std::string> RecipeNames() { return {"auto", "plain", "tabular"}; }

std::string RecipeFor(const TrainSettings& settings, bool images) {
  if (settings.recipe != "auto") {
    return settings.recipe;
  }
  const TrainSettings defaults;
  const std::span<const Setting<TrainSettings>> rows = SettingRows<TrainSettings>();
  const bool given = std::any_of(rows.begin(), rows.end(), [&](const Setting<TrainSettings>& row) {
    const bool of_recipes = row.group == kNetworkGroup || row.group == kMethodGroup || row.group == kTrainingGroup;
    constexpr std::string_view kOthers[] = {"recipe", "dtype", "precision", "seed"};
    return of_recipes && std::find(std::begin(kOthers), std::end(kOthers), row.name) == std::end(kOthers) &&
           SettingText(settings, row.name) != SettingText(defaults, row.name);
  });
  const bool scales_inputs = settings.backend != "cuda";  // the front scale of tabular
  return images || given || !scales_inputs ? "plain" : "tabular";
}

TrainSettings WithRecipe(const TrainSettings& settings, bool classes) {
  CheckChoice("recipe", settings.recipe, RecipeNames());
  const bool plain = settings.recipe != "tabular";
  TrainSettings whole = settings;
  for (const RecipeRow& row : kRows) {
    const std::string_view value = plain ? row.plain : classes ? row.classes : row.numbers;
    const bool taken = plain || row.only_if == nullptr || row.only_if(whole);
    if (!value.empty() && taken && IsOpen(settings, row.setting)) {
      SetSetting(whole, row.setting, value);
    }
  }
  if (!whole.label_smoothing) {
    whole.label_smoothing = 0;
  }
  return whole;
}

std::map<std::string, std::string> RecipeChoices(const TrainSettings& settings, bool classes) {
  const TrainSettings whole = WithRecipe(settings, classes);
  std::map<std::string, std::string> choices;
  for (const RecipeRow& row : kRows) {
    if (IsOpen(settings, row.setting) && !IsOpen(whole, row.setting)) {
      choices.emplace(row.setting, SettingText(whole, row.setting));
    }
  }
  return choices;
}

}  // namespace lamina
