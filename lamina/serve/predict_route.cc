// Rows in lamina's own form and in MLflow's.
#include "lamina/serve/predict_route.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/serve/answers_text.h"

namespace lamina::serve {
namespace {

constexpr std::string_view kCsv = "text/csv";
constexpr std::string_view kJson = "application/json";

[[noreturn]] void RefuseShape(const std::string& what, const std::string& remedy) {
  throw Error(ErrorCode::kInvalidArgument, what, {.remedy = remedy});
}

// curl -d calls whatever it sends a form.
void RequireJson(const Request& request) {
  if (!request.content_type.empty() && !IsType(request.content_type, kJson) &&
      !IsType(request.content_type, "application/x-www-form-urlencoded")) {
    throw Error(ErrorCode::kUnsupported, "rows are application/json or text/csv",
                {.value = std::string(Excerpt(request.content_type))});
  }
}

// What stands beside the rows in an object.
struct PredictOptions {
  PredictionColumns columns;
  bool rows = false;
};

template <class Grid>
bool ReadOption(JsonCursor& json, std::string_view name, Grid& grid, PredictOptions& options) {
  if (name == "rows") {
    options.rows = true;
    grid.ReadRows(json);
  } else if (name == "columns") {
    if (options.rows) {
      RefuseShape("\"columns\" stands behind \"rows\"", "Put it in front.");
    }
    grid.ReadNames(json);
  } else if (name == "probabilities") {
    options.columns.probabilities = json.Bool();
  } else if (name == "intervals") {
    options.columns.intervals = json.Bool();
  } else {
    return false;
  }
  return true;
}

template <class Grid>
PredictOptions ReadJsonRows(const Request& request, Grid& grid) {
  JsonCursor json(request.body);
  PredictOptions options;
  if (json.Peek() == JsonCursor::Kind::kArray) {
    grid.ReadRows(json);
  } else if (json.Peek() == JsonCursor::Kind::kObject) {
    json.Object([&](std::string_view name) {
      if (const std::string known(name); !ReadOption(json, known, grid, options)) {
        const std::string names[] = {"rows", "columns", "probabilities", "intervals"};
        RefuseShape(fmt::format("\"{}\" is not known here", known),
                    DidYouMean(known, names) + "A request is {\"rows\": [...]} or a list of rows.");
      }
    });
  } else {
    RefuseShape("a request is {\"rows\": [...]}, a list of rows, or CSV", "");
  }
  json.End();
  return options;
}

bool WantsCsv(const Request& request, bool csv) {
  return request.accept.find(kCsv) != std::string_view::npos ||
         (csv && request.accept.find(kJson) == std::string_view::npos);
}

}  // namespace

void ReadPredict(const Request& request, DriftCounts* drift, Job& job) {
  const bool csv = IsType(request.content_type, kCsv);
  PredictOptions options;
  if (csv) {
    job.rows = job.model->EncodeCsv(std::string(request.body), drift);
  } else {
    RequireJson(request);
    job.rows = job.model->EncodeRequest(drift, [&](auto& grid) { options = ReadJsonRows(request, grid); });
  }
  options.columns.probabilities |= QueryFlag(request.query, "probabilities");
  options.columns.intervals |= QueryFlag(request.query, "intervals");
  RequireColumns(*job.model, options.columns);
  if (WantsCsv(request, csv)) {
    job.write = [columns = options.columns](const Job& asked, const Matrix& outputs) {
      return Response{.content_type = "text/csv; charset=utf-8",
                      .body = PredictionsCsv(asked.model->model(), outputs, columns)};
    };
  } else {
    job.write = [columns = options.columns](const Job& asked, const Matrix& outputs) {
      return Response{.body = AnswersJson(asked, outputs, columns)};
    };
  }
}

namespace {

template <class Grid>
void ReadSplit(JsonCursor& json, Grid& grid) {
  bool rows = false;
  json.Object([&](std::string_view name) {
    if (name == "columns" && !rows) {
      grid.ReadNames(json);
    } else if (name == "data") {
      rows = true;
      grid.ReadRows(json);
    } else {
      json.Skip();  // "index", or names behind the rows
      if (name == "columns") {
        RefuseShape("\"columns\" stands behind \"data\"", "Put it in front.");
      }
    }
  });
}

template <class Grid>
void ReadMlflow(JsonCursor& json, Grid& grid) {
  bool found = false;
  json.Object([&](std::string_view name) {
    const bool list = json.Peek() == JsonCursor::Kind::kArray;
    if (name == "dataframe_split") {
      ReadSplit(json, grid);
    } else if ((name == "dataframe_records" || name == "instances" || name == "inputs") && list) {
      grid.ReadRows(json);
    } else if (name == "inputs" || name == "instances") {
      grid.ReadColumns(json);
    } else {
      json.Skip();  // "params"
      return;
    }
    if (std::exchange(found, true)) {
      RefuseShape("rows are there twice", "");
    }
  });
  if (!found) {
    RefuseShape("none of dataframe_split, dataframe_records, instances and inputs is there", "");
  }
}

}  // namespace

void ReadInvocations(const Request& request, DriftCounts* drift, Job& job) {
  if (IsType(request.content_type, kCsv)) {
    job.rows = job.model->EncodeCsv(std::string(request.body), drift);
  } else {
    RequireJson(request);
    job.rows = job.model->EncodeRequest(drift, [&](auto& grid) {
      JsonCursor json(request.body);
      ReadMlflow(json, grid);
      json.End();
    });
  }
  job.write = [](const Job& asked, const Matrix& outputs) {
    Response response{.body = "{\"predictions\":["};
    for (int64_t i = 0; i < outputs.rows(); ++i) {
      response.body += i == 0 ? "" : ",";
      AppendPrediction(response.body, *asked.model, outputs.Row<double>(i));
    }
    response.body += "]}";
    return response;
  };
}

Response InvocationsRefusal(int status, std::string_view words) {
  Response response{.status = status};
  response.body =
      status < 500 ? "{\"error_code\":\"BAD_REQUEST\",\"message\":" : "{\"error_code\":\"INTERNAL_ERROR\",\"message\":";
  AppendJsonString(response.body, words);
  response.body += "}";
  return response;
}

}  // namespace lamina::serve
