// Fitted columns in model files.
#include "lamina/data/encode/encoder_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "lamina/base/base64.h"
#include "lamina/data/encode/code_columns.h"

namespace lamina::encoder_json {
namespace {

constexpr Named<ColumnKind> kKinds[] = {{"number", ColumnKind::kNumber}, {"text", ColumnKind::kText}};
constexpr Named<char> kDecimals[] = {{"point", '.'}, {"comma", ','}};
constexpr Named<DateOrder> kDateOrders[] = {
    {"auto", DateOrder::kAuto}, {"day_first", DateOrder::kDayFirst}, {"month_first", DateOrder::kMonthFirst}};
constexpr int64_t kMostBuckets = 1 << 20;
constexpr Named<bool> kEncodings[] = {{"one_hot", true}, {"ordinal", false}};

bool IsSet(const json& object, const char* field) { return object.contains(field) && Get<bool>(object, field); }

// What is usual is not written: files of before have none of it.
void AddFormat(const FittedColumn& column, json& object) {
  const ColumnFormat usual;
  if (column.is_date) {
    object["date"] = true;
  }
  if (column.format.decimal != usual.decimal) {
    object["decimal"] = NameOf(column.format.decimal, kDecimals);
  }
  if (column.format.date_order != usual.date_order) {
    object["date_order"] = NameOf(column.format.date_order, kDateOrders);
  }
  if (!column.format.unit.empty()) {
    object["unit"] = column.format.unit;
  }
  if (column.span) {
    object["minimum"] = column.span->low;
    object["maximum"] = column.span->high;
  }
}

void ReadFormat(const json& object, FittedColumn& column) {
  column.is_date = IsSet(object, "date");
  if (object.contains("decimal")) {
    column.format.decimal = GetKind(object, "decimal", kDecimals);
  }
  if (object.contains("date_order")) {
    column.format.date_order = GetKind(object, "date_order", kDateOrders);
  }
  if (object.contains("unit")) {
    column.format.unit = Get<std::string>(object, "unit");
  }
  if (object.contains("minimum")) {
    column.span = NumberSpan{Get<double>(object, "minimum"), Get<double>(object, "maximum")};
  }
}

bool Ascend(const std::vector<double>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
}

Curve CurveFrom(const json& object) {
  if (IsSet(object, "logarithm")) {
    return Curve::kLogarithm;
  }
  return IsSet(object, "smooth_clip") ? Curve::kSmoothClip : Curve::kLinear;
}

TextScores ScoresFromJson(const json& object) {
  TextScores scores;
  scores.buckets = Get<int64_t>(object, "buckets");
  scores.offsets = NumbersIn(object, "offsets");
  scores.steps = NumbersIn(object, "steps");
  scores.weights = FromBase64(Get<std::string>(object, "weights"));
  if (scores.buckets < 1 || scores.buckets > kMostBuckets || scores.offsets.size() != scores.steps.size() ||
      scores.weights.empty() || std::ssize(scores.weights) != TextScores::kFolds * scores.buckets * scores.count()) {
    ThrowField("scores", "does not hold its weights");
  }
  return scores;
}

json ColumnToJson(const FittedColumn& column) {
  json object{{"name", column.name},
              {"position", column.position},
              {"kind", NameOf(column.kind, kKinds)},
              {"offset", column.scaling.offset},
              {"scale", column.scaling.scale}};
  if (column.scaling.curve == Curve::kLogarithm) {
    object["logarithm"] = true;
  }
  if (column.scaling.curve == Curve::kSmoothClip) {
    object["smooth_clip"] = true;
  }
  if (column.indicates_missing) {
    object["indicates_missing"] = true;
  }
  if (column.kind == ColumnKind::kNumber) {
    object["fill"] = column.fill;
    AddFormat(column, object);
    if (!column.edges.empty()) {
      object["edges"] = column.edges;
    }
    if (!column.periods.empty()) {
      object["periods"] = column.periods;
    }
    if (!column.codes.empty()) {
      object["codes"] = column.codes;
    }
  } else {
    if (column.has_other) {
      object["other"] = true;
    }
    if (column.buckets > 0) {
      object["buckets"] = column.buckets;
    }
    if (column.scores) {
      object["scores"] = ToJson(*column.scores);
    }
    object["encoding"] = NameOf(column.one_hot, kEncodings);
    object["categories"] = column.categories;
    object["fill_category"] = column.fill_category;
  }
  return object;
}

FittedColumn ColumnFromJson(const json& object) {
  FittedColumn column;
  column.name = Get<std::string>(object, "name");
  column.position = Get<int64_t>(object, "position");
  column.kind = GetKind(object, "kind", kKinds);
  column.scaling.offset = Get<double>(object, "offset");
  column.scaling.scale = Get<double>(object, "scale");
  if (column.scaling.scale == 0) {
    ThrowField("scale", "must not be 0");
  }
  column.scaling.curve = CurveFrom(object);
  column.indicates_missing = IsSet(object, "indicates_missing");
  if (column.kind == ColumnKind::kNumber) {
    column.fill = Get<double>(object, "fill");
    ReadFormat(object, column);
    column.edges = NumbersIn(object, "edges");
    if (column.edges.size() == 1 || !Ascend(column.edges)) {
      ThrowField("edges", "must be at least two ascending numbers");
    }
    column.periods = NumbersIn(object, "periods");
    if (std::any_of(column.periods.begin(), column.periods.end(), [](double days) { return days <= 0; })) {
      ThrowField("periods", "must be above 0");
    }
    column.codes = NumbersIn(object, "codes");
    if (!Ascend(column.codes) || !std::ranges::all_of(column.codes, &IsCode)) {
      ThrowField("codes", "must be ascending whole numbers");
    }
    return column;
  }
  column.one_hot = GetKind(object, "encoding", kEncodings);
  column.has_other = IsSet(object, "other");
  column.buckets = object.contains("buckets") ? Get<int64_t>(object, "buckets") : 0;
  if (object.contains("scores")) {
    column.scores = std::make_shared<const TextScores>(ScoresFromJson(object["scores"]));
  }
  if (column.buckets > kMostBuckets || (column.one_hot ? column.IsWords() : column.has_other)) {
    ThrowField(column.has_other ? "other" : column.scores ? "scores" : "buckets", "does not fit the encoding");
  }
  column.categories = Get<std::vector<std::string>>(object, "categories");
  column.fill_category = static_cast<int32_t>(Get<int64_t>(object, "fill_category"));
  return column;
}

}  // namespace

json ToJson(const TextScores& scores) {
  json object;
  object["buckets"] = scores.buckets;
  object["offsets"] = scores.offsets;
  object["steps"] = scores.steps;
  object["weights"] = ToBase64(scores.weights);
  return object;
}

void ThrowField(const std::string& field, const std::string& message, const std::string& value) {
  throw Error(ErrorCode::kBadModel, fmt::format("preprocessor: field '{}' {}", field, message), {.value = value});
}

void ThrowWrongValue(const char* field, const json& value) {
  ThrowField(field, "has a wrong value", value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 80));
}

const json& FieldOf(const json& object, const char* field) {
  if (!object.is_object() || !object.contains(field)) {
    ThrowField(field, "is missing");
  }
  return object[field];
}

std::vector<double> NumbersIn(const json& object, const char* field) {
  if (!object.contains(field)) {
    return {};
  }
  const json& list = object[field];
  const auto is_number = [](const json& value) { return value.is_number() && std::isfinite(value.get<double>()); };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), is_number)) {
    ThrowField(field, "is no list of numbers");
  }
  return list.get<std::vector<double>>();
}

json ToJson(const std::vector<FittedColumn>& columns) {
  json list = json::array();
  for (const FittedColumn& column : columns) {
    list.push_back(ColumnToJson(column));
  }
  return list;
}

std::vector<FittedColumn> ColumnsFromJson(const json& object, const char* field) {
  if (!object.is_object() || !object.contains(field) || !object[field].is_array()) {
    ThrowField(field, "is missing or not a list");
  }
  std::vector<FittedColumn> columns;
  for (const json& column : object[field]) {
    columns.push_back(ColumnFromJson(column));
  }
  return columns;
}

}  // namespace lamina::encoder_json
