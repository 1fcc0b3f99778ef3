// Single settings by name and text.
#include "lamina/train/settings_text.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <type_traits>

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

template <class T>
bool Parse(const std::string& text, T& field) {
  if constexpr (kIsVector<T>) {
    field.clear();
    for (const std::string_view part : SplitText(text, ',')) {
      typename T::value_type item{};
      if (!Parse(std::string(Trim(part)), item)) {
        return false;
      }
      field.push_back(std::move(item));
    }
    return true;
  } else if constexpr (kIsOptional<T>) {
    return Parse(text, field.emplace());
  } else if constexpr (std::is_same_v<T, bool>) {
    field = text == "yes" || text == "true";
    return field || text == "no" || text == "false";
  } else if constexpr (std::is_integral_v<T>) {
    const std::optional<int64_t> value = ParseInteger(text);
    if (!value || (std::is_unsigned_v<T> && *value < 0)) {
      return false;
    }
    field = static_cast<T>(*value);
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    field = ParseNumber(text);
    return std::isfinite(field);
  } else {
    field = text;
    return true;
  }
}

struct Lister {
  std::vector<std::string> names;
  std::vector<SettingKind> kinds;
  void Group(const char*) {}
  template <class T>
  void operator()(const char* name, const T&, const char*) {
    names.emplace_back(name);
    kinds.push_back(KindOf<T>());
  }
};

struct Setter {
  std::string_view wanted;
  const std::string& text;
  bool good = true;
  void Group(const char*) {}
  template <class T>
  void operator()(const char* name, T& field, const char*) {
    if (wanted == name) {
      good = Parse(text, field);
    }
  }
};

Lister ListSettings() {
  Lister lister;
  const TrainSettings settings;
  VisitTrainSettings(settings, lister);
  return lister;
}

}  // namespace

std::vector<std::string> SettingNames() { return ListSettings().names; }

SettingKind SettingKindOf(std::string_view name) {
  const Lister lister = ListSettings();
  for (size_t i = 0; i < lister.names.size(); ++i) {
    if (lister.names[i] == name) {
      return lister.kinds[i];
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown setting",
              {.value = std::string(name),
               .remedy = DidYouMean(name, lister.names) + "lamina train --help lists the settings."});
}

void SetSetting(TrainSettings& settings, std::string_view name, const std::string& text) {
  constexpr const char* kWords[] = {"a text",   "a list of texts",   "a whole number", "a list of whole numbers",
                                    "a number", "a list of numbers", "yes or no"};
  const SettingKind kind = SettingKindOf(name);
  Setter setter{name, text};
  VisitTrainSettings(settings, setter);
  if (!setter.good) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} takes {}", name, kWords[static_cast<size_t>(kind)]), {.value = text});
  }
}

}  // namespace lamina
