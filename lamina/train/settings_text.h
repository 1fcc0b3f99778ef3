// Single settings by name and text, as a flag gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lamina/train/settings.h"

namespace lamina {

/// How the value of a setting is written.
enum class SettingKind { kText, kTextList, kInteger, kIntegerList, kNumber, kNumberList, kYesNo };

std::vector<std::string> SettingNames();
/// Throws Error(kInvalidArgument) offering the nearest name.
SettingKind SettingKindOf(std::string_view name);
/// Sets `name` from `text`: lists are separated by commas. Throws Error(kInvalidArgument) for an unknown name and for a
/// text that is no value of its kind.
void SetSetting(TrainSettings& settings, std::string_view name, const std::string& text);

}  // namespace lamina
