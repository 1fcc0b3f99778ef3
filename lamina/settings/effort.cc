// Which settings an effort decides, and what quick is.
#include "lamina/settings/effort.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "lamina/base/text.h"
#include "lamina/settings/recipe_names.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

// What the user still decides in the groups that an effort decides.
constexpr std::array<std::string_view, 3> kLeftOpen = {"effort", "seed", "shuffle"};
// What only --effort best has.
constexpr std::array<std::string_view, 3> kOfBest = {"time-limit", "state", "nested"};
// What --effort best decides beside these groups: rows that are apart, and what only one run has.
constexpr std::array<std::string_view, 16> kOfOneRun = {
    "split",   "split-by",     "stratify",      "validation",       "memory",      "folds",
    "fold",    "bag",          "target-values", "monitor",          "soft-target", "calibrate",
    "history", "history-json", "checkpoint",    "checkpoint-epochs"};

template <class List>
bool Lists(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

bool IsDecided(const Setting<TrainSettings>& row, Effort effort) {
  if (Lists(kLeftOpen, row.name) || Lists(kOfBest, row.name)) {
    return false;
  }
  const bool of_network = row.group == kNetworkGroup || row.group == kMethodGroup || row.group == kTrainingGroup;
  return of_network || (effort == Effort::kBest && Lists(kOfOneRun, row.name));
}

}  // namespace

Effort EffortFrom(const TrainSettings& settings) {
  return WithSetting("effort", [&] { return ParseName(settings.effort, kEfforts, "--effort: unknown choice"); });
}

std::optional<double> ParseTimeLimit_seconds(std::string_view given) {
  const std::string_view text = Trim(given);
  if (text.empty()) {
    return std::nullopt;
  }
  constexpr std::pair<char, double> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
  const auto* const unit =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& known) { return known.first == text.back(); });
  const bool has_unit = unit != std::end(kUnits);
  const double number = ParseNumber(has_unit ? text.substr(0, text.size() - 1) : text);
  if (!(number > 0) || !std::isfinite(number)) {
    RefuseSetting("time-limit", "--time-limit is a length of time above 0", std::string(given),
                  "For example 90s, 10m or 1h.");
  }
  return number * (has_unit ? unit->second : 1);
}

void ValidateEffort(const TrainSettings& settings) {
  const Effort effort = EffortFrom(settings);
  ParseTimeLimit_seconds(settings.time_limit);
  const TrainSettings defaults;
  TrainSettings decided;
  decided.effort = settings.effort;
  decided = WithQuick(decided);
  for (const std::string_view name : kOfBest) {
    const std::string text = SettingText(settings, name);
    if (effort != Effort::kBest && text != SettingText(defaults, name)) {
      RefuseSetting(name, fmt::format("--{} is for --effort best, and the effort is {}", name, settings.effort), text,
                    "Give --effort best, or leave it out.");
    }
  }
  if (settings.nested == 1) {
    RefuseSetting("nested", "one fold leaves no rows to choose by", "1", "Give --nested 3, for example, or 0.");
  }
  if (settings.nested > 0 && !settings.state.empty()) {
    RefuseSetting("nested", "--state keeps one run of --effort best, and --nested is several", settings.state,
                  "Leave one of them out.");
  }
  if (effort == Effort::kNormal) {
    return;
  }
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    const std::string text = SettingText(settings, row.name);
    if (IsDecided(row, effort) && text != SettingText(defaults, row.name) && text != SettingText(decided, row.name)) {
      RefuseSetting(row.name, fmt::format("--{} is decided by --effort {}", row.name, settings.effort), text,
                    fmt::format("Leave --{} or --effort out.", row.name));
    }
  }
}

TrainSettings WithQuick(const TrainSettings& settings) {
  if (EffortFrom(settings) != Effort::kQuick) {
    return settings;
  }
  TrainSettings quick = settings;
  quick.method = kBackpropagation;
  quick.recipe = kPlainRecipe;
  return quick;
}

bool RunsOnFolds(const TrainSettings& settings) {
  return (settings.folds > 0 && settings.fold == 0) || EffortFrom(settings) == Effort::kBest;
}

}  // namespace lamina
