// Text to settings and back, by the one list of their names.
#include "lamina/train/settings_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

[[noreturn]] void ThrowText(const char* what, std::string_view text) {
  throw Error(ErrorCode::kInvalidArgument, what, {.value = std::string(text)});
}

template <class T>
T ParseAs(std::string_view text) {
  if constexpr (std::is_same_v<T, std::string>) {
    return std::string(text);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text != "yes" && text != "no") {
      ThrowText("must be yes or no", text);
    }
    return text == "yes";
  } else if constexpr (std::is_floating_point_v<T>) {
    const double value = ParseNumber(text);
    if (std::isnan(value)) {
      ThrowText(text.empty() ? "a number is missing" : "not a number, or too large", text);
    }
    return value;
  } else if constexpr (kIsOptional<T>) {
    return text.empty() ? T() : T(ParseAs<typename T::value_type>(text));
  } else if constexpr (kIsVector<T>) {
    T list;
    for (const std::string_view piece : text.empty() ? std::vector<std::string_view>() : SplitText(text, ',')) {
      list.push_back(ParseAs<typename T::value_type>(Trim(piece)));
    }
    return list;
  } else {
    if (uint64_t large = 0; std::is_unsigned_v<T>) {  // a seed may use all 64 bits
      const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), large);
      if (failed == std::errc() && end == text.data() + text.size()) {
        return static_cast<T>(large);
      }
    }
    const std::optional<int64_t> value = ParseInteger(text);
    if (!value) {
      ThrowText(text.empty() ? "a whole number is missing" : "not a whole number, or too large", text);
    }
    if (!std::in_range<T>(*value)) {
      ThrowText("must be 0 or more", text);
    }
    return static_cast<T>(*value);
  }
}

template <class T>
std::string TextOf(const T& field) {
  if constexpr (std::is_same_v<T, bool>) {
    return field ? "yes" : "no";
  } else if constexpr (kIsOptional<T>) {
    return field ? fmt::format("{}", *field) : "";
  } else if constexpr (kIsVector<T>) {
    return fmt::format("{}", fmt::join(field, ","));
  } else {
    return fmt::format("{}", field);
  }
}

template <class Fn>
struct FieldVisitor {
  Fn& fn;
  void Group(const char*) {}
  template <class T>
  void operator()(const char* name, T& field, const char* help) {
    fn(name, field, help);
  }
};

// Calls fn(name, field, help) for every setting, without the groups.
template <class S, class Fn>
void ForSettings(S& settings, Fn&& fn) {
  VisitTrainSettings(settings, FieldVisitor<Fn>{fn});
}

// As above, for one setting only.
template <class S, class Fn>
void WithSetting(S& settings, std::string_view name, Fn&& fn) {
  bool found = false;
  ForSettings(settings, [&](const char* each, auto& field, const char* help) {
    if (name == each) {
      found = true;
      fn(field, help);
    }
  });
  if (!found) {
    throw Error(ErrorCode::kNotFound, "unknown setting",
                {.value = std::string(name), .remedy = DidYouMean(name, SettingNames())});
  }
}

std::optional<Error> ErrorOf(const TrainSettings& settings, std::span<const Activation> custom) {
  try {
    ValidateSettings(settings, custom);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

bool Mentions(const std::string& message, const std::string& name) {
  const std::string flag = "--" + name;
  const size_t at = message.find(flag);
  if (at == std::string::npos) {
    return false;
  }
  const size_t end = at + flag.size();  // --scale is not --scale-factor
  return end == message.size() || (message[end] != '-' && std::isalnum(static_cast<unsigned char>(message[end])) == 0);
}

// The setting to blame for `error`; "" where none is.
std::string Culprit(const TrainSettings& settings, const TrainSettings& defaults, const Error& error,
                    std::span<const Activation> custom) {
  std::vector<std::string> changed;
  for (const std::string& name : SettingNames()) {
    if (SettingText(settings, name) != SettingText(defaults, name)) {
      changed.push_back(name);
    }
  }
  for (const std::string& name : changed) {
    if (Mentions(error.message(), name)) {
      return name;
    }
  }
  for (const std::string& name : changed) {
    TrainSettings trial = settings;
    SetSetting(trial, name, SettingText(defaults, name));
    const std::optional<Error> other = ErrorOf(trial, custom);
    if (!other || std::string_view(other->what()) != error.what()) {
      return name;
    }
  }
  return "";
}

std::string Quoted(const std::string& text) {
  constexpr std::string_view kPlain = "_./:=,@%+-";
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
  });
  if (plain) {
    return text;
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace

std::vector<std::string> SettingNames() {
  std::vector<std::string> names;
  const TrainSettings settings;
  ForSettings(settings, [&](const char* name, const auto&, const char*) { names.emplace_back(name); });
  return names;
}

std::string SettingHelp(std::string_view name) {
  std::string text;
  const TrainSettings settings;
  WithSetting(settings, name, [&](const auto&, const char* help) { text = help; });
  return text;
}

void SetSetting(TrainSettings& settings, std::string_view name, std::string_view text) {
  WithSetting(settings, name, [&]<class T>(T& field, const char*) {
    field = ParseAs<T>(std::is_same_v<T, std::string> ? text : Trim(text));
  });
}

std::string SettingText(const TrainSettings& settings, std::string_view name) {
  std::string text;
  WithSetting(settings, name, [&](const auto& field, const char*) { text = TextOf(field); });
  return text;
}

std::vector<SettingProblem> CheckSettings(TrainSettings settings, std::span<const Activation> custom) {
  std::vector<SettingProblem> problems;
  TrainSettings defaults;
  if (settings.data.empty()) {
    if (const std::optional<Error> error = ErrorOf(settings, custom)) {
      problems.push_back({"data", *error});
    }
    settings.data = "-";
  }
  defaults.data = settings.data;
  while (const std::optional<Error> error = ErrorOf(settings, custom)) {
    const std::string name = Culprit(settings, defaults, *error, custom);
    problems.push_back({name, *error});
    if (name.empty()) {
      break;
    }
    SetSetting(settings, name, SettingText(defaults, name));
  }
  return problems;
}

std::string TrainCommand(const TrainSettings& settings) {
  std::string command = "lamina train";
  const TrainSettings defaults;
  ForSettings(settings, [&]<class T>(const char* name, const T& field, const char*) {
    const std::string text = TextOf(field);
    if (text == SettingText(defaults, name)) {
      return;
    }
    if constexpr (std::is_same_v<T, bool>) {
      command += fmt::format(" --{}{}", field ? "" : "no-", name);
    } else {  // a value that begins like a flag needs the equals sign
      command += fmt::format(" --{}{}{}", name, text.starts_with('-') ? "=" : " ", Quoted(text));
    }
  });
  return command;
}

}  // namespace lamina
