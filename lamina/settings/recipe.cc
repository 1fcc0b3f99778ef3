// One table of what each recipe makes of a setting that is not given.
#include "lamina/settings/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "lamina/base/names.h"
#include "lamina/base/setting.h"
#include "lamina/base/text.h"
#include "lamina/nn/network.h"
#include "lamina/nn/routes.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/number_embedding.h"
#include "lamina/settings/settings_text.h"
#include "lamina/train/schedule.h"

namespace lamina {
namespace {

// The numbers of RealMLP-TD-S are those of its parametrisation and update rule.
bool IsAdam(const TrainSettings& s) { return s.optimizer == "adam" || s.optimizer == "adamw"; }
bool HasItsRates(const TrainSettings& s) { return IsAdam(s) && s.parametrization == "ntk"; }
bool RatesInWaves(const TrainSettings& s) { return s.schedule == ScheduleKindName(ScheduleKind::kCosLog4); }
// 20 epochs are 20 epochs, and beside a kernel machine they are few.
bool EndsByWaves(const TrainSettings& s) { return !s.epochs && RatesInWaves(s) && !HasKernelsBeside(s); }
bool HasRatesOfWaves(const TrainSettings& s) { return HasItsRates(s) && LearnsWaves(s); }
bool AreRowsOfMixed(int64_t rows) { return kMostRowsOfKernels < rows && rows <= kMostRowsOfMixed; }
bool HasNoWaves(const TrainSettings& s) { return !LearnsWaves(s); }
bool LearnsLabels(const TrainSettings& s) { return s.soft_target.empty(); }
bool KeepsByWaves(const TrainSettings& s) {
  return s.patience.value_or(0) == 0 && RatesInWaves(s);
}  // it counts epochs

// Text of --layers with another neuron than dot ones.
bool NamesOtherNeurons(std::string_view layers) {
  bool others = false;
  std::string layer;  // commas inside parentheses do not separate layers
  for (const std::string_view piece : SplitText(layers, ',')) {
    layer += (layer.empty() ? "" : ",") + std::string(piece);
    if (std::count(layer.begin(), layer.end(), '(') == std::count(layer.begin(), layer.end(), ')')) {
      if (layer.starts_with(kResidualText) && layer.ends_with(')')) {
        others |= NamesOtherNeurons(
            std::string_view(layer).substr(kResidualText.size(), layer.size() - kResidualText.size() - 1));
      } else {
        others |= !layer.empty() && layer != kAutoText && !layer.starts_with("dot-");
      }
      layer.clear();
    }
  }
  return others;
}

struct RecipeRow {
  std::string_view setting;
  std::string_view plain;
  std::string_view classes;  // of tabular, for classes and for numbers
  std::string_view numbers;
  bool (*only_if)(const TrainSettings&) = nullptr;  // for tabular; null: always
  bool (*for_rows)(int64_t train_rows) = nullptr;   // the same
};

// tabular: RealMLP-TD-S of Holzmüller, Grinsztajn and Steinwart 2024, "Better by Default". Rows that others ask about
// stand before them. Empty: left open.
constexpr RecipeRow kRows[] = {
    {"scale", "", "robust", "robust"},
    {"min-count", "", "5", "5"},  // docs/decisions/0119
    {"hidden", "128", "256,256,256", "256,256,256"},
    {"activation", "relu", "selu", "mish"},
    {"parametrization", "standard", "ntk", "ntk", &IsAdam},
    {"bias-rate", "1", "0.1", "0.1"},
    {"number-embedding", "none", "none", "none"},
    {"hidden", "128", "128,128,128", "128,128,128", &HasNoWaves, &AreRowsOfMixed},  // docs/decisions/0117
    {"category-embedding", "0", "0", "0"},
    {"embedding-rate", "1", "0.1", "0.1"},
    {"front-scale", "0", "6", "6"},
    {"zero-last", "no", "yes", "yes"},
    {"label-smoothing", "0", "0.1", "", &LearnsLabels},
    {"learning-rate", "", "0.04", "0.07", &HasItsRates},
    {"learning-rate", "", "0.14", "0.25", &HasRatesOfWaves},  // docs/decisions/0114
    {"beta2", "", "0.95", "0.95", &IsAdam},
    {"weight-decay", "", "0", "0"},
    {"schedule", "constant", "coslog4", "coslog4"},
    {"patience", "", "0", "0"},
    {"patience-waves", "0", "1", "1", &EndsByWaves},
    {"monitor", "loss", "accuracy", "loss"},
    {"keep", "auto", "last_best", "last_best"},
    {"keep", "", "best_wave", "best_wave", &KeepsByWaves},
};

// What --effort quick has otherwise than plain, beside its epochs (docs/decisions/0108).
constexpr std::pair<std::string_view, std::string_view> kQuickRows[] = {{"schedule", "one_cycle"},
                                                                        {"learning-rate", "0.005"}};

std::string_view QuickValue(const TrainSettings& settings, std::string_view setting) {
  const auto* const row = std::ranges::find(kQuickRows, setting, [](const auto& pair) { return pair.first; });
  return EffortFrom(settings) == Effort::kQuick && row != std::end(kQuickRows) ? row->second : "";
}

// What of tabular a route may refuse (nn/routes.h).
Techniques OfTabular() {
  Techniques used;
  used.Add(Technique::kFrontScale);
  used.Add(Technique::kRates);
  return used;
}

// Settings that ask for a route, as they are written.
struct AskedRoute {
  std::string_view given;
  bool (*asks)(const TrainSettings&);
  Route route;
};

constexpr AskedRoute kAskedRoutes[] = {
    {"--optimizer lbfgs", [](const TrainSettings& s) { return s.optimizer == kLbfgs; }, Route::kAllRows},
    {"--shards", [](const TrainSettings& s) { return s.shards > 0; }, Route::kShards},
    {"--shard-data", [](const TrainSettings& s) { return s.shard_data; }, Route::kShards}};

bool IsOpen(const TrainSettings& settings, std::string_view name) {
  const std::string text = SettingText(settings, name);
  return text.empty() || text == kAutoText;
}

}  // namespace

std::vector<std::string> RecipeNames() {
  return {std::string(kAutoText), std::string(kPlainRecipe), std::string(kTabularRecipe), std::string(kMixedRecipe)};
}

std::string WhyNotTabular(const TrainSettings& settings) {
  if (!LearnsByGradient(settings)) {
    return "";
  }
  for (const AskedRoute& asked : kAskedRoutes) {
    const TechniqueRow* const refused = FirstRefused(asked.route, OfTabular());
    if (refused != nullptr && asked.asks(settings)) {
      return fmt::format("{} cannot be combined with {}", asked.given, refused->words);
    }
  }
  return NamesOtherNeurons(settings.layers)
             ? "--layers names neurons without a rate of the recipe, which is for dot layers"
             : "";
}

std::string RecipeFor(const TrainSettings& settings, bool images) {
  if (settings.recipe != kAutoText) {
    return settings.recipe;
  }
  return std::string(images || !LearnsByGradient(settings) || !WhyNotTabular(settings).empty() ? kPlainRecipe
                                                                                               : kTabularRecipe);
}

std::string RecipeRemark(const TrainSettings& given, bool images) {
  const std::string reason = given.recipe == kAutoText && !images ? WhyNotTabular(given) : "";
  return reason.empty() ? "" : "recipe plain instead of tabular: " + reason;
}

ResolvedSettings Resolve(const TrainSettings& settings, std::optional<bool> classes, int64_t train_rows) {
  CheckChoice("recipe", settings.recipe, RecipeNames());
  ResolvedSettings resolved;
  resolved.given_ = settings;
  TrainSettings& whole = resolved.whole_ = settings;
  const std::string recipe =
      HasKernelsBeside(settings) ? std::string(kTabularRecipe) : RecipeFor(settings, /*images=*/false);
  const bool plain = recipe == kPlainRecipe;
  for (const RecipeRow& row : kRows) {
    const std::string_view quick = QuickValue(settings, row.setting);
    const std::string_view value = plain && !quick.empty()      ? quick
                                   : plain                      ? row.plain
                                   : classes.value_or(false)    ? row.classes
                                   : classes                    ? row.numbers
                                   : row.classes == row.numbers ? row.numbers
                                                                : "";
    const bool meant =
        (row.only_if == nullptr || row.only_if(whole)) && (row.for_rows == nullptr || row.for_rows(train_rows));
    const bool taken = plain || meant;
    if (!value.empty() && taken && IsOpen(settings, row.setting)) {
      SetSetting(whole, row.setting, value);
    }
  }
  whole.recipe = recipe;
  if (whole.parametrization == kAutoText) {  // of another rule than the recipe's
    whole.parametrization = ParametrizationNames().front();
  }
  if (!whole.label_smoothing) {
    whole.label_smoothing = 0;
  }
  return resolved;
}

std::map<std::string, std::string> RecipeChoices(const ResolvedSettings& settings) {
  std::map<std::string, std::string> choices;
  for (const RecipeRow& row : kRows) {
    if (IsOpen(settings.given(), row.setting) && !IsOpen(*settings, row.setting)) {
      choices.emplace(row.setting, SettingText(*settings, row.setting));
    }
  }
  return choices;
}

}  // namespace lamina
