// Fields of fitted encoders in model files: kinds by name, numbers exact (nlohmann-json writes the shortest text that
// reads back). What is missing or wrong is an Error(kBadModel) naming the field.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/data/encode/fitted_column.h"

namespace lamina::encoder_json {

using nlohmann::json;

[[noreturn]] void ThrowField(const std::string& field, const std::string& message, const std::string& value = {});
[[noreturn]] void ThrowWrongValue(const char* field, const json& value);
const json& FieldOf(const json& object, const char* field);

/// object[field] as double (finite), int64_t (0 or more), bool, std::string or std::vector<std::string>.
template <class T>
T Get(const json& object, const char* field) {
  const json& value = FieldOf(object, field);
  bool fits = false;
  if constexpr (std::is_same_v<T, double>) {
    fits = value.is_number() && std::isfinite(value.get<double>());
  } else if constexpr (std::is_same_v<T, int64_t>) {
    fits = value.is_number_integer() && value.get<double>() >= 0 && value.get<double>() < 1e15;
  } else if constexpr (std::is_same_v<T, bool>) {
    fits = value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    fits = value.is_string();
  } else {
    fits = value.is_array();
    for (size_t i = 0; fits && i < value.size(); ++i) {
      fits = value[i].is_string();
    }
  }
  if (!fits) {
    ThrowWrongValue(field, value);
  }
  return value.get<T>();
}

template <class E, size_t n>
E GetKind(const json& object, const char* field, const Named<E> (&names)[n]) {
  const auto text = Get<std::string>(object, field);
  for (const Named<E>& row : names) {
    if (text == row.name) {
      return row.value;
    }
  }
  ThrowField(field, "has an unknown value", text);
}

/// Calls read(); what it refuses is the model's fault.
template <class Fn>
auto AsField(Fn&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kBadModel) {
      throw;
    }
    throw Error(ErrorCode::kBadModel, "preprocessor: " + error.message(), error.context());
  }
}

/// A list of finite numbers; empty where there is none.
std::vector<double> NumbersIn(const json& object, const char* field);

json ToJson(const TextScores& scores);
json ToJson(const std::vector<FittedColumn>& columns);
std::vector<FittedColumn> ColumnsFromJson(const json& object, const char* field);

}  // namespace lamina::encoder_json
