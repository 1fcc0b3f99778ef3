// Settings as JSON, by name.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/train/settings.h"

namespace lamina {
namespace {

using nlohmann::json;

struct JsonWriter {
  json node = json::object();
  void Group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*) {
    node[name] = field;
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& field, const char*) {
    node[name] = field ? json(*field) : json(nullptr);
  }
};

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

struct JsonReader {
  const json& node;
  void Group(const char*) {}
  template <class T>
  void operator()(const char* name, T& field, const char*) {
    const auto it = node.find(name);
    if (it == node.end() || it->is_null()) {
      return;
    }
    bool ok = false;
    if constexpr (requires { field.reset(); }) {
      ok = ReadStrictly(*it, field.emplace());
    } else {
      ok = ReadStrictly(*it, field);
    }
    if (!ok) {
      throw Error(ErrorCode::kBadModel, fmt::format("setting {} has the wrong type", name), {.value = it->dump()});
    }
  }
};

}  // namespace

json ToJson(const TrainSettings& settings) {
  JsonWriter writer;
  VisitTrainSettings(settings, writer);
  return writer.node;
}

TrainSettings TrainSettingsFromJson(const json& node) {
  if (!node.is_object()) {
    throw Error(ErrorCode::kBadModel, "the settings are not a JSON object");
  }
  TrainSettings settings;
  JsonReader reader{node};
  VisitTrainSettings(settings, reader);
  return settings;
}

}  // namespace lamina
