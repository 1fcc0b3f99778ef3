// What earlier versions could be told and this one cannot, so that nobody looks for it, and nothing ignores it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

struct RemovedSetting {
  std::string_view name;   // of a setting, or of a flag of another command
  std::string_view value;  // the one value of it that is gone; empty: all of it
  std::string_view why;
  std::string_view instead;  // what to do, a sentence

  /// "--sync-steps was removed: ...".
  std::string Text() const;
};

std::span<const RemovedSetting> RemovedSettings();

/// Null for what was not removed. `value`: of the setting, where that is to be asked, too.
const RemovedSetting* FindRemoved(std::string_view name, std::string_view value = "");

/// Those that settings which an earlier version stored ask for.
std::vector<const RemovedSetting*> RemovedIn(const nlohmann::json& settings);

/// Throws Error(kBadModel) where settings that an earlier version stored ask for what is gone: training would go on
/// otherwise than it began.
void RefuseRemoved(const nlohmann::json& settings, const std::string& file);

}  // namespace lamina
