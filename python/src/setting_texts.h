// Settings as Python gives them: by name and text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lamina/settings/settings.h"
#include "lamina/settings/settings_text.h"

namespace lamina::python {

using Texts = std::vector<std::pair<std::string, std::string>>;

/// Throws Error(kInvalidArgument) naming the setting.
inline TrainSettings SettingsOf(const Texts& texts) {
  TrainSettings settings;
  for (const auto& [name, text] : texts) {
    SetSetting(settings, name, text);
  }
  return settings;
}

}  // namespace lamina::python
