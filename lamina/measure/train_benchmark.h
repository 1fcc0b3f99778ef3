// Benchmark of the training step: verified against the plain loops in double precision first, then timed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lamina/measure/train_case.h"

namespace lamina {

struct TrainBenchmarkResult {
  std::string backend;  // as described by itself
  bool on_device = false;
  int threads = 0;
  double largest_error = 0;  // of a parameter after one step, relative to the largest parameter (bf16: of its change,
                             // to the largest change); verified below `error_bound`
  double error_bound = 0;
  bool verified = false;
  double median_seconds = 0;  // per 60,000 samples
  double least_seconds = 0;
  double most_seconds = 0;
  double samples_per_second = 0;
  double gflops = 0;  // 4 w for the first layer, 6 w for the others, per sample, w its weights
  int rounds = 0;
};

struct TrainBenchmarkOptions {
  int rounds = 5;
  double round_seconds = 0.4;            // at least; and at least one step
  std::function<bool()> stop_requested;  // true: no further round
};

/// The parameters after one step of the plain loops in double precision. It starts from the weights and the random
/// batch of every verification of `work` (the first rows of work.inputs, where there are such). Backend, threads and
/// type of `work` do not matter.
std::vector<double> TrainReference(const TrainBenchmarkCase& work);

/// Compares one step by the backend and in the type of `work` with that; fills in the first fields of `result`.
void VerifyTraining(const TrainBenchmarkCase& work, const std::vector<double>& reference, TrainBenchmarkResult& result);

/// Rows of random data, or of work.inputs, are gathered for every step, as in training. Throws Error as TrainTimer
/// does, before it computes.
TrainBenchmarkResult BenchmarkTraining(const TrainBenchmarkCase& work, const TrainBenchmarkOptions& options);

}  // namespace lamina
