// Settings as flags and as TOML, from their rows.
#include "config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "help.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/list_text.h"
#include "lamina/base/text.h"
#include "lamina/run/command_line.h"
#include "lamina/settings/removed_settings.h"
#include "toml_parser.h"
#include "toml_text.h"

namespace lamina::cli {

CLI::Option* AddNamesFlag(CLI::App& app, const std::string& flag, std::vector<std::string>& names,
                          const std::string& help) {
  const auto take = [&names](const std::vector<std::string>& given) {
    names.clear();
    for (const std::string& text : given) {
      const std::vector<std::string> items = SplitList(text);
      names.insert(names.end(), items.begin(), items.end());
    }
  };
  return app.add_option_function<std::vector<std::string>>(flag, take, help)
      ->type_name("A,B,...")
      ->allow_extra_args(false);
}
namespace {

template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

std::string CheckInteger(const std::string& text) {
  return ParseInteger(text) ? "" : fmt::format("'{}' is not a whole number, or too large", text);
}

std::string CheckNumber(const std::string& text) {
  const bool nan = text == "nan";  // refused by name later
  return nan || !std::isnan(ParseNumber(text)) ? "" : fmt::format("'{}' is not a number, or too large", text);
}

template <class T>
std::string CheckMaybe(const std::string& text) {
  if (text.empty()) {
    return "";
  }
  return std::is_integral_v<T> ? CheckInteger(text) : CheckNumber(text);
}

template <class S, class T>
void AddFlag(CLI::App& app, const Setting<S>& row, T& field) {
  const std::string name = fmt::format("--{}", row.name);
  CLI::Option* option = nullptr;
  if constexpr (std::is_same_v<T, bool>) {
    option = app.add_flag(fmt::format("{},!--no-{}", name, row.name), field,
                          fmt::format("{} (default: {})", row.help, field ? "yes" : "no"));
  } else if constexpr (kIsVector<T>) {
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      option = row.commas ? app.add_option(name, field, row.help) : AddNamesFlag(app, name, field, row.help);
    } else {
      option = app.add_option(name, field, row.help);
    }
    if (row.commas) {
      option->type_name("NAME=VALUES")->allow_extra_args(false);
    } else {
      if constexpr (!std::is_same_v<T, std::vector<std::string>>) {
        option->delimiter(',')->type_name("A,B,...")->allow_extra_args(false);
      }
    }
    if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
      option->check(CheckInteger);
    }
    if (!field.empty()) {
      option->default_str(FieldText(&field));
    }
  } else {
    // The data can stand without its flag.
    option = app.add_option(row.name == "data" ? name + ",FILE" : name, field, row.help)->take_last();
    if constexpr (std::is_integral_v<T>) {  // CLI11 takes the nearest number for what does not fit
      option->check(std::is_unsigned_v<T> ? CheckCount : CheckInteger);
    }
    if constexpr (std::is_same_v<T, std::string>) {
      option->type_name(row.IsFile() ? "FILE" : row.DecidesWriting() ? "FOLDER" : "TEXT");
      if (!field.empty()) {
        option->default_str(field);
      }
    } else if constexpr (!kIsOptional<T>) {
      option->default_str(FieldText(&field));
    } else {  // CLI11 takes an empty text for "not given"
      option->transform([name](const std::string& text) {
        if (text.empty()) {
          throw CLI::ValidationError(name, "'' is not a number");
        }
        return text == kAutoText ? std::string() : text;
      });
      option->check(CheckMaybe<typename T::value_type>);
      option->default_str(field ? FieldText(&field) : std::string(kAutoText));
    }
  }
  option->group(std::string(row.group));
  FlagFacts facts{row.basic == nullptr ? "" : row.basic, {}};
  if (row.choices != nullptr) {
    facts.choices = row.choices();
  }
  Describe(option, std::move(facts));
}

[[noreturn]] void ThrowAt(const std::string& path, const toml::source_region& where, const std::string& key,
                          std::string message, std::string remedy = "") {
  throw Error(
      ErrorCode::kInvalidArgument, std::move(message),
      {.file = path, .line = static_cast<int64_t>(where.begin.line), .value = key, .remedy = std::move(remedy)});
}

template <class T>
std::optional<T> ValueOf(const toml::node& node) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    const auto value = node.value<int64_t>();
    return value && *value >= 0 ? std::optional<T>(static_cast<T>(*value)) : std::nullopt;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return node.is_integer() ? node.value<int64_t>() : std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    return node.is_boolean() ? node.value<bool>() : std::nullopt;
  } else if constexpr (std::is_same_v<T, std::string>) {  // a column may be given by number
    const auto number = node.is_integer() ? node.value<int64_t>() : std::nullopt;
    return number ? std::optional<T>(std::to_string(*number)) : node.value<T>();
  } else {
    return node.value<T>();
  }
}

// False where the value is of another type.
template <class T>
bool TakeValue(const toml::node& node, T& field) {
  if constexpr (kIsVector<T>) {
    field.clear();
    bool ok = true;
    const auto take = [&](const toml::node& element) {
      const auto value = ValueOf<typename T::value_type>(element);
      ok = ok && value.has_value();
      if (value) {
        field.push_back(*value);
      }
    };
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) {
        take(element);
      }
    } else {
      take(node);
    }
    return ok;
  } else if constexpr (kIsOptional<T>) {
    if (node.is_string() && *node.value<std::string>() == kAutoText) {
      field.reset();
      return true;
    }
    field = ValueOf<typename T::value_type>(node);
    return field.has_value();
  } else {
    const auto value = ValueOf<T>(node);
    field = value.value_or(field);
    return value.has_value();
  }
}

template <class Settings>
void AddFlags(CLI::App& app, Settings& settings) {
  VisitSettings(settings, [&](const auto& row, auto& field) { AddFlag(app, row, field); });
}

template <class Settings>
void ReadToml(const std::string& path, Settings& settings, SaidByFiles& said) {
  const std::string content = ReadFile(path);
  if (const auto problem = FindTomlProblem(content)) {
    throw Error(ErrorCode::kInvalidArgument, problem->what,
                {.file = path,
                 .line = 1 + std::count(content.begin(), content.begin() + static_cast<ptrdiff_t>(problem->at), '\n')});
  }
  toml::table table;
  try {
    table = toml::parse(content);
  } catch (const TomlAssertion&) {
    // no test: no text is known that comes here
    throw Error(ErrorCode::kInvalidArgument, "is no TOML, and the parser does not say where", {.file = path});
  } catch (const toml::parse_error& error) {
    throw Error(ErrorCode::kInvalidArgument, std::string(error.description()),
                {.file = path, .line = static_cast<int64_t>(error.source().begin.line)});
  }
  std::vector<std::string> known;
  VisitSettings(settings, [&](const auto& row, auto& field) {
    known.emplace_back(row.name);
    const toml::node* node = table.get(row.name);
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(field)>, std::string>) {
      if (node != nullptr && node->is_boolean() && row.was_switch) {  // from before it had "auto"
        field = *node->value<bool>() ? "yes" : "no";
        return;
      }
    }
    if (node != nullptr && !TakeValue(*node, field)) {
      ThrowAt(path, node->source(), known.back(), "the value has the wrong type for this setting");
    }
    if (std::string flag = node == nullptr ? "" : WritingFlag(row, field); !flag.empty()) {
      said.Add(path, {known.back(), std::move(flag)});
    }
  });
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const RemovedSetting* removed = FindRemoved(name);
      ThrowAt(path, key.source(), name, removed != nullptr ? removed->Text() : "unknown setting",
              removed != nullptr ? std::string(removed->instead) : DidYouMean(name, known));
    }
  }
}

template <class Settings>
std::string WriteToml(const char* command, const Settings& settings) {
  std::string text =
      fmt::format("# Settings of lamina {0}; use with: lamina {0} --config FILE. Flags win over this file.\n", command);
  std::string_view group;
  VisitSettings(settings, [&]<class T>(const auto& row, const T& field) {
    if (row.group != group) {
      group = row.group;
      text += fmt::format("\n# {}\n", group);
    }
    text += fmt::format("\n# {}\n", row.help);
    if constexpr (kIsOptional<T>) {
      text += fmt::format("{} = {}\n", row.name, field ? fmt::format("{}", *field) : fmt::format("\"{}\"", kAutoText));
    } else {
      text += fmt::format("{} = {}\n", row.name, nlohmann::json(field).dump());  // JSON values are TOML values
    }
  });
  return text;
}

}  // namespace

std::string CheckCount(const std::string& text) {
  const std::optional<int64_t> value = ParseInteger(text);
  return value && *value >= 0 ? "" : fmt::format("'{}' is not a whole number of 0 or more, or too large", text);
}

void AddSettingFlags(CLI::App& app, TrainSettings& settings, bool (*which)(const Setting<TrainSettings>& row)) {
  VisitSettings(settings, [&](const auto& row, auto& field) {
    if (which(row)) {
      AddFlag(app, row, field);
    }
  });
}
void AddSettingFlags(CLI::App& app, TrainSettings& settings) { AddFlags(app, settings); }
void AddSettingFlags(CLI::App& app, FileLayerSettings& settings) { AddFlags(app, settings); }
void AddSettingFlags(CLI::App& app, FileNeighboursSettings& settings) { AddFlags(app, settings); }
void AddSettingFlags(CLI::App& app, FileCentresSettings& settings) { AddFlags(app, settings); }
void AddSettingFlags(CLI::App& app, SearchSettings& settings) { AddFlags(app, settings); }

void SaidByFiles::Add(const std::string& file, SaidFlag flag) { said_.push_back({file, std::move(flag)}); }

void SaidByFiles::RequireGiven(const CLI::App& command) const {
  std::string file;
  std::string flags;
  for (const Said& said : said_) {
    if (command.get_option("--" + said.flag.name)->count() == 0) {
      file = file.empty() ? said.file : file;
      flags += said.flag.text;
    }
  }
  if (!flags.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "says where to write, which the command line alone decides",
                {.file = file,
                 .value = flags.substr(1),
                 .remedy = "Give these flags as well if that is meant, or others; for none, an empty text (--history "
                           "'') or --no-overwrite."});
  }
}

void ReadConfigFile(const std::string& path, TrainSettings& settings, SaidByFiles& said) {
  ReadToml(path, settings, said);
}
void ReadConfigFile(const std::string& path, FileLayerSettings& settings, SaidByFiles& said) {
  ReadToml(path, settings, said);
}
void ReadConfigFile(const std::string& path, SearchSettings& settings, SaidByFiles& said) {
  ReadToml(path, settings, said);
}

std::string WriteConfig(const TrainSettings& settings) { return WriteToml("train", settings); }
std::string WriteConfig(const FileLayerSettings& settings) { return WriteToml("layer", settings); }
std::string WriteConfig(const SearchSettings& settings) { return WriteToml("search", settings); }

std::string ValueInArguments(int argc, const char* const* argv, const std::string& flag) {
  std::string value;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == flag && i + 1 < argc) {
      value = argv[i + 1];
    } else if (argument.starts_with(flag + "=")) {
      value = argument.substr(flag.size() + 1);
    }
  }
  return value;
}

}  // namespace lamina::cli
