// Counting requests and rows.
#include "lamina/serve/counters.h"

#include <algorithm>

#include "lamina/serve/served_model.h"

namespace lamina::serve {

std::span<const std::string_view> EndpointNames() {
  static constexpr std::string_view kNames[] = {"infer",   "predict", "invocations", "page",
                                                "metrics", "health",  "other"};
  return kNames;
}

void Counters::CountRequest(Endpoint endpoint, int status, double seconds) {
  OfEndpoint& counts = endpoints_[static_cast<size_t>(endpoint)];
  counts.by_status[static_cast<size_t>(std::clamp(status / 100, 1, 5))].Add();
  const auto bound = std::lower_bound(kBounds_seconds.begin(), kBounds_seconds.end(), seconds);
  counts.latency[static_cast<size_t>(bound - kBounds_seconds.begin())].Add();
  counts.nanoseconds.Add(static_cast<int64_t>(seconds * 1e9));
}

void Counters::CountRows(size_t model, const EncodedRows& rows) {
  OfModel& counts = models_[model];
  counts.rows.Add(rows.asked);
  counts.without_answer.Add(rows.left_out.rows);
  counts.unseen.Add(rows.report.unseen_values);
  counts.missing.Add(rows.report.filled_values + rows.left_out.rows);
  counts.odd.Add(rows.report.odd_values);
  counts.far_values.Add(rows.report.far_values);
}

void Counters::CountBatch(int64_t jobs) {
  batches.Add();
  batched.Add(jobs);
}

DriftCounts* Counters::DriftOf(size_t index, const ServedModel& model) {
  OfModel& counts = models_[index];
  if (counts.drift_of != model.version()) {  // this thread alone writes
    auto fresh = std::make_shared<DriftCounts>(model.model().profile);
    const std::scoped_lock lock(counts.mutex);
    counts.drift = std::move(fresh);
    counts.drift_of = model.version();
  }
  return counts.drift.get();
}

}  // namespace lamina::serve
