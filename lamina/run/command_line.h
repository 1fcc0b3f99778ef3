// The command that repeats a training run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

/// "lamina train --data digits.csv.gz --hidden 64": every setting that is not the default and has an effect, quoted for
/// a POSIX shell.
std::string TrainCommandLine(const TrainSettings& settings);
/// How a model was trained, by its "training": the command with its first settings. Each time it went on with others
/// adds a line "# from epoch 5 on: --epochs 50". `settings`: those it ended with.
std::string TrainCommandLine(const TrainSettings& settings, const nlohmann::json& training);

/// " --NAME VALUE"; a list whose elements have commas of their own has its flag once for each.
std::string FlagText(std::string_view name, const nlohmann::json& value, bool one_by_one);

/// A setting that was said somewhere: its name, and FlagText().
struct SaidFlag {
  std::string name;
  std::string text;
};

/// FlagText() of a setting that decides where files are written (Setting::DecidesWriting) and says something, else "".
template <class S, class T>
std::string WritingFlag(const Setting<S>& row, const T& field) {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
    return row.DecidesWriting() && field != T() ? FlagText(row.name, field, row.commas) : "";
  }
  return "";
}

/// Every setting of S whose value is not the default, in the order of the rows (json objects are sorted by name).
template <class S>
std::string FlagsText(const nlohmann::json& values, const nlohmann::json& defaults) {
  std::string text;
  for (const Setting<S>& row : SettingRows<S>()) {
    if (values.contains(row.name) && values.at(row.name) != defaults.at(row.name)) {
      text += FlagText(row.name, values.at(row.name), row.commas);
    }
  }
  return text;
}

}  // namespace lamina
