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

template <class T>
constexpr SettingKind KindOf() {
  if constexpr (kIsVector<T>) {
    using Item = typename T::value_type;
    return std::is_same_v<Item, std::string> ? SettingKind::kTextList
           : std::is_integral_v<Item>        ? SettingKind::kIntegerList
                                             : SettingKind::kNumberList;
  } else if constexpr (kIsOptional<T>) {
    return KindOf<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return SettingKind::kYesNo;
  } else if constexpr (std::is_integral_v<T>) {
    return SettingKind::kInteger;
  } else {
    return std::is_floating_point_v<T> ? SettingKind::kNumber : SettingKind::kText;
  }
}

// False where `text` is no value of the field's type.
template <class T>
bool Parse(std::string_view text, T& field) {
  if constexpr (std::is_same_v<T, std::string>) {
    field = text;
    return true;
  } else if constexpr (kIsVector<T>) {
    for (const std::string_view piece : text.empty() ? std::vector<std::string_view>() : SplitText(text, ',')) {
      typename T::value_type item{};
      if (!Parse(Trim(piece), item)) {
        return false;
      }
      field.push_back(std::move(item));
    }
    return true;
  } else if constexpr (kIsOptional<T>) {
    return text.empty() || Parse(text, field.emplace());
  } else if constexpr (std::is_same_v<T, bool>) {
    field = text == "yes" || text == "true";
    return field || text == "no" || text == "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    field = ParseNumber(text);
    return std::isfinite(field);
  } else if constexpr (std::is_unsigned_v<T>) {  // a seed may use all 64 bits
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), field);
    return failed == std::errc() && end == text.data() + text.size();
  } else {
    const std::optional<int64_t> value = ParseInteger(text);
    field = value.value_or(0);
    return value.has_value();
  }
}

// "--seed takes a whole number, 0 or more".
template <class T>
std::string WantedText(std::string_view name, std::string_view text) {
  constexpr const char* kWords[] = {"a text",   "a list of texts",   "a whole number", "a list of whole numbers",
                                    "a number", "a list of numbers", "yes or no"};
  return fmt::format("--{} {} {}{}", name, text.empty() ? "needs" : "takes", kWords[static_cast<size_t>(KindOf<T>())],
                     std::is_unsigned_v<T> && !std::is_same_v<T, bool> ? ", 0 or more" : "");
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
    throw Error(ErrorCode::kInvalidArgument, "unknown setting",
                {.value = std::string(name),
                 .remedy = DidYouMean(name, SettingNames()) + "lamina train --help lists the settings."});
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

SettingKind SettingKindOf(std::string_view name) {
  SettingKind kind{};
  const TrainSettings settings;
  WithSetting(settings, name, [&]<class T>(const T&, const char*) { kind = KindOf<T>(); });
  return kind;
}

void SetSetting(TrainSettings& settings, std::string_view name, std::string_view text) {
  WithSetting(settings, name, [&]<class T>(T& field, const char*) {
    const std::string_view piece = std::is_same_v<T, std::string> ? text : Trim(text);
    T value{};
    if (!Parse(piece, value)) {
      throw Error(ErrorCode::kInvalidArgument, WantedText<T>(name, piece), {.value = std::string(piece)});
    }
    field = std::move(value);
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

}  // namespace lamina
