// Inference requests and responses.
#include "lamina/serve/inference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/model/outputs.h"
#include "lamina/model/predictions.h"
#include "lamina/serve/tensors.h"

namespace lamina::serve {
namespace {

struct AskedOutput {
  std::string name;
  bool binary = false;
};

struct InferenceRequest {
  std::string id;
  std::vector<AskedOutput> outputs;  // empty: all
  bool binary = false;               // all of them
};

bool ReadBinaryFlag(JsonCursor& json, std::string_view wanted) {
  bool binary = false;
  json.Object([&](std::string_view name) {
    if (name == wanted) {
      binary = json.Bool();
    } else {
      json.Skip();
    }
  });
  return binary;
}

AskedOutput ReadAskedOutput(JsonCursor& json) {
  AskedOutput output;
  std::string room;
  json.Object([&](std::string_view name) {
    if (name == "name") {
      output.name = json.String(room);
    } else if (name == "parameters") {
      output.binary = ReadBinaryFlag(json, "binary_data");
    } else {
      json.Skip();
    }
  });
  return output;
}

template <class Cell>
InferenceRequest ReadInferenceJson(std::string_view text, BasicGrid<Cell>& grid, std::vector<Tensor<Cell>>& inputs) {
  InferenceRequest request;
  JsonCursor json(text);
  std::string room;
  json.Object([&](std::string_view name) {
    if (name == "id") {
      request.id = json.String(room);
    } else if (name == "inputs") {
      json.Array([&] { inputs.push_back(ReadTensor(json, grid)); });
    } else if (name == "outputs") {
      json.Array([&] { request.outputs.push_back(ReadAskedOutput(json)); });
    } else if (name == "parameters") {
      request.binary = ReadBinaryFlag(json, "binary_data_output");
    } else {
      json.Skip();
    }
  });
  json.End();
  return request;
}

void AppendTensorHead(std::string& to, const OutputTensor& tensor, int64_t rows) {
  to += "{\"name\":";
  AppendJsonString(to, tensor.name);
  to += ",\"datatype\":";
  AppendJsonString(to, tensor.datatype);
  to += ",\"shape\":[";
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    fmt::format_to(std::back_inserter(to), "{}{}", i == 0 ? "" : ",", tensor.shape[i] < 0 ? rows : tensor.shape[i]);
  }
  to += ']';
}

// The numbers of an output, row after row; NaN without an answer.
std::vector<double> NumbersOf(const ServedModel& model, const OutputTensor& tensor, const Matrix& outputs) {
  std::vector<double> numbers;
  const double sign = tensor.name == "lower" ? -1 : tensor.name == "upper" ? 1 : 0;
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    if (model.classifies()) {
      const std::vector<double> classes = ClassOutputs(model.model(), row);
      numbers.insert(numbers.end(), classes.begin(), classes.end());
      continue;
    }
    for (int64_t j = 0; j < outputs.cols(); ++j) {
      numbers.push_back(row[j] + (sign == 0 ? 0 : sign * model.model().intervals->half_widths[static_cast<size_t>(j)]));
    }
  }
  return numbers;
}

std::vector<std::string_view> LabelsOf(const ServedModel& model, const Matrix& outputs) {
  const std::vector<std::string>& names = model.model().preprocessor.targets().class_names();
  std::vector<std::string_view> labels;
  for (const int32_t index : ClassesOf(model.model(), outputs)) {
    labels.push_back(index < 0 ? std::string_view() : names[static_cast<size_t>(index)]);
  }
  return labels;
}

void AppendJsonTensor(std::string& to, const ServedModel& model, const OutputTensor& tensor, const Matrix& outputs) {
  to += ",\"data\":[";
  const char* before = "";
  if (tensor.datatype == "BYTES") {
    for (const std::string_view label : LabelsOf(model, outputs)) {
      to += std::exchange(before, ",");
      AppendJsonString(to, label);
    }
  } else {
    for (const double number : NumbersOf(model, tensor, outputs)) {
      to += std::exchange(before, ",");
      AppendJsonNumber(to, number, model.exact());
    }
  }
  to += "]}";
}

// Behind the JSON; returns how many bytes.
size_t AppendBinaryTensor(std::string& to, const ServedModel& model, const OutputTensor& tensor,
                          const Matrix& outputs) {
  const size_t before = to.size();
  if (tensor.datatype == "BYTES") {
    for (const std::string_view label : LabelsOf(model, outputs)) {
      const auto length = static_cast<uint32_t>(label.size());
      to.append(reinterpret_cast<const char*>(&length), sizeof length);
      to.append(label);
    }
  } else {
    const std::vector<double> numbers = NumbersOf(model, tensor, outputs);
    to.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  return to.size() - before;
}

std::vector<AskedOutput> CheckOutputs(const ServedModel& model, std::vector<AskedOutput> asked, bool binary) {
  std::vector<std::string> names;
  for (const OutputTensor& tensor : OutputsOf(model)) {
    names.push_back(tensor.name);
  }
  for (const AskedOutput& output : asked) {
    if (std::ranges::find(names, output.name) == names.end()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("the model has no output '{}'", Excerpt(output.name)),
                  {.remedy = fmt::format("It has {}.", fmt::join(names, ", "))});
    }
  }
  if (asked.empty()) {
    for (const std::string& name : names) {
      asked.push_back({name, binary});
    }
  }
  return asked;
}

Response WriteInference(const Job& job, const Matrix& outputs, const std::string& id,
                        const std::vector<AskedOutput>& asked) {
  const ServedModel& model = *job.model;
  const std::vector<OutputTensor> known = OutputsOf(model);
  std::string json = "{\"model_name\":";
  std::string binary;
  bool any_binary = false;
  AppendJsonString(json, model.name());
  fmt::format_to(std::back_inserter(json), ",\"model_version\":\"{}\"", model.version());
  if (!id.empty()) {
    json += ",\"id\":";
    AppendJsonString(json, id);
  }
  json += ",\"outputs\":[";
  for (size_t i = 0; i < asked.size(); ++i) {
    const OutputTensor& tensor = *std::ranges::find(known, asked[i].name, &OutputTensor::name);
    json += i == 0 ? "" : ",";
    AppendTensorHead(json, tensor, outputs.rows());
    if (asked[i].binary) {
      any_binary = true;
      fmt::format_to(std::back_inserter(json), ",\"parameters\":{{\"binary_data_size\":{}}}}}",
                     AppendBinaryTensor(binary, model, tensor, outputs));
    } else {
      AppendJsonTensor(json, model, tensor, outputs);
    }
  }
  json += "]}";
  Response response;
  if (any_binary) {
    response.content_type = "application/octet-stream";
    response.headers = fmt::format("Inference-Header-Content-Length: {}\r\n", json.size());
    json += binary;
  }
  response.body = std::move(json);
  return response;
}

void AppendMetadataTensor(std::string& to, const OutputTensor& tensor) {
  AppendTensorHead(to, tensor, -1);
  to += '}';
}

}  // namespace

std::string ServerMetadata() {
  std::string text = "{\"name\":\"lamina\",\"version\":";
  AppendJsonString(text, Version());
  return text + ",\"extensions\":[\"binary_tensor_data\"]}";
}

std::vector<OutputTensor> OutputsOf(const ServedModel& model) {
  if (model.classifies()) {
    const auto classes = std::ssize(model.model().preprocessor.targets().class_names());
    return {{"label", "BYTES", {-1}}, {"outputs", "FP64", {-1, classes}}};
  }
  std::vector<OutputTensor> outputs;
  for (const char* name : {"prediction", "lower", "upper"}) {
    if (outputs.empty() || model.model().intervals) {
      outputs.push_back({name, "FP64", {-1, model.model().network.outputs()}});
    }
  }
  return outputs;
}

std::string ModelMetadata(const ServedModel& model) {
  std::string text = "{\"name\":";
  AppendJsonString(text, model.name());
  fmt::format_to(std::back_inserter(text), ",\"versions\":[\"{}\"],\"platform\":\"lamina\",\"inputs\":[",
                 model.version());
  const bool numbers = std::ranges::all_of(model.columns(), [](const CellColumn& column) {
    return column.fitted != nullptr && column.fitted->kind == ColumnKind::kNumber;
  });
  if (numbers) {
    AppendMetadataTensor(text, {"input", "FP64", {-1, std::ssize(model.columns())}});
  }
  for (size_t i = 0; i < model.columns().size() && !numbers; ++i) {
    const CellColumn& column = model.columns()[i];
    const bool number = column.fitted != nullptr && column.fitted->kind == ColumnKind::kNumber;
    text += i == 0 ? "" : ",";
    AppendMetadataTensor(text, {column.name, number ? "FP64" : "BYTES", {-1}});
  }
  text += "],\"outputs\":[";
  const char* before = "";
  for (const OutputTensor& tensor : OutputsOf(model)) {
    text += std::exchange(before, ",");
    AppendMetadataTensor(text, tensor);
  }
  return text + "]}";
}

void ReadInference(const Request& request, DriftCounts* drift, Job& job) {
  std::string_view json = request.body;
  std::string_view binary;
  if (!request.header_length.empty()) {
    const std::optional<int64_t> length = ParseInteger(Trim(request.header_length));
    if (!length || *length < 0 || *length > std::ssize(request.body)) {
      throw Error(ErrorCode::kBadData, "Inference-Header-Content-Length is not within the request",
                  {.value = std::string(Excerpt(request.header_length))});
    }
    json = request.body.substr(0, static_cast<size_t>(*length));
    binary = request.body.substr(static_cast<size_t>(*length));
  }
  InferenceRequest asked;
  job.rows = job.model->EncodeRequest(drift, [&]<class Cell>(BasicGrid<Cell>& grid) {
    std::vector<Tensor<Cell>> inputs;
    std::string_view rest = binary;
    asked = ReadInferenceJson(json, grid, inputs);
    for (Tensor<Cell>& tensor : inputs) {
      ReadBinary(tensor, rest);
    }
    if (!rest.empty()) {
      throw Error(ErrorCode::kBadData, fmt::format("{} bytes behind the JSON belong to no input", rest.size()),
                  {.file = "request"});
    }
    FillGrid(*job.model, inputs, grid);
    asked.outputs = CheckOutputs(*job.model, std::move(asked.outputs), asked.binary);
  });
  job.write = [id = std::move(asked.id), wanted = std::move(asked.outputs)](const Job& done, const Matrix& outputs) {
    return WriteInference(done, outputs, id, wanted);
  };
}

}  // namespace lamina::serve
