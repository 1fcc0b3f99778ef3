// Requests of the service: JSON against nlohmann's, and what a stranger may ask a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/data/files/csv.h"
#include "lamina/model/model.h"
#include "lamina/serve/service.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

using nlohmann::json;

// Numbers alone, or text and dates beside them.
Model SmallModel(const std::string& path) {
  const std::string text = path == "numbers"
                               ? "a,b,y\n1,2,no\n3,5,yes\n2,2,no\n4,7,yes\n"
                               : "size,street,built,price\n$100,Elm,2001-03-01,10\n$200,Oak,2002-03-01,20\n"
                                 "$150,Elm,2003-03-01,15\n$120,Ash,2004-03-01,12\n";
  const Table table = ReadCsv(text, "training", {});
  Model model;
  PreprocessOptions options;
  options.missing = path == "numbers" ? MissingPolicy::kDropRow : MissingPolicy::kMean;
  model.preprocessor = Preprocessor::Fit(table, AllRowsOf(table), options);
  LayerSpec layer = ParseNeuron("dot-identity");
  layer.inputs = model.preprocessor.inputs().count();
  layer.outputs = model.preprocessor.targets().count();
  layer.bias = true;
  model.network = Network({layer}, DType::kF32);
  model.network.Initialize(Initialization::kGlorotUniform, 1);
  model.training = json::object();
  return model;
}

// The same texts are JSON here and there; but for NaN, which is ours, and for depth, which is limited.
void CompareJson(std::string_view text) {
  bool accepted = true;
  try {
    serve::JsonCursor cursor(text);
    cursor.Skip();
    cursor.End();
  } catch (const Error&) {
    accepted = false;
  }
  // nlohmann takes a NUL for the end.
  if (text.find("NaN") == std::string_view::npos && text.find('\0') == std::string_view::npos &&
      std::ranges::count(text, '[') + std::ranges::count(text, '{') < 32) {
    Demand(accepted == json::accept(text), "JSON that is read otherwise");
  }
}

// A short number has the value of any reader, and the text that it was written as.
void CompareNumber(std::string_view text) {
  serve::JsonCursor cursor(text);
  if (serve::JsonNumber number; cursor.ShortNumber(number)) {
    Demand(json::parse(number.text).get<double>() == number.value, "a number that is read otherwise");
  }
}

void CheckResponse(const serve::Response& response, int64_t rows) {
  Demand(response.status == 200 || (response.status >= 400 && response.status < 504), "a status of no refusal");
  if (response.content_type != "application/json") {
    return;
  }
  Demand(json::accept(response.body), "an answer that is no JSON");
  const json body = json::parse(response.body);
  if (response.status != 200) {
    Demand(body.contains("error") || body.contains("message"), "a refusal without words");
  } else if (body.contains("answers")) {
    Demand(std::ssize(body["answers"]) == rows, "answers to other rows");
  } else if (body.contains("predictions")) {
    Demand(std::ssize(body["predictions"]) == rows, "predictions of other rows");
  }
}

// First byte: the address and the model; the rest is the body, of tensors with a length of their JSON in two bytes.
void FuzzRequest(std::string_view input) {
  static serve::ModelSet models({{"numbers", "numbers"}, {"texts", "texts"}}, &SmallModel);
  static const serve::Service service(models, "");
  static serve::Worker worker(models.size());
  Bytes bytes(input);
  const uint8_t what = bytes.Byte();
  const std::string model = what & 1 ? "texts" : "numbers";
  serve::Request request{.method = "POST"};
  std::string path = "/predict";
  std::string query = "model=" + model + "&probabilities=1";
  std::string length;
  switch (what >> 1 & 3) {
    case 0: request.content_type = "text/csv"; break;
    case 1: path = "/invocations"; break;
    case 2:
      path = fmt::format("/v2/models/{}/infer", model);
      if (what & 8) {
        length = fmt::format("{}", bytes.Below(65536));
      }
      break;
    default:
      CompareNumber(bytes.Rest());
      CompareJson(bytes.Rest());
      break;
  }
  std::string other;
  if (what & 16) {  // any address
    other = std::string(bytes.Until('\n'));
    path = other.substr(0, other.find('?'));
    query = other;
    request.method = what & 32 ? "GET" : "POST";
  }
  request.path = path;
  request.query = query;
  request.header_length = length;
  request.body = bytes.Rest();
  serve::Handled handled = service.Handle(request, worker);
  if (!handled.job) {
    CheckResponse(handled.response, 0);
    return;
  }
  serve::Job* jobs[] = {handled.job.get()};
  const int64_t rows = handled.job->rows.asked;
  worker.Run(jobs);
  CheckResponse(handled.job->response, rows);
}

const RegisteredTargets request_targets{{"request", &FuzzRequest}};

}  // namespace
}  // namespace lamina::fuzz
