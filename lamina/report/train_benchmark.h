// Benchmark of the training step: verified against the plain loops in double precision first, then timed.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/activation.h"
#include "lamina/neuron/loss.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// One row of the benchmark: stochastic gradient descent on random data.
struct TrainBenchmarkCase {
  std::vector<int64_t> shape;  // inputs, hidden..., outputs
  int64_t batch = 128;
  std::string backend = "cpu";
  int threads = 0;
  DType dtype = DType::kF32;
  Activation activation{"sigmoid"};  // of every layer, as in the 2016 paper
  double momentum = 0;
  Precision precision = Precision::kExact;

  std::string ShapeText() const;
};

struct TrainBenchmarkResult {
  std::string backend;  // as described by itself
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
  double round_seconds = 0.4;  // at least; and at least one step
};

/// Floating-point operations of one sample's training step.
double TrainFlopsPerSample(const std::vector<int64_t>& shape);

/// The parameters after one step of the plain loops in double precision, from the weights and the random batch that
/// every verification of `work` starts from. Backend, threads and type of `work` do not matter.
std::vector<double> TrainReference(const TrainBenchmarkCase& work);

/// Compares one step by the backend and in the type of `work` with that; fills in the first fields of `result`.
void VerifyTraining(const TrainBenchmarkCase& work, const std::vector<double>& reference, TrainBenchmarkResult& result);

/// Rows of random data are gathered for every step, as in training. Throws Error as building the network would.
TrainBenchmarkResult BenchmarkTraining(const TrainBenchmarkCase& work, const TrainBenchmarkOptions& options);

}  // namespace lamina
