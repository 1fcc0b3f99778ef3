// Times many layers within a bounded time: each verified, each measured once, slow ones on a slice of their samples.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lamina/measure/layer_benchmark.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// A timed forward pass, or why there is none.
struct TimedLayer {
  Problem problem;
  std::string backend;
  std::string reason;         // empty: it was timed
  double seconds = 0;         // of the whole problem
  double t_syn_ns = 0;        // seconds / (batch × outputs × inputs), 2017 paper, section IV
  int64_t timed_samples = 0;  // fewer than the batch: `seconds` is estimated from those
  bool verified = false;
  double largest_error = 0;  // relative, against the plain loops in double precision
  double error_bound = 0;
  std::string plan;
  int threads = 0;

  bool done() const { return reason.empty(); }
  bool estimated() const { return done() && timed_samples < problem.batch; }
};

struct LayerTimerOptions {
  int threads = 0;
  /// Least length of a measurement; a call that would take twice as long is cut to samples for a quarter of it.
  double seconds = 0.3;
  int rounds = 3;
  std::function<void(const TimedLayer&)> timed;  // progress; may be empty
  std::function<bool()> stop_requested;          // true: whatever is not timed yet has the reason "interrupted"
  /// What measures; tests put a wrong result in its place.
  std::function<LayerBenchmarkResult(const Problem&, const LayerBenchmarkOptions&)> measure = BenchmarkLayer;
};

class LayerTimer {
 public:
  explicit LayerTimer(LayerTimerOptions options) : options_(std::move(options)) {}

  /// A problem that the backend cannot do, or that is too large for the memory, comes back with the reason. The
  /// reference stays valid.
  const TimedLayer& Time(const Problem& problem, const std::string& backend);

  /// Everything timed so far, by backend and problem.
  const std::map<std::string, TimedLayer>& all() const { return timed_; }
  bool AllVerified() const;
  bool interrupted() const { return interrupted_; }

 private:
  TimedLayer Measure(const Problem& problem, const std::string& backend);
  TimedLayer MeasureSlice(const Problem& problem, const std::string& backend, int64_t samples);
  void Learn(const Problem& problem, const std::string& backend, double t_syn_ns);
  int64_t SamplesFor(const Problem& problem, const std::string& backend);

  LayerTimerOptions options_;
  std::map<std::string, TimedLayer> timed_;
  std::map<std::string, double> t_syn_ns_;  // the best one of a backend, synapse and type
  bool interrupted_ = false;
};

/// 2017 paper, eq. (4), for elements of any type: weights, samples and outputs of a layer.
double LayerMemory_bytes(const Problem& problem);

/// The paper's neurons on `inputs` features in [-1, 1), as the benchmarks draw them. The triangle ends at the mean
/// distance, so that half of the outputs are not 0.
Problem RbfProblem(int64_t batch, int64_t outputs, int64_t inputs, DType dtype);
Problem MulProblem(int64_t batch, int64_t outputs, int64_t inputs, DType dtype);

}  // namespace lamina
