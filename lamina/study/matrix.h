// What this machine does with the work that people have: layers, training steps and single answers, each verified, one
// table a kind, beside the machine's measured limits and the peers that are installed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lamina/model/predictor.h"
#include "lamina/neuron/problem.h"
#include "lamina/report/report_writer.h"

namespace lamina {

struct MatrixOptions {
  std::vector<Problem> layers;             // on backend cpu
  std::vector<std::vector<int64_t>> nets;  // trained; the first one answers rows, too
  std::vector<int64_t> batches;            // of the training
  std::vector<WeightStorage> weights;      // of the answers
  std::string data;                        // inputs of a data set to train on beside random ones; "": none
  std::string peer_python;                 // races what this Python has (bench/peers/matrix_peers); "": nobody
  int threads = 0;                         // 0: all cores
  int rounds = 5;                          // of which the median counts
  double round_seconds = 0.2;              // at least
  std::function<void(const std::string&)> measured;  // a line about each result; may be empty
  std::function<bool()> stop_requested;              // may be empty

  /// The usual work of training and inference (tests and --quick take less): forward, input and weight gradients of
  /// 1024 neurons on 784 inputs at batches 16 to 1024, L1 layers exact, fast and of bytes, 784-1024-10 and
  /// 784-1024-1024-10.
  static MatrixOptions Usual();
  static MatrixOptions Quick();
};

struct MatrixResult {
  Report report;
  bool all_verified = false;
  bool interrupted = false;  // the report has gaps
};

/// Every result on one thread and on all, beside each other, so that a machine whose speed changes tells the same
/// ratios. Throws Error where the data cannot be read.
MatrixResult MeasureMatrix(const MatrixOptions& options);

}  // namespace lamina
