// Benchmark of single answers: verified against the plain loops in double precision first, then every call timed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/activation.h"
#include "lamina/neuron/weight_storage.h"

namespace lamina {

struct PredictBenchmarkCase {
  std::vector<int64_t> shape;  // inputs, hidden..., outputs
  DType dtype = DType::kF32;
  Activation activation{"sigmoid"};  // of every layer
  int threads = 1;                   // that ask at the same time
  WeightStorage weights = WeightStorage::kExact;
  double zeros = 0;      // the share of the random inputs that are zero
  int64_t together = 1;  // rows of a call

  std::string ShapeText() const;
};

struct PredictBenchmarkResult {
  double largest_error = 0;  // of an output, relative to the largest output
  double error_bound = 0;
  bool verified = false;
  double median_seconds = 0;  // of a call on one thread
  double p99_seconds = 0;
  double least_seconds = 0;
  double rows_per_second = 0;  // of all threads
  int64_t calls = 0;
};

struct PredictBenchmarkOptions {
  double seconds = 1;                    // of measuring
  int64_t warm_calls = 200;              // before, by each thread
  ConstMatrixView rows;                  // rows × inputs to ask, of any type; empty: random ones
  std::function<bool()> stop_requested;  // true: measuring ends before its time
};

/// Rows of data through Predictor (model/predictor.h). Throws Error as building the network would. Rows of another
/// width, or fewer than those of a call (1 to kMostRowsTogether), are kInvalidArgument.
PredictBenchmarkResult BenchmarkPrediction(const PredictBenchmarkCase& work, const PredictBenchmarkOptions& options);

}  // namespace lamina
