// What a benchmark of training trains: one network by stochastic gradient descent, on one backend.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/neuron/activation.h"
#include "lamina/neuron/problem.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Rows that the benchmarks train on, and whose seconds they report.
inline constexpr int64_t kBenchmarkRows = 60'000;

struct TrainBenchmarkCase {
  std::vector<int64_t> shape;  // inputs, hidden..., outputs
  int64_t batch = 128;
  std::string backend = "cpu";
  int threads = 0;
  DType dtype = DType::kF32;
  Activation activation{"sigmoid"};  // of every layer, as in the 2016 paper
  std::optional<Activation> output;  // of the last layer, where it is another one
  double momentum = 0;
  UpdateKind update = UpdateKind::kSgd;  // what is timed; steps are verified by sgd, which shows the gradient
  StepOptions step;
  Precision precision = Precision::kExact;
  std::string kernel = "auto";  // BackendOptions::kernel
  /// Rows to train on, over and over (f32, rows × shape.front()); null: random numbers in [0, 1).
  std::shared_ptr<const Matrix> inputs;

  std::string ShapeText() const;
  /// Dot layers with bias and Glorot weights of a fixed seed, in `type`.
  Network MakeNetwork(DType type) const;
  UpdateRule Rule(double learning_rate) const;
  ExecutorOptions Plan() const;
  /// `backend`; for "auto" the one that training this takes.
  std::unique_ptr<Backend> MakeBackend() const;
};

/// The inputs of the rows that `lamina train --data FILE` would train on, encoded as it does by default. Throws Error.
std::shared_ptr<const Matrix> BenchmarkInputs(const std::string& data);

/// Throws Error(kInvalidArgument) where the inputs of `work` are not as many as those of its network.
void CheckInputs(const TrainBenchmarkCase& work);

/// Full minibatches of `rows` rows. Throws Error(kInvalidArgument) where there is none.
int64_t WholeSteps(const TrainBenchmarkCase& work, int64_t rows);

/// Floating-point operations of one sample's training step.
double TrainFlopsPerSample(const std::vector<int64_t>& shape);

}  // namespace lamina
