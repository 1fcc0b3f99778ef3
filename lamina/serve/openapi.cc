// Paths from the list of routes, schemas by hand.
#include "lamina/serve/openapi.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/serve/route_list.h"
#include "lamina/serve/tensors.h"

namespace lamina::serve {
namespace {

using nlohmann::json;

json Ref(std::string_view schema) { return {{"$ref", fmt::format("#/components/schemas/{}", schema)}}; }
json ObjectSchema(json properties, json required = json::array()) {
  json object = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) {
    object["required"] = std::move(required);
  }
  return object;
}
json ListOf(json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
const json kText = {{"type", "string"}};
const json kWhole = {{"type", "integer"}};
const json kTruth = {{"type", "boolean"}};
const json kAnything = json::object();

json TensorSchema(bool data) {
  json properties = {{"name", kText},
                     {"datatype", {{"type", "string"}, {"enum", TensorTypes()}}},
                     {"shape", ListOf(kWhole)},
                     {"parameters", {{"type", "object"}}}};
  json required = {"name", "datatype", "shape"};
  if (data) {
    properties["data"] = {{"type", "array"}, {"items", kAnything}};
  }
  return ObjectSchema(std::move(properties), std::move(required));
}

json Schemas() {
  const json rows = ListOf({{"oneOf", {{{"type", "object"}}, {{"type", "array"}, {"items", kAnything}}}}});
  json schemas;
  schemas["Object"] = {{"type", "object"}};
  schemas["Error"] = ObjectSchema({{"error", kText}}, {"error"});
  schemas["Live"] = ObjectSchema({{"live", kTruth}}, {"live"});
  schemas["Ready"] = ObjectSchema({{"ready", kTruth}}, {"ready"});
  schemas["ModelReady"] = ObjectSchema({{"name", kText}, {"ready", kTruth}}, {"name", "ready"});
  schemas["PredictRequest"] = ObjectSchema(
      {{"columns", ListOf(kText)}, {"rows", rows}, {"probabilities", kTruth}, {"intervals", kTruth}}, {"rows"});
  schemas["PredictResponse"] = ObjectSchema(
      {{"model", kText}, {"answers", ListOf({{"type", "object"}, {"nullable", true}})}, {"notes", ListOf(kText)}},
      {"model", "answers", "notes"});
  schemas["Invocations"] =
      ObjectSchema({{"dataframe_split", ObjectSchema({{"columns", ListOf(kText)}, {"data", rows}}, {"data"})},
                    {"dataframe_records", rows},
                    {"instances", kAnything},
                    {"inputs", kAnything}});
  schemas["Predictions"] = ObjectSchema({{"predictions", ListOf(kAnything)}}, {"predictions"});
  schemas["ServerMetadata"] = ObjectSchema({{"name", kText}, {"version", kText}, {"extensions", ListOf(kText)}},
                                           {"name", "version", "extensions"});
  schemas["MetadataTensor"] = TensorSchema(false);
  schemas["ModelMetadata"] = ObjectSchema({{"name", kText},
                                           {"versions", ListOf(kText)},
                                           {"platform", kText},
                                           {"inputs", ListOf(Ref("MetadataTensor"))},
                                           {"outputs", ListOf(Ref("MetadataTensor"))}},
                                          {"name", "platform", "inputs", "outputs"});
  schemas["Tensor"] = TensorSchema(true);
  schemas["InferenceRequest"] = ObjectSchema(
      {{"id", kText},
       {"parameters", {{"type", "object"}}},
       {"inputs", ListOf(Ref("Tensor"))},
       {"outputs", ListOf(ObjectSchema({{"name", kText}, {"parameters", {{"type", "object"}}}}, {"name"}))}},
      {"inputs"});
  schemas["InferenceResponse"] =
      ObjectSchema({{"model_name", kText}, {"model_version", kText}, {"id", kText}, {"outputs", ListOf(Ref("Tensor"))}},
                   {"model_name", "outputs"});
  return schemas;
}

json Operation(const RouteRow& row) {
  const json schema = row.answer.empty() ? json() : Ref(row.answer);
  const json content = row.answer.empty() ? json{{row.id == "page" ? "text/html" : "text/plain", {{"schema", kText}}}}
                                          : json{{"application/json", {{"schema", schema}}}};
  json operation = {
      {"operationId", row.id},
      {"summary", row.summary},
      {"responses",
       {{"200", {{"description", "Done"}, {"content", content}}},
        {"default", {{"description", "Refused"}, {"content", {{"application/json", {{"schema", Ref("Error")}}}}}}}}}};
  if (!row.body.empty()) {
    operation["requestBody"] = {{"required", true}, {"content", {{"application/json", {{"schema", Ref(row.body)}}}}}};
    if (row.id == "predict" || row.id == "invocations") {
      operation["requestBody"]["content"]["text/csv"] = {{"schema", kText}};
    }
  }
  for (const std::string_view part : SplitText(row.path, '/')) {
    if (part.starts_with('{')) {
      operation["parameters"].push_back(
          {{"name", part.substr(1, part.size() - 2)}, {"in", "path"}, {"required", true}, {"schema", kText}});
    }
  }
  if (row.open) {
    operation["security"] = json::array();
  }
  return operation;
}

json ExampleRow(const ServedModel& model) {
  const CellGrid grid = TypicalRow(model);
  json row = json::object();
  for (size_t c = 0; c < grid.names.size(); ++c) {
    const GridCell& cell = grid.cells[c];
    row[grid.names[c]] = cell.kind == GridCell::Kind::kNumber ? json(cell.number)
                         : cell.kind == GridCell::Kind::kText ? json(std::string(cell.text))
                                                              : json(nullptr);
  }
  return {{"rows", {std::move(row)}}};
}

}  // namespace

CellGrid TypicalRow(const ServedModel& model) {
  CellGrid grid;
  grid.rows = 1;
  for (const CellColumn& column : model.columns()) {
    GridCell cell;
    if (column.fitted == nullptr) {
      cell = {GridCell::Kind::kNumber, 1, {}};  // others are made of it; what it was nobody knows
    } else if (column.fitted->kind == ColumnKind::kText) {
      const std::vector<std::string>& categories = column.fitted->categories;
      const auto usual = static_cast<size_t>(column.fitted->fill_category);
      cell = {GridCell::Kind::kText, 0, usual < categories.size() ? std::string_view(categories[usual]) : "text"};
    } else {
      cell = {GridCell::Kind::kNumber, column.fitted->Typical(), {}};
      if (column.fitted->is_date) {
        cell = {GridCell::Kind::kText, 0, grid.owned.emplace_back(DateText(cell.number))};
      }
    }
    grid.names.push_back(column.name);
    grid.cells.push_back(cell);
  }
  grid.columns = std::ssize(grid.names);
  return grid;
}

std::string OpenApiText(const ModelSet& models) {
  json api = {
      {"openapi", "3.0.3"},
      {"info",
       {{"title", "lamina serve"},
        {"version", Version()},
        {"description", "Models trained by lamina. Rows are read as those of a file."}}},
      {"security", {json::object(), {{"bearer", json::array()}}, {{"basic", json::array()}}}},
      {"components",
       {{"schemas", Schemas()},
        {"securitySchemes",
         {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}, {"basic", {{"type", "http"}, {"scheme", "basic"}}}}}}}};
  for (const RouteRow& row : RouteRows()) {
    const std::string method = row.method == "GET" ? "get" : "post";
    api["paths"][std::string(row.path)][method] = Operation(row);
  }
  json examples = json::object();
  for (size_t m = 0; m < models.size(); ++m) {
    const std::shared_ptr<const ServedModel> model = models.Get(m);
    examples[model->name()] = {{"value", ExampleRow(*model)}};
  }
  api["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["examples"] = std::move(examples);
  return api.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace lamina::serve
