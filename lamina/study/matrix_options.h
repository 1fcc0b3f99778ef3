// What the matrix measures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lamina/neuron/problem.h"
#include "lamina/neuron/weight_storage.h"
#include "lamina/study/matrix_steps.h"

namespace lamina {

struct MatrixOptions {
  std::vector<Problem> layers;             // on backend cpu
  std::vector<std::vector<int64_t>> nets;  // trained
  std::vector<std::vector<int64_t>> rows;  // that answer single rows
  std::vector<int64_t> batches;            // of the training
  std::vector<WeightStorage> weights;      // of the answers
  std::vector<MatrixStep> steps;           // of training, with Adam
  std::string program;                     // lamina, whose start is measured; "": is not
  std::string data;                        // inputs of a data set to train on beside random ones; "": none
  std::string peer_python;                 // races what this Python has (bench/peers/matrix_peers); "": nobody
  int threads = 0;                         // 0: all cores
  int rounds = 5;                          // of which the median counts
  double round_seconds = 0.2;              // at least
  std::function<void(const std::string&)> measured;  // a line about each result; may be empty
  std::function<bool()> stop_requested;              // may be empty

  /// The usual work of training and inference; tests and --quick take less. Forward, input and weight gradients of 1024
  /// neurons on 784 inputs at batches 16 to 1024. L1 layers exact, fast and of bytes. Networks 784-1024-10 and
  /// 784-1024-1024-10; single rows of these and of small networks.
  static MatrixOptions Usual();
  static MatrixOptions Quick();
};

}  // namespace lamina
