// The Preprocessor in model files: kinds by name, numbers exact (nlohmann-json writes the shortest text that
// reads back).
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/encode/preprocessor.h"

namespace lamina {
namespace {

using nlohmann::json;

template <class T, size_t n>
using Names = std::array<std::pair<T, const char*>, n>;

constexpr Names<Task, 2> kTasks{{{Task::kClassification, "classification"}, {Task::kRegression, "regression"}}};
constexpr Names<MissingPolicy, 3> kMissing{
    {{MissingPolicy::kError, "error"}, {MissingPolicy::kDropRow, "drop"}, {MissingPolicy::kMean, "mean"}}};
constexpr Names<UnseenPolicy, 2> kUnseen{{{UnseenPolicy::kError, "error"}, {UnseenPolicy::kZero, "zero"}}};
constexpr Names<ColumnKind, 2> kKinds{{{ColumnKind::kNumber, "number"}, {ColumnKind::kText, "text"}}};
constexpr Names<bool, 2> kEncodings{{{true, "one_hot"}, {false, "ordinal"}}};

template <class T, size_t n>
const char* NameOf(const Names<T, n>& names, T value) {
  for (const auto& [known, name] : names) {
    if (known == value) {
      return name;
    }
  }
  return "";
}

[[noreturn]] void ThrowField(const std::string& field, const std::string& message, const std::string& value = {}) {
  throw Error(ErrorCode::kBadModel, fmt::format("preprocessor: field '{}' {}", field, message), {.value = value});
}

// json[field] as T, or Error naming the field.
template <class T>
T Get(const json& object, const char* field) {
  if (!object.is_object() || !object.contains(field)) {
    ThrowField(field, "is missing");
  }
  const json& value = object[field];
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
    ThrowField(field, "has a wrong value", value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 80));
  }
  return value.get<T>();
}

template <class T, size_t n>
T GetKind(const json& object, const char* field, const Names<T, n>& names) {
  const auto text = Get<std::string>(object, field);
  for (const auto& [value, name] : names) {
    if (text == name) {
      return value;
    }
  }
  ThrowField(field, "has an unknown value", text);
}

const json& GetArray(const json& object, const char* field) {
  if (!object.is_object() || !object.contains(field) || !object[field].is_array()) {
    ThrowField(field, "is missing or not a list");
  }
  return object[field];
}

json ColumnToJson(const FittedColumn& column) {
  json object{{"name", column.name},
              {"position", column.position},
              {"kind", NameOf(kKinds, column.kind)},
              {"offset", column.scaling.offset},
              {"scale", column.scaling.scale}};
  if (column.scaling.logarithm) {
    object["logarithm"] = true;
  }
  if (column.kind == ColumnKind::kNumber) {
    object["fill"] = column.fill;
  } else {
    object["encoding"] = NameOf(kEncodings, column.one_hot);
    object["categories"] = column.categories;
    object["fill_category"] = column.fill_category;
  }
  return object;
}

FittedColumn ColumnFromJson(const json& object, bool input) {
  FittedColumn column;
  column.name = Get<std::string>(object, "name");
  column.position = Get<int64_t>(object, "position");
  column.kind = GetKind(object, "kind", kKinds);
  column.scaling.offset = Get<double>(object, "offset");
  column.scaling.scale = Get<double>(object, "scale");
  if (column.scaling.scale == 0) {
    ThrowField("scale", "must not be 0");
  }
  column.scaling.logarithm = object.contains("logarithm") && Get<bool>(object, "logarithm");
  if (column.kind == ColumnKind::kNumber) {
    column.fill = Get<double>(object, "fill");
    return column;
  }
  column.one_hot = GetKind(object, "encoding", kEncodings);
  column.categories = Get<std::vector<std::string>>(object, "categories");
  const auto fill = Get<int64_t>(object, "fill_category");
  if (input && fill >= std::ssize(column.categories)) {
    ThrowField("fill_category", "is not an index of 'categories'", std::to_string(fill));
  }
  column.fill_category = static_cast<int32_t>(fill);
  return column;
}

}  // namespace

json Preprocessor::ToJson() const {
  json object{{"task", NameOf(kTasks, task_)},
              {"missing", NameOf(kMissing, missing_)},
              {"unseen", NameOf(kUnseen, unseen_)},
              {"positive_target", positive_target_},
              {"negative_target", negative_target_},
              {"single_output", single_output_},
              {"columns", column_count_},
              {"image_height", image_height_},
              {"image_width", image_width_},
              {"inputs", json::array()},
              {"targets", json::array()},
              {"classes", class_names_}};
  if (!derive_.columns.empty()) {
    object["derive"] = {{"columns", derive_.columns}, {"series_by", derive_.series_by}, {"order_by", derive_.order_by}};
  }
  if (!class_map_.empty()) {
    object["class_map"] = class_map_.Text();
  }
  if (!baseline_.name.empty()) {
    object["baseline"] = {{"name", baseline_.name}, {"number", baseline_.fill}, {"column", baseline_.position}};
  }
  for (const FittedColumn& input : inputs_) {
    object["inputs"].push_back(ColumnToJson(input));
  }
  for (const FittedColumn& target : targets_) {
    object["targets"].push_back(ColumnToJson(target));
  }
  return object;
}

// What older model files do not have.
void Preprocessor::ReadAdditions(const json& object) {
  if (object.contains("derive")) {
    const json& derive = object["derive"];
    derive_ = {Get<std::vector<std::string>>(derive, "columns"), Get<std::string>(derive, "series_by"),
               Get<std::string>(derive, "order_by")};
  }
  try {
    ValidateDerive(derive_);
    if (object.contains("class_map")) {
      class_map_ = ClassMap::Parse(Get<std::vector<std::string>>(object, "class_map"));
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kBadModel) {
      throw;
    }
    throw Error(ErrorCode::kBadModel, "preprocessor: " + error.message(), error.context());
  }
  if (object.contains("baseline")) {
    const json& baseline = object["baseline"];
    baseline_.name = Get<std::string>(baseline, "name");
    baseline_.fill = Get<double>(baseline, "number");
    const auto column = Get<double>(baseline, "column");
    if (column < -1 || column >= static_cast<double>(column_count_) || column != std::trunc(column)) {
      ThrowField("column", "of the baseline is no column");
    }
    baseline_.position = static_cast<int64_t>(column);
  }
}

Preprocessor Preprocessor::FromJson(const json& object) {
  Preprocessor fitted;
  fitted.task_ = GetKind(object, "task", kTasks);
  fitted.missing_ = GetKind(object, "missing", kMissing);
  fitted.unseen_ = GetKind(object, "unseen", kUnseen);
  fitted.positive_target_ = Get<double>(object, "positive_target");
  fitted.negative_target_ = Get<double>(object, "negative_target");
  fitted.single_output_ = Get<bool>(object, "single_output");
  fitted.column_count_ = Get<int64_t>(object, "columns");
  fitted.image_height_ = Get<int64_t>(object, "image_height");
  fitted.image_width_ = Get<int64_t>(object, "image_width");
  for (const json& input : GetArray(object, "inputs")) {
    fitted.inputs_.push_back(ColumnFromJson(input, true));
  }
  for (const json& target : GetArray(object, "targets")) {
    fitted.targets_.push_back(ColumnFromJson(target, false));
  }
  fitted.class_names_ = Get<std::vector<std::string>>(object, "classes");
  fitted.ReadAdditions(object);
  const bool classes = fitted.task_ == Task::kClassification;
  if (fitted.inputs_.empty()) {
    ThrowField("inputs", "is empty");
  }
  if (fitted.targets_.empty() || (classes && fitted.targets_.size() != 1)) {
    ThrowField("targets", "has a wrong number of columns");
  }
  if (classes && (fitted.class_names_.size() < 2 || (fitted.single_output_ && fitted.class_names_.size() != 2))) {
    ThrowField("classes", "has a wrong number of names", std::to_string(fitted.class_names_.size()));
  }
  for (const auto* columns : {&fitted.inputs_, &fitted.targets_}) {
    for (const FittedColumn& column : *columns) {
      if (column.position >= fitted.column_count_) {
        ThrowField("position", "is not below 'columns'", std::to_string(column.position));
      }
    }
  }
  fitted.FinishFit();
  return fitted;
}

}  // namespace lamina
