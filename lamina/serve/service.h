// Which address means what: from a request to a response, or to a job that waits for answers. It knows no sockets.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/serve/counters.h"
#include "lamina/serve/job.h"
#include "lamina/serve/message.h"
#include "lamina/serve/model_set.h"
#include "lamina/serve/worker.h"

namespace lamina::serve {

/// What a request was, beside its response.
struct Handled {
  Endpoint endpoint = Endpoint::kOther;
  Response response;
  std::unique_ptr<Job> job;  // where set, the response is the job's, once Worker::Run() answered it
};

class Service {
 public:
  /// `token`: what requests must show (Authorization: Bearer, or the password of Basic); empty: nothing.
  Service(ModelSet& models, std::string token);

  /// Any thread, each with a worker of its own.
  Handled Handle(const Request& request, Worker& worker) const;

  /// From now on the service says that it is not ready.
  void Leave() { leaving_.store(true, std::memory_order_relaxed); }
  bool leaving() const { return leaving_.load(std::memory_order_relaxed); }

  /// Those that Metrics() adds up.
  void AddWorker(const Worker& worker) { workers_.push_back(&worker); }
  const ModelSet& models() const { return models_; }

  /// One row of the first model through all of it, as a request would go: throws Error where it is not answered.
  static void Check(const ModelSet& models);

  /// Counted elsewhere.
  void set_lost_lines(const std::atomic<int64_t>* lost) { lost_lines_ = lost; }

 private:
  struct Route;
  static std::span<const Route> Routes();
  bool Allowed(const Request& request) const;
  Response HealthLive(const Request&, std::span<const std::string>) const;
  Response HealthReady(const Request&, std::span<const std::string>) const;
  Response Metadata(const Request&, std::span<const std::string>) const;
  Response ModelMetadataOf(const Request&, std::span<const std::string>) const;
  Response ModelReady(const Request&, std::span<const std::string>) const;
  Response PageOf(const Request&, std::span<const std::string>) const;
  Response MetricsOf(const Request&, std::span<const std::string>) const;
  Response OpenApiOf(const Request&, std::span<const std::string>) const;
  Response Version(const Request&, std::span<const std::string>) const;
  Handled Ask(const Route& route, const Request& request, std::span<const std::string> parts, Worker& worker) const;
  std::optional<size_t> ModelOf(const Request& request, std::span<const std::string> parts, Response& refusal) const;

  ModelSet& models_;
  std::string token_;
  std::vector<const Worker*> workers_;
  std::atomic<bool> leaving_{false};
  const std::atomic<int64_t>* lost_lines_ = nullptr;
};

}  // namespace lamina::serve
