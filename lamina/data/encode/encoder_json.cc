// Fitted columns in model files.
#include "lamina/data/encode/encoder_json.h"

#include <fmt/format.h>

namespace lamina::encoder_json {
namespace {

constexpr Named<ColumnKind> kKinds[] = {{"number", ColumnKind::kNumber}, {"text", ColumnKind::kText}};
constexpr Named<char> kDecimals[] = {{"point", '.'}, {"comma", ','}};
constexpr Named<DateOrder> kDateOrders[] = {
    {"auto", DateOrder::kAuto}, {"day_first", DateOrder::kDayFirst}, {"month_first", DateOrder::kMonthFirst}};
constexpr Named<bool> kEncodings[] = {{"one_hot", true}, {"ordinal", false}};

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
  column.is_date = object.contains("date") && Get<bool>(object, "date");
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

json ColumnToJson(const FittedColumn& column) {
  json object{{"name", column.name},
              {"position", column.position},
              {"kind", NameOf(column.kind, kKinds)},
              {"offset", column.scaling.offset},
              {"scale", column.scaling.scale}};
  if (column.scaling.logarithm) {
    object["logarithm"] = true;
  }
  if (column.kind == ColumnKind::kNumber) {
    object["fill"] = column.fill;
    AddFormat(column, object);
  } else {
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
  column.scaling.logarithm = object.contains("logarithm") && Get<bool>(object, "logarithm");
  if (column.kind == ColumnKind::kNumber) {
    column.fill = Get<double>(object, "fill");
    ReadFormat(object, column);
    return column;
  }
  column.one_hot = GetKind(object, "encoding", kEncodings);
  column.categories = Get<std::vector<std::string>>(object, "categories");
  column.fill_category = static_cast<int32_t>(Get<int64_t>(object, "fill_category"));
  return column;
}

}  // namespace

void ThrowField(const std::string& field, const std::string& message, const std::string& value) {
  throw Error(ErrorCode::kBadModel, fmt::format("preprocessor: field '{}' {}", field, message), {.value = value});
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
