// How fast symmetric positive systems of kernel machines are factorized, beside the limit of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

struct FactorBenchmarkCase {
  int64_t rows = 0;
  DType dtype = DType::kF64;  // or kF32
  bool inverse = false;       // L^-1, too: twice the operations
  int threads = 1;
};

struct FactorBenchmarkResult {
  int rounds = 0;
  double least_seconds = 0;
  double median_seconds = 0;
  double gflops = 0;         // of the least: rows^3 / 3 operations, 2/3 with the inverse
  double largest_error = 0;  // of random elements of L L', beside those of the matrix
  bool verified = false;
};

/// The kernel of random rows (exp(-distance), a ridge of 0.1), factorized `rounds` times. What it takes is the matrix:
/// rows^2 / 2 numbers, twice with the inverse. `stop_requested` is asked between rounds. Throws Error where memory is
/// short.
FactorBenchmarkResult BenchmarkFactor(const FactorBenchmarkCase& work, int rounds,
                                      const std::function<bool()>& stop_requested);

}  // namespace lamina
