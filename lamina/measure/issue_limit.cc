// Measures how much synapse arithmetic the processor issues.
#include "lamina/measure/issue_limit.h"

#include <algorithm>
#include <atomic>

#include "lamina/backend/cpu/register_work.h"
#include "lamina/backend/cuda_functions.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

constexpr int64_t kRounds = 1'500'000;
constexpr int kIssueRuns = 8;
// Small enough for every integer sum, as the benchmarks draw them.
constexpr double kLargest = 200;

}  // namespace

double MeasureSynapseLimit(const SynapseKind& kind, int threads) {
  LayerPlanRequest request;
  request.layer.synapse = kind.synapse;
  request.layer.inputs = 1;
  request.dtype = kind.dtype;
  request.precision = kind.precision;
  request.largest_x = request.largest_w = kLargest;
  const cpu::RegisterWork work = cpu::RegisterWorkOf(request);
  double best_seconds = 1e30;
  std::atomic<double> sink = 0;
  for (int run = 0; run < kIssueRuns; ++run) {
    const Stopwatch watch;
    RunParts(threads, threads, [&](int64_t begin, int64_t end) {
      for (int64_t thread = begin; thread < end; ++thread) {  // more than one where the team is smaller
        sink += work.run(kRounds, 1.5 + static_cast<double>(thread));
      }
    });
    best_seconds = std::min(best_seconds, watch.Elapsed_seconds());
  }
  const auto synapses = static_cast<double>(work.synapses_per_round * kRounds * threads);
  // The sum keeps the compiler from dropping the work; it is far from this bound.
  return synapses / best_seconds + (sink > 1e300 ? 1.0 : 0.0);
}

double MeasureFmaPeak_gflops(DType dtype, int threads) {
  return 2e-9 * MeasureSynapseLimit({Synapse::kDot, dtype}, threads);
}

double MeasureDeviceSynapseLimit(const SynapseKind& kind) {
  return RequireCuda().synapse_limit(kind.synapse, kind.dtype, kind.precision);
}

double MeasureDeviceBandwidth() { return RequireCuda().bandwidth(); }

double MeasureDeviceLibraryProduct_seconds(DType dtype, Precision precision, int64_t batch, int64_t outputs,
                                           int64_t inputs) {
  return RequireCuda().library_product_seconds(dtype, precision, batch, outputs, inputs);
}

}  // namespace lamina
