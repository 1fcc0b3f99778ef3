// Measures how much synapse arithmetic the processor issues.
#include "lamina/measure/issue_limit.h"

#include <omp.h>

#include <algorithm>

#include "lamina/backend/cpu/register_work.h"
#include "lamina/base/error.h"
#include "lamina/base/timing.h"
#if defined(LAMINA_HAVE_CUDA)
#include "lamina/backend/cuda/limits.h"
#endif

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
  double sink = 0;
  for (int run = 0; run < kIssueRuns; ++run) {
    const Stopwatch watch;
#pragma omp parallel num_threads(threads) reduction(+ : sink)
    sink += work.run(kRounds, 1.5 + omp_get_thread_num());
    best_seconds = std::min(best_seconds, watch.Elapsed_seconds());
  }
  const auto synapses = static_cast<double>(work.synapses_per_round * kRounds * threads);
  // The sum keeps the compiler from dropping the work; it is far from this bound.
  return synapses / best_seconds + (sink > 1e300 ? 1.0 : 0.0);
}

double MeasureFmaPeak_gflops(DType dtype, int threads) {
  return 2e-9 * MeasureSynapseLimit({Synapse::kDot, dtype}, threads);
}

#if defined(LAMINA_HAVE_CUDA)
double MeasureDeviceSynapseLimit(const SynapseKind& kind) {
  cuda::Device device;
  return cuda::MeasureSynapseLimit(device, kind.synapse, kind.dtype, kind.precision);
}

double MeasureDeviceBandwidth() {
  cuda::Device device;
  return cuda::MeasureMemoryBandwidth(device);
}

double MeasureDeviceLibraryProduct_seconds(DType dtype, Precision precision, int64_t batch, int64_t outputs,
                                           int64_t inputs) {
  cuda::Device device;
  return cuda::MeasureLibraryProduct_seconds(device, dtype, precision, batch, outputs, inputs);
}
#else
double MeasureDeviceSynapseLimit(const SynapseKind&) {
  throw Error(ErrorCode::kUnsupported, "this lamina was built without the CUDA toolkit");
}

double MeasureDeviceBandwidth() { return MeasureDeviceSynapseLimit({}); }
double MeasureDeviceLibraryProduct_seconds(DType, Precision, int64_t, int64_t, int64_t) {
  return MeasureDeviceSynapseLimit({});
}
#endif

}  // namespace lamina
