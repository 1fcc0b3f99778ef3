// Settings as flags.
#include "lamina/train/command_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/list_text.h"
#include "lamina/base/text.h"
#include "lamina/train/checkpoint_settings.h"

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
    text +=
        (text.empty() ? "" : ",") + (element.is_string() ? CsvField(element.get<std::string>()) : ValueText(element));
  }
  return text;
}

}  // namespace

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
