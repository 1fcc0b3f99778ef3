// One row an address.
#include "lamina/serve/route_list.h"

#include <algorithm>

#include "lamina/base/check.h"

namespace lamina::serve {

std::span<const RouteRow> RouteRows() {
  static constexpr RouteRow kRows[] = {
      {"page", "GET", "/", Endpoint::kPage, false, "The model as a page; ?model=NAME", "", ""},
      {"predict", "POST", "/predict", Endpoint::kPredict, false,
       "Answers to rows as JSON or CSV; ?model=NAME&probabilities=1&intervals=1", "PredictRequest", "PredictResponse"},
      {"infer", "POST", "/v2/models/{model}/infer", Endpoint::kInfer, false, "Open Inference Protocol: inference",
       "InferenceRequest", "InferenceResponse"},
      {"infer_version", "POST", "/v2/models/{model}/versions/{version}/infer", Endpoint::kInfer, false,
       "The same of a version", "InferenceRequest", "InferenceResponse"},
      {"invocations", "POST", "/invocations", Endpoint::kInvocations, false,
       "MLflow: dataframe_split, dataframe_records, instances, inputs or CSV; ?model=NAME", "Invocations",
       "Predictions"},
      {"live", "GET", "/v2/health/live", Endpoint::kHealth, true, "Whether the service runs", "", "Live"},
      {"ready", "GET", "/v2/health/ready", Endpoint::kHealth, true, "Whether it answers; 503 while it ends", "",
       "Ready"},
      {"ping", "GET", "/ping", Endpoint::kHealth, true, "MLflow: the same", "", "Ready"},
      {"health", "GET", "/health", Endpoint::kHealth, true, "MLflow: the same", "", "Ready"},
      {"version", "GET", "/version", Endpoint::kOther, false, "MLflow: the server's version", "", ""},
      {"server", "GET", "/v2", Endpoint::kOther, false, "Name, version and extensions", "", "ServerMetadata"},
      {"model", "GET", "/v2/models/{model}", Endpoint::kOther, false, "Tensors of a model", "", "ModelMetadata"},
      {"model_version", "GET", "/v2/models/{model}/versions/{version}", Endpoint::kOther, false,
       "The same of a version", "", "ModelMetadata"},
      {"model_ready", "GET", "/v2/models/{model}/ready", Endpoint::kHealth, true, "Whether a model answers", "",
       "ModelReady"},
      {"model_version_ready", "GET", "/v2/models/{model}/versions/{version}/ready", Endpoint::kHealth, true,
       "The same of a version", "", "ModelReady"},
      {"metrics", "GET", "/metrics", Endpoint::kMetrics, false, "Counts for Prometheus", "", ""},
      {"openapi", "GET", "/openapi.json", Endpoint::kOther, false, "This description", "", "Object"},
  };
  return kRows;
}

const RouteRow& RouteOf(std::string_view id) {
  const auto rows = RouteRows();
  const auto found = std::ranges::find(rows, id, &RouteRow::id);
  Check(found != rows.end(), "a route that is in the list");
  return *found;
}

}  // namespace lamina::serve
