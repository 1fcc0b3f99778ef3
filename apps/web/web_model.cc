// The model of the page: files of it, and its answers to files.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/model/answer.h"
#include "lamina/model/c_source/c_source.h"
#include "lamina/model/html_page/html_page.h"
#include "lamina/model/model.h"
#include "lamina/model/onnx_export.h"
#include "lamina/model/predictions.h"
#include "web_state.h"

namespace lamina::web {
namespace {

using nlohmann::json;

json ModelJson(const Model& model) {
  const TargetEncoder& targets = model.preprocessor.targets();
  std::vector<std::string> inputs;
  for (const FittedColumn& column : model.preprocessor.inputs().columns()) {
    inputs.push_back(column.name);
  }
  return {{"network", model.ShapeText()},
          {"parameters", model.parameter_count()},
          {"targets", targets.names()},
          {"classes", targets.class_names()},
          {"inputs", inputs},
          {"is_image", model.preprocessor.inputs().is_image()},
          {"html", ToHtml(model)}};
}

}  // namespace

const Model& ModelOf(const WebState& state) {
  if (!state.model) {
    throw Error(ErrorCode::kInvalidArgument, "there is no model yet", {.remedy = "Train one, or open a model file."});
  }
  return *state.model;
}

json OpenModel(const json& request, WebState& state) {
  if (request.contains("path")) {
    Model model = LoadModel(request["path"].get<std::string>());
    RequireRawRows(model);
    state.model = std::move(model);
  }
  return ModelJson(ModelOf(state));
}

json WriteModel(const json& request, WebState& state) {
  const Model& model = ModelOf(state);
  const auto kind = request.at("kind").get<std::string>();
  const auto path = request.at("path").get<std::string>();
  if (kind == "model") {
    SaveModel(path, model);
  } else if (kind == "onnx") {
    WriteFileAtomically(path, ToOnnx(model));
  } else if (kind == "html") {
    WriteFileAtomically(path, ToHtml(model));
  } else if (kind == "c") {
    const CSource source = ToCSource(model, {.name = request.at("name").get<std::string>()});
    WriteFileAtomically(path + ".h", source.header);
    WriteFileAtomically(path + ".c", source.source);
    return {{"paths", {path + ".h", path + ".c"}}};
  } else {
    throw Error(ErrorCode::kInvalidArgument, "no kind of file for a model", {.value = kind});
  }
  return {{"paths", {path}}};
}

json PredictFile(const json& request, WebState& state) {
  const Model& model = ModelOf(state);
  Table table = ReadTableFor(model, request.at("path").get<std::string>(), {.sheet = request.value("sheet", "")});
  const std::unique_ptr<Backend> backend = MakeBackend("auto");
  const std::vector<int64_t> rows = AllRowsOf(table);
  const Answers answers = AnswerTable(model, *backend, table, rows, {Truth::kWherePresent, {}});
  KeptColumns kept{{}, answers.rows};
  if (request.value("keep", false)) {
    for (const Column& column : table.columns) {
      kept.columns.push_back(&column);
    }
  }
  const PredictionColumns columns{.probabilities = request.value("probabilities", false)};
  const std::string csv = PredictionsCsv(model, answers.outputs, columns, kept);
  if (request.contains("out")) {
    WriteFileAtomically(request["out"].get<std::string>(), csv);
  }
  constexpr size_t kShown_bytes = 20'000;
  return {{"rows", answers.outputs.rows()},
          {"names", PredictionNames(model, columns)},
          {"start", csv.substr(0, csv.rfind('\n', kShown_bytes))},
          {"notes", answers.Notes()},
          {"evaluation", answers.evaluation ? ToJson(*answers.evaluation) : json(nullptr)}};
}

}  // namespace lamina::web
