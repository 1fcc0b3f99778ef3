// Training steps of the matrix that others name: small networks in large batches, wide ones, and those of the recipe
// for tables.
#pragma once

#include <string>
#include <vector>

#include "lamina/measure/train_case.h"

namespace lamina {

struct MatrixStep {
  std::string name;  // "SimpleChains A"
  TrainBenchmarkCase work;
  bool raced = false;  // other libraries have such a step, too
};

/// SimpleChains' networks A (f32) and B (f64), and OpenNN's for HIGGS in two batches. Also the recipe's step for the
/// shapes of three tables. All use Adam. `quick`: the smallest of them.
std::vector<MatrixStep> MatrixSteps(bool quick);

/// What a peer is asked for (bench/peers/matrix_peers).
std::string PeerStep(const TrainBenchmarkCase& work);

}  // namespace lamina
