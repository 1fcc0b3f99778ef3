// Settings as flags.
#include "lamina/run/command_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/run/checkpoint_settings.h"

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
  if (WithoutControls(text) != text) {  // as bash and POSIX 2024 read it, so that it can be copied
    std::string word = "$'";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      word += c == '\\' || c == '\''       ? std::string("\\") + c
              : byte >= ' ' && byte < 0x7F ? std::string(1, c)
                                           : fmt::format("\\x{:02x}", byte);
    }
    return word + '\'';
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + '\'';
}

std::string FlagText(std::string_view name, const json& value, bool one_by_one) {
  if (value.is_boolean()) {
    return fmt::format(" --{}{}", value.get<bool>() ? "" : "no-", name);
  }
  if (one_by_one && value.is_array()) {
    std::string text;
    for (const json& element : value) {
      text += FlagText(name, element, false);
    }
    return text;
  }
  const std::string word = ValueText(value);  // "=" keeps a leading minus from looking like a flag
  return fmt::format(" --{}{}{}", name, word.starts_with('-') ? "=" : " ", ShellWord(word));
}

std::string TrainCommandLine(const TrainSettings& settings) {
  json values = ToJson(settings);
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    if (!row.HasEffect(settings)) {
      values.erase(std::string(row.name));
    }
  }
  return "lamina train" + FlagsText<TrainSettings>(values, ToJson(TrainSettings()));
}

std::string TrainCommandLine(const TrainSettings& settings, const json& training) {
  try {
    const json resumed = training.is_object() ? training.value(kResumedKey, json::array()) : json::array();
    std::string text = TrainCommandLine(SettingsAtStart(settings, resumed));
    for (const json& entry : resumed) {
      const auto step = entry.at("step").get<int64_t>();
      text += fmt::format("\n# from epoch {}{} on:{}", entry.at("epoch").get<int64_t>(),
                          step > 0 ? fmt::format(", step {},", step + 1) : "",
                          FlagsText<TrainSettings>(entry.at("is"), entry.at("was")));
    }
    return text;
  } catch (const json::exception& error) {  // from a file
    throw Error(ErrorCode::kBadModel,
                fmt::format("what the model tells of its training is wrong: {}", WithoutTag(error.what())));
  }
}

}  // namespace lamina
