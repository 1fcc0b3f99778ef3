// Settings as people type them: one by one by name, and all problems at once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

/// The row of a setting. Throws Error(kInvalidArgument) offering the nearest name.
const Setting<TrainSettings>& TrainSettingRow(std::string_view name);
/// What can be chosen for it; empty for those without a list.
std::vector<std::string> SettingChoices(std::string_view name);

/// Sets one setting from text: a number, "yes" or "no", a text, or a list separated by commas. An empty text is "not
/// given" for settings that may be left out, and an empty list. Throws Error(kInvalidArgument) for an unknown name and
/// for a text that is no value of the setting's kind; `settings` is then as before.
void SetSetting(TrainSettings& settings, std::string_view name, std::string_view text);
/// The text of that; "" for what is not given.
std::string SettingText(const TrainSettings& settings, std::string_view name);

/// `setting` is a name, or "" where no single setting is to blame.
struct SettingProblem {
  std::string setting;
  Error error;
};

/// Every problem that ValidateSettings would find one after the other, each with the setting to change, which the error
/// names. At most one for a setting.
std::vector<SettingProblem> CheckSettings(TrainSettings settings, std::span<const Activation> custom = {});

}  // namespace lamina
