// Settings as JSON, by name.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/settings/settings.h"

namespace lamina {
namespace {

using nlohmann::json;

// Strict: no fractions, signs or booleans lost on the way into a field.
template <class T>
bool ReadStrictly(const json& value, T& field) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) {
      return false;
    }
  } else if constexpr (std::is_integral_v<T>) {
    if (!value.is_number_integer() || (value.is_number_unsigned() ? !std::in_range<T>(value.get<uint64_t>())
                                                                  : !std::in_range<T>(value.get<int64_t>()))) {
      return false;
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) {
      return false;
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) {
      return false;
    }
  } else {  // a list
    field.clear();
    bool ok = value.is_array();
    for (const json& element : value) {
      typename T::value_type item{};
      ok = ok && ReadStrictly(element, item);
      field.push_back(item);
    }
    return ok;
  }
  value.get_to(field);
  return true;
}

template <class T>
bool ReadStrictly(const json& value, std::optional<T>& field) {
  return ReadStrictly(value, field.emplace());
}

}  // namespace

json ToJson(const TrainSettings& settings) {
  json node = json::object();
  VisitSettings(settings, [&]<class T>(const auto& row, const T& field) {
    if constexpr (requires { field.has_value(); }) {
      node[row.name] = field ? json(*field) : json(nullptr);
    } else {
      node[row.name] = field;
    }
  });
  return node;
}

TrainSettings TrainSettingsFromJson(const json& node) {
  if (!node.is_object()) {
    throw Error(ErrorCode::kBadModel, "the settings are not a JSON object");
  }
  TrainSettings settings;
  settings.recipe = "plain";  // of files from before there were recipes
  VisitSettings(settings, [&]<class T>(const auto& row, T& field) {
    const auto it = node.find(row.name);
    if constexpr (std::is_same_v<T, std::string>) {
      if (it != node.end() && it->is_boolean() && row.was_switch) {  // from before it had "auto"
        field = it->template get<bool>() ? "yes" : "no";
        return;
      }
    }
    if (it != node.end() && !it->is_null() && !ReadStrictly(*it, field)) {
      throw Error(ErrorCode::kBadModel, fmt::format("setting {} has the wrong type", row.name),
                  {.value = it->dump(), .setting = std::string(row.name)});
    }
  });
  return settings;
}

}  // namespace lamina
