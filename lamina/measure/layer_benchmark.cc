// Verifies and times one pass of one layer.
#include "lamina/measure/layer_benchmark.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/tune/pass_run.h"

namespace lamina {

LayerBenchmarkResult BenchmarkLayer(const Problem& problem, const LayerBenchmarkOptions& options) {
  const std::unique_ptr<Backend> backend =
      MakeBackend(options.backend, {.threads = options.threads, .kernel = options.kernel, .plans = options.plans});
  if (const Verdict verdict = backend->Supports(problem); !verdict) {
    throw Error(ErrorCode::kUnsupported, verdict.reason, {.value = problem.Text()});
  }
  PassRun run(problem, *backend);
  LayerBenchmarkResult result;
  result.backend = backend->name();
  result.plan = run.Describe();
  result.threads = backend->threads();
  result.rounds = options.rounds;
  const PassVerdict verdict = run.Verify();
  result.largest_error = verdict.largest_error;
  result.error_bound = verdict.error_bound;
  result.verified = verdict.verified;
  std::vector<double> seconds;
  for (int round = 0; round < options.rounds; ++round) {
    seconds.push_back(run.SecondsPerCall(options.round_seconds));
  }
  std::sort(seconds.begin(), seconds.end());
  result.median_seconds = seconds[seconds.size() / 2];
  result.least_seconds = seconds.front();
  result.most_seconds = seconds.back();
  const double synapses = static_cast<double>(problem.batch) * static_cast<double>(problem.layer.outputs) *
                          static_cast<double>(problem.layer.inputs);
  result.synapses_per_second = synapses / result.median_seconds;
  result.t_syn_ns = 1e9 / result.synapses_per_second;
  return result;
}

}  // namespace lamina
