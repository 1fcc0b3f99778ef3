// From a request to a response, or to a job. Handle() finds the route, checks method and token, then answers at once or
// reads rows into a job. Sockets are left to the HttpServer, rows of jobs to the Worker, formats to the files of the
// routes.
#include "lamina/serve/service.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "lamina/base/base64.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/serve/inference.h"
#include "lamina/serve/metrics_text.h"
#include "lamina/serve/openapi.h"
#include "lamina/serve/predict_route.h"
#include "lamina/serve/route_list.h"

namespace lamina::serve {

// An address and what answers it: at once, or by a job.
struct Service::Route {
  RouteRow row;
  Response (Service::*answer)(const Request&, std::span<const std::string>) const = nullptr;
  void (*read)(const Request&, DriftCounts*, Job&) = nullptr;
  Response (*refuse)(int, std::string_view) = &Refusal;
};

namespace {

std::vector<std::string> PartsOf(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view part : SplitText(path.substr(std::min<size_t>(1, path.size())), '/')) {
    parts.push_back(Unescaped(part, false));
  }
  return parts;
}

// Parts of the path that stand where the pattern has {names}.
bool Matches(std::string_view pattern, std::span<const std::string> parts, std::vector<std::string>& named) {
  const std::vector<std::string_view> wanted = SplitText(pattern.substr(1), '/');
  if (wanted.size() != parts.size()) {
    return false;
  }
  named.clear();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      named.push_back(parts[i]);
    } else if (wanted[i] != parts[i]) {
      return false;
    }
  }
  return true;
}

// In a time that does not tell how much of it is right.
bool SameSecret(std::string_view a, std::string_view b) {
  unsigned differs = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(i < b.size() ? b[i] : 0);
  }
  return differs == 0;
}

int StatusOf(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kBadModel:
    case ErrorCode::kIo:
    case ErrorCode::kDiverged: return 500;
    case ErrorCode::kResource: return 503;
    case ErrorCode::kUnsupported: return 415;
    default: return 400;
  }
}

}  // namespace

std::span<const Service::Route> Service::Routes() {
  static const Route kRoutes[] = {
      {RouteOf("page"), &Service::PageOf},
      {RouteOf("predict"), nullptr, &ReadPredict},
      {RouteOf("infer"), nullptr, &ReadInference},
      {RouteOf("infer_version"), nullptr, &ReadInference},
      {RouteOf("invocations"), nullptr, &ReadInvocations, &InvocationsRefusal},
      {RouteOf("live"), &Service::HealthLive},
      {RouteOf("ready"), &Service::HealthReady},
      {RouteOf("ping"), &Service::HealthReady},
      {RouteOf("health"), &Service::HealthReady},
      {RouteOf("version"), &Service::Version},
      {RouteOf("server"), &Service::Metadata},
      {RouteOf("model"), &Service::ModelMetadataOf},
      {RouteOf("model_version"), &Service::ModelMetadataOf},
      {RouteOf("model_ready"), &Service::ModelReady},
      {RouteOf("model_version_ready"), &Service::ModelReady},
      {RouteOf("metrics"), &Service::MetricsOf},
      {RouteOf("openapi"), &Service::OpenApiOf},
  };
  return kRoutes;
}

Service::Service(ModelSet& models, std::string token) : models_(models), token_(std::move(token)) {}

bool Service::Allowed(const Request& request) const {
  if (token_.empty()) {
    return true;
  }
  const size_t blank = request.authorization.find(' ');
  const std::string_view scheme = request.authorization.substr(0, blank);
  const std::string_view shown =
      blank == std::string_view::npos ? std::string_view() : Trim(request.authorization.substr(blank));
  if (IsType(scheme, "bearer")) {
    return SameSecret(shown, token_);
  }
  if (IsType(scheme, "basic")) {  // what a browser has: any name, the token as the password
    const std::string pair = FromBase64(shown);
    const size_t colon = pair.find(':');
    return colon != std::string::npos && SameSecret(std::string_view(pair).substr(colon + 1), token_);
  }
  return false;
}

Handled Service::Handle(const Request& request, Worker& worker) const {
  const std::vector<std::string> parts = PartsOf(request.path);
  std::vector<std::string> named;
  std::string methods;
  for (const Route& route : Routes()) {
    if (!Matches(route.row.path, parts, named)) {
      continue;
    }
    const bool head = request.method == "HEAD" && route.row.method == "GET";
    if (!head && request.method != route.row.method) {
      methods = route.row.method;
      continue;
    }
    if (!route.row.open && !Allowed(request)) {
      Response refusal = route.refuse(401, "a token is needed: Authorization: Bearer TOKEN");
      refusal.headers = "WWW-Authenticate: Bearer, Basic realm=\"lamina\"\r\n";
      return {route.row.endpoint, std::move(refusal), nullptr};
    }
    try {
      return route.read != nullptr ? Ask(route, request, named, worker)
                                   : Handled{route.row.endpoint, (this->*route.answer)(request, named), nullptr};
    } catch (const Error& error) {
      return {route.row.endpoint, route.refuse(StatusOf(error), error.what()), nullptr};
    } catch (const std::exception& error) {
      return {route.row.endpoint, route.refuse(500, error.what()), nullptr};
    }
  }
  if (!methods.empty()) {
    Response refusal = Refusal(405, fmt::format("{} is asked with {}", request.path, methods));
    refusal.headers = fmt::format("Allow: {}\r\n", methods);
    return {Endpoint::kOther, std::move(refusal), nullptr};
  }
  return {Endpoint::kOther, Refusal(404, "there is nothing at this address; /openapi.json lists what there is"),
          nullptr};
}

std::optional<size_t> Service::ModelOf(const Request& request, std::span<const std::string> parts,
                                       Response& refusal) const {
  const std::string name = parts.empty() ? QueryValue(request.query, "model") : parts.front();
  const std::optional<size_t> found = models_.Find(name);
  if (!found || (name.empty() && !parts.empty())) {
    std::vector<std::string> names;
    for (size_t i = 0; i < models_.size(); ++i) {
      names.push_back(models_.name(i));
    }
    refusal = Refusal(404, fmt::format("there is no model '{}'. {}The service has {}.", Excerpt(name),
                                       DidYouMean(name, names), fmt::join(names, ", ")));
    return std::nullopt;
  }
  const int64_t version = models_.Get(*found)->version();
  if (parts.size() > 1 && parts[1] != std::to_string(version)) {
    refusal = Refusal(404, fmt::format("model '{}' is there in version {} alone", name, version));
    return std::nullopt;
  }
  return found;
}

Handled Service::Ask(const Route& route, const Request& request, std::span<const std::string> parts,
                     Worker& worker) const {
  Handled handled{route.row.endpoint, {}, nullptr};
  const std::optional<size_t> index = ModelOf(request, parts, handled.response);
  if (!index) {
    return handled;
  }
  auto job = std::make_unique<Job>();
  job->model_index = *index;
  job->model = models_.Get(*index);
  job->refuse = route.refuse;
  route.read(request, worker.DriftOf(*index, *job->model), *job);
  handled.job = std::move(job);
  return handled;
}

Response Service::HealthLive(const Request&, std::span<const std::string>) const { return {.body = "{\"live\":true}"}; }

Response Service::HealthReady(const Request&, std::span<const std::string>) const {
  return leaving() ? Refusal(503, "the service is about to end") : Response{.body = "{\"ready\":true}"};
}

Response Service::Version(const Request&, std::span<const std::string>) const {
  return {.content_type = "text/plain; charset=utf-8", .body = lamina::Version()};
}

Response Service::Metadata(const Request&, std::span<const std::string>) const { return {.body = ServerMetadata()}; }

Response Service::ModelMetadataOf(const Request& request, std::span<const std::string> parts) const {
  Response response;
  if (const std::optional<size_t> index = ModelOf(request, parts, response)) {
    response.body = ModelMetadata(*models_.Get(*index));
  }
  return response;
}

Response Service::ModelReady(const Request& request, std::span<const std::string> parts) const {
  Response response;
  if (const std::optional<size_t> index = ModelOf(request, parts, response)) {
    if (leaving()) {
      return HealthReady(request, parts);
    }
    response.body = "{\"name\":";
    AppendJsonString(response.body, models_.name(*index));
    response.body += ",\"ready\":true}";
  }
  return response;
}

Response Service::PageOf(const Request& request, std::span<const std::string> parts) const {
  Response response;
  if (const std::optional<size_t> index = ModelOf(request, parts, response)) {
    response.body = models_.Get(*index)->Page();
    response.content_type = "text/html; charset=utf-8";
    response.headers = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n";
  }
  return response;
}

Response Service::MetricsOf(const Request&, std::span<const std::string>) const {
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = MetricsText(models_, workers_, lost_lines_ == nullptr ? 0 : lost_lines_->load())};
}

Response Service::OpenApiOf(const Request&, std::span<const std::string>) const {
  return {.body = OpenApiText(models_)};
}

void Service::Check(const ModelSet& models) {
  Worker worker(models.size());
  for (size_t i = 0; i < models.size(); ++i) {
    Job job;
    job.model_index = i;
    job.model = models.Get(i);
    job.rows = job.model->Encode(TypicalRow(*job.model), nullptr);
    job.write = [](const Job&, const Matrix&) { return Response(); };
    Job* jobs[] = {&job};
    worker.Run(jobs);
    if (job.response.status != 200) {
      throw Error(ErrorCode::kBadModel, "the model does not answer a usual row: " + job.response.body,
                  {.file = models.path(i)});
    }
  }
}

}  // namespace lamina::serve
