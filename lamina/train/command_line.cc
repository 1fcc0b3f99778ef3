// Settings as flags.
#include "lamina/train/command_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace lamina {
namespace {

using nlohmann::json;

std::string ValueText(const json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (!value.is_array()) {
    return value.dump();
  }
  std::string text;
  for (const json& element : value) {
    text += (text.empty() ? "" : ",") + ValueText(element);
  }
  return text;
}

}  // namespace

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + '\'';
}

std::string TrainCommandLine(const TrainSettings& settings) {
  const json values = ToJson(settings);
  const json defaults = ToJson(TrainSettings());
  std::string text = "lamina train";
  for (const auto& row : SettingRows<TrainSettings>()) {  // in this order; json objects are sorted by name
    const json& value = values[row.name];
    if (value == defaults[row.name]) {
      continue;
    }
    if (value.is_boolean()) {
      text += fmt::format(" --{}{}", value.get<bool>() ? "" : "no-", row.name);
      continue;
    }
    const std::string word = ValueText(value);  // "=" keeps a leading minus from looking like a flag
    text += fmt::format(" --{}{}{}", row.name, word.starts_with('-') ? "=" : " ", ShellWord(word));
  }
  return text;
}

}  // namespace lamina
