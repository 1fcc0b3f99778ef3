// Benchmark of one pass of one layer: verified against the plain loops in double precision first, then timed.
#pragma once

#include <memory>
#include <string>

#include "lamina/backend/plan.h"
#include "lamina/neuron/problem.h"

namespace lamina {

struct LayerBenchmarkOptions {
  std::string backend = "auto";
  int threads = 0;
  int rounds = 7;
  double round_seconds = 0.1;  // at least; and at least one call
  std::shared_ptr<const PlanSource> plans;
  std::string kernel = "auto";  // BackendOptions::kernel
};

struct LayerBenchmarkResult {
  std::string backend;  // name
  std::string plan;     // as the prepared layer describes itself
  int threads = 0;
  double largest_error = 0;  // relative to the largest value of the result
  double error_bound = 0;
  bool verified = false;
  double median_seconds = 0;  // a call
  double least_seconds = 0;
  double most_seconds = 0;
  double synapses_per_second = 0;
  double t_syn_ns = 0;  // time of one synapse, the 2017 paper's measure
  int rounds = 0;
};

/// On the operands of PassRun, verified by it. Throws Error as preparing the layer would.
LayerBenchmarkResult BenchmarkLayer(const Problem& problem, const LayerBenchmarkOptions& options);

}  // namespace lamina
