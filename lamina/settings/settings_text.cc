// Text to settings and back, by their rows.
#include "lamina/settings/settings_text.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/settings/removed_settings.h"

namespace lamina {
namespace {

std::optional<Error> ErrorOf(const TrainSettings& settings, std::span<const Activation> custom) {
  try {
    ValidateSettings(settings, custom);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace

const Setting<TrainSettings>& TrainSettingRow(std::string_view name) {
  const std::span<const Setting<TrainSettings>> rows = SettingRows<TrainSettings>();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  if (found == rows.end()) {
    if (const RemovedSetting* removed = FindRemoved(name)) {
      RefuseSetting(name, removed->Text(), "", std::string(removed->instead));
    }
    std::vector<std::string> names;
    std::transform(rows.begin(), rows.end(), std::back_inserter(names),
                   [](const auto& row) { return std::string(row.name); });
    throw Error(
        ErrorCode::kInvalidArgument, "unknown setting",
        {.value = std::string(name), .remedy = DidYouMean(name, names) + "lamina train --help lists the settings."});
  }
  return *found;
}

std::vector<std::string> SettingChoices(std::string_view name) {
  const auto& row = TrainSettingRow(name);
  return row.choices == nullptr ? std::vector<std::string>() : row.choices();
}

void SetSetting(TrainSettings& settings, std::string_view name, std::string_view text) {
  WithField(settings, TrainSettingRow(name), [&](auto& field) { ParseField(name, text, &field); });
}

std::string SettingText(const TrainSettings& settings, std::string_view name) {
  std::string text;
  WithField(settings, TrainSettingRow(name), [&](const auto& field) { text = FieldText(&field); });
  return text;
}

std::vector<SettingProblem> CheckSettings(TrainSettings settings, std::span<const Activation> custom) {
  std::vector<SettingProblem> problems;
  const auto known = [&](const std::string& name) {
    return std::any_of(problems.begin(), problems.end(), [&](const auto& problem) { return problem.setting == name; });
  };
  while (const std::optional<Error> error = ErrorOf(settings, custom)) {
    const std::string& name = error->context().setting;
    if (known(name)) {  // another setting's, which does not show without this one
      break;
    }
    problems.push_back({name, *error});
    if (name == "data") {
      settings.data = "-";
    } else {
      ResetSettings(settings, [&](const auto& row) { return row.name == name; });
    }
  }
  return problems;
}

}  // namespace lamina
