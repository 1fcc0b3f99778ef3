// Times layers.
#include "lamina/measure/layer_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr double kLongestCall = 2;        // measurements; longer ones are cut
constexpr int64_t kLeastSamples = 16;     // as many as are verified
constexpr int64_t kPilotSamples = 64;     // of the first look at a backend's speed
constexpr double kBenchmarkMatrices = 4;  // sums, activations, distances and deltas, where eq. (4) counts one

double Synapses(const Problem& problem) {
  return static_cast<double>(problem.batch) * static_cast<double>(problem.layer.outputs) *
         static_cast<double>(problem.layer.inputs);
}

std::string SpeedKey(const Problem& problem, const std::string& backend) {
  return fmt::format("{} {} {}", backend, SynapseName(problem.layer.synapse), DTypeName(problem.dtype));
}

Problem WithBatch(Problem problem, int64_t batch) {
  problem.batch = batch;
  return problem;
}

Problem ForwardProblem(const LayerSpec& neuron, int64_t batch, int64_t outputs, int64_t inputs, DType dtype) {
  Problem problem;
  problem.layer = neuron;
  problem.layer.outputs = outputs;
  problem.layer.inputs = inputs;
  problem.batch = batch;
  problem.dtype = dtype;
  return problem;
}

}  // namespace

double LayerMemory_bytes(const Problem& problem) {
  const auto n = static_cast<double>(problem.layer.inputs);
  const auto m = static_cast<double>(problem.layer.outputs);
  const auto samples = static_cast<double>(problem.batch);
  return static_cast<double>(DTypeSize_bytes(problem.dtype)) * (n * m + samples * n + samples * m);
}

Problem RbfProblem(int64_t batch, int64_t outputs, int64_t inputs, DType dtype) {
  // The mean of |x - w| is 2/3 for both in [-1, 1).
  const double radius = 2.0 / 3.0 * static_cast<double>(inputs) / formulas::Triangle::kWidth;
  return ForwardProblem(ParseNeuron(fmt::format("rbf(radius={:.4g})", radius)), batch, outputs, inputs, dtype);
}

Problem MulProblem(int64_t batch, int64_t outputs, int64_t inputs, DType dtype) {
  return ForwardProblem(ParseNeuron("mul-nobias"), batch, outputs, inputs, dtype);
}

bool LayerTimer::AllVerified() const {
  return std::all_of(timed_.begin(), timed_.end(),
                     [](const auto& entry) { return !entry.second.done() || entry.second.verified; });
}

const TimedLayer& LayerTimer::Time(const Problem& problem, const std::string& backend) {
  const std::string key = backend + " " + problem.Text();
  if (const auto found = timed_.find(key); found != timed_.end()) {
    return found->second;
  }
  interrupted_ = interrupted_ || (options_.stop_requested && options_.stop_requested());
  TimedLayer result;
  try {
    if (interrupted_) {
      result.reason = "interrupted";
    } else {
      result = Measure(problem, backend);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported && error.code() != ErrorCode::kResource) {
      throw;
    }
    result.reason = error.message();
  } catch (const std::bad_alloc&) {
    result.reason = "not enough memory";
  }
  result.problem = problem;
  result.backend = backend;
  if (options_.timed && !interrupted_) {
    options_.timed(result);
  }
  return timed_.emplace(key, std::move(result)).first->second;
}

void LayerTimer::Learn(const Problem& problem, const std::string& backend, double t_syn_ns) {
  // The best one: what small calls cost beside their synapses says nothing about large ones.
  double& known = t_syn_ns_.try_emplace(SpeedKey(problem, backend), t_syn_ns).first->second;
  known = std::min(known, t_syn_ns);
}

// So many samples that a call is not longer than a measurement should be.
int64_t LayerTimer::SamplesFor(const Problem& problem, const std::string& backend) {
  if (!t_syn_ns_.contains(SpeedKey(problem, backend))) {
    Problem pilot = problem;
    pilot.batch = std::min(problem.batch, kPilotSamples);
    pilot.layer.outputs = std::min<int64_t>(problem.layer.outputs, 256);
    pilot.layer.inputs = std::min<int64_t>(problem.layer.inputs, 1024);
    Learn(pilot, backend,
          options_.measure(pilot, {.backend = backend, .threads = options_.threads, .rounds = 1, .round_seconds = 0})
              .t_syn_ns);
  }
  const double call_seconds = 1e-9 * t_syn_ns_.at(SpeedKey(problem, backend)) * Synapses(problem);
  if (call_seconds <= kLongestCall * options_.seconds) {
    return problem.batch;
  }
  const double share = 0.25 * options_.seconds / call_seconds;
  const auto samples = static_cast<int64_t>(share * static_cast<double>(problem.batch)) / kLeastSamples * kLeastSamples;
  return std::clamp(samples, std::min(kLeastSamples, problem.batch), problem.batch);
}

// A slice that turns out faster than foreseen is made larger: few samples say little about many.
TimedLayer LayerTimer::Measure(const Problem& problem, const std::string& backend) {
  constexpr int kTries = 4;
  TimedLayer result = MeasureSlice(problem, backend, SamplesFor(problem, backend));
  for (int i = 1; i < kTries && result.estimated() && result.verified; ++i) {
    const int64_t samples = SamplesFor(problem, backend);
    if (samples < std::min(problem.batch, 2 * result.timed_samples)) {
      break;
    }
    result = MeasureSlice(problem, backend, samples);
  }
  return result;
}

TimedLayer LayerTimer::MeasureSlice(const Problem& problem, const std::string& backend, int64_t samples) {
  TimedLayer result;
  result.problem = problem;
  result.timed_samples = samples;
  const Problem timed = WithBatch(problem, result.timed_samples);
  const double needed_bytes = kBenchmarkMatrices * LayerMemory_bytes(timed);
  if (const int64_t usable = QueryHardware().UsableMemory_bytes();
      usable > 0 && needed_bytes > static_cast<double>(usable)) {
    result.reason = fmt::format("measuring it needs {}, {} are free", BytesText(static_cast<int64_t>(needed_bytes)),
                                BytesText(usable));
    return result;
  }
  const LayerBenchmarkResult measured = options_.measure(timed, {.backend = backend,
                                                                 .threads = options_.threads,
                                                                 .rounds = options_.rounds,
                                                                 .round_seconds = options_.seconds / options_.rounds});
  result.seconds = measured.median_seconds * static_cast<double>(problem.batch) /
                   static_cast<double>(std::max<int64_t>(1, result.timed_samples));
  result.t_syn_ns = 1e9 * result.seconds / Synapses(problem);
  result.verified = measured.verified;
  result.largest_error = measured.largest_error;
  result.error_bound = measured.error_bound;
  result.plan = measured.plan;
  result.threads = measured.threads;
  Learn(problem, backend, result.t_syn_ns);
  return result;
}

}  // namespace lamina
