// What the service counts, and how Prometheus reads it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/serve/drift_counts.h"

namespace lamina::serve {

class ServedModel;
struct EncodedRows;

/// What is asked for, as metrics and the log call it.
enum class Endpoint { kInfer, kPredict, kInvocations, kPage, kMetrics, kHealth, kOther };
std::span<const std::string_view> EndpointNames();

/// What one thread counts; any may read it.
class Counters {
 public:
  static constexpr std::array<double, 14> kBounds_seconds = {50e-6, 100e-6, 250e-6, 500e-6, 1e-3,   2.5e-3, 5e-3,
                                                             10e-3, 25e-3,  50e-3,  100e-3, 250e-3, 1,      10};

  explicit Counters(size_t models) : models_(models) {}

  void CountRequest(Endpoint endpoint, int status, double seconds);
  void CountRows(size_t model, const EncodedRows& rows);
  void CountBatch(int64_t jobs);
  DriftCounts* DriftOf(size_t index, const ServedModel& model);

  struct OfModel {
    Count rows;
    Count without_answer;
    Count unseen;
    Count missing;
    Count odd;
    Count far_values;
    // Drift of the model that is served; guarded, as readers meet one that is replaced.
    std::mutex mutex;
    std::shared_ptr<DriftCounts> drift;
    int64_t drift_of = 0;  // version of the model
  };
  struct OfEndpoint {
    std::array<Count, 6> by_status;  // 1xx ... 5xx
    std::array<Count, kBounds_seconds.size() + 1> latency;
    Count nanoseconds;
  };
  OfModel& model(size_t index) { return models_[index]; }
  const OfEndpoint& endpoint(size_t index) const { return endpoints_[index]; }

  Count batches;
  Count batched;  // requests in them
  Count connections;
  Count connections_closed;
  Count refused_connections;
  Count timeouts;

 private:
  std::deque<OfModel> models_;
  std::array<OfEndpoint, 7> endpoints_;
};

}  // namespace lamina::serve
