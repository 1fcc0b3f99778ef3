// Verifies and times training steps.
#include "lamina/report/train_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lamina/backend/backends.h"
#include "lamina/base/buffer.h"
#include "lamina/base/random.h"
#include "lamina/base/timing.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/network.h"
#include "lamina/tune/pass_run.h"

namespace lamina {
namespace {

constexpr int64_t kRows = 60'000;
constexpr double kLearningRate = 0.1;

// Random inputs in [0, 1), one-hot targets. Two types hold the same values (f32 rounded first).
struct RandomData {
  RandomData(const std::vector<int64_t>& shape, int64_t rows, DType dtype, uint64_t seed)
      : x(rows, shape.front(), dtype), y(rows, shape.back(), dtype) {
    Random random(seed);
    DispatchFloat(dtype, [&]<class T>(T) {
      for (int64_t i = 0; i < rows; ++i) {
        T* row = x.Row<T>(i);
        for (int64_t k = 0; k < x.cols(); ++k) {
          row[k] = static_cast<T>(static_cast<float>(random.Uniform()));
        }
        y.Row<T>(i)[random.Below(static_cast<uint64_t>(y.cols()))] = T(1);
      }
    });
  }
  Matrix x;
  Matrix y;
};

Network MakeNetwork(const TrainBenchmarkCase& work, DType dtype) {
  std::vector<LayerSpec> layers;
  for (size_t l = 0; l + 1 < work.shape.size(); ++l) {
    layers.push_back({work.shape[l], work.shape[l + 1], Synapse::kDot, work.activation, true});
  }
  Network network(layers, dtype);
  network.Initialize(Initialization::kGlorotUniform, 1);
  return network;
}

UpdateRule RuleOf(const TrainBenchmarkCase& work) {
  UpdateRule rule;
  rule.learning_rate = kLearningRate;
  rule.momentum = work.momentum;
  return rule;
}

// The parameters as doubles, without the gaps between arrays.
std::vector<double> ValuesOf(const Network& network) {
  std::vector<double> values;
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    for (size_t l = 0; l < network.layers().size(); ++l) {
      const T* w = network.Weights(l).Row<T>(0);
      values.insert(values.end(), w, w + network.layers()[l].weight_count());
      const T* bias = static_cast<const T*>(network.Bias(l));
      values.insert(values.end(), bias, bias + network.layers()[l].outputs);
    }
  });
  return values;
}

// The parameters after one step from the same start.
std::vector<double> AfterOneStep(const TrainBenchmarkCase& work, const std::string& backend_name, DType dtype,
                                 Precision precision) {
  const std::unique_ptr<Backend> backend = MakeBackend(backend_name, {.threads = work.threads});
  Network network = MakeNetwork(work, DType::kF32);
  Network cast = MakeNetwork(work, dtype);
  if (dtype == DType::kF64) {  // the f32 start, exactly
    for (size_t l = 0; l < network.layers().size(); ++l) {
      std::copy_n(network.Weights(l).Row<float>(0), network.layers()[l].weight_count(), cast.Weights(l).Row<double>(0));
    }
  }
  const UpdateRule rule = RuleOf(work);
  ExecutorOptions plan;
  plan.max_batch = work.batch;
  plan.training = true;
  plan.state_count = rule.StateCount();
  plan.precision = precision;
  Executor executor(cast, *backend, plan);
  const RandomData data(work.shape, work.batch, dtype, 2);
  LossSums sums;
  executor.Step(data.x.view(), data.y.view(), nullptr, &rule, &sums);
  executor.StoreParameters(cast);
  return ValuesOf(cast);
}

void Time(const TrainBenchmarkCase& work, const TrainBenchmarkOptions& options, TrainBenchmarkResult& result) {
  const std::unique_ptr<Backend> backend = MakeBackend(work.backend, {.threads = work.threads});
  result.backend = backend->Describe();
  result.threads = backend->threads();
  const UpdateRule rule = RuleOf(work);
  ExecutorOptions plan;
  plan.max_batch = work.batch;
  plan.training = true;
  plan.state_count = rule.StateCount();
  plan.precision = work.precision;
  Executor executor(MakeNetwork(work, work.dtype), *backend, plan);
  const RandomData data(work.shape, kRows, work.dtype, 3);
  std::vector<int64_t> order(static_cast<size_t>(kRows));
  for (int64_t i = 0; i < kRows; ++i) {
    order[static_cast<size_t>(i)] = i;
  }
  Random(4).Shuffle(std::span(order));
  LossSums sums;
  TrainingSteps run;
  run.x = data.x.view();
  run.targets = data.y.view();
  run.order = order.data();
  run.batch = work.batch;
  run.rule = rule;
  run.sums = &sums;
  const int64_t most = kRows / work.batch;  // whole minibatches of the data
  int64_t at = 0;
  const auto steps = [&](int64_t count) {
    at = at + count > most ? 0 : at;
    run.begin = at * work.batch;
    run.end = run.begin + count * work.batch;
    at += count;
    if (executor.Steps(run) != count) {
      throw Error(ErrorCode::kDiverged, "the benchmark's training diverged", {.value = work.ShapeText()});
    }
  };
  steps(1);  // first touch of all buffers
  std::vector<double> seconds;
  int64_t chunk = 1;  // as long as the trainer's
  for (int round = 0; round < options.rounds; ++round) {
    const Stopwatch watch;
    int64_t done = 0;
    double before = 0;
    while (done == 0 || watch.Elapsed_seconds() < options.round_seconds) {
      steps(chunk);
      done += chunk;
      const double now = watch.Elapsed_seconds();
      chunk = now - before < 0.01 ? std::min(2 * chunk, most) : chunk;
      before = now;
    }
    seconds.push_back(watch.Elapsed_seconds() * kRows / static_cast<double>(done * work.batch));
  }
  std::sort(seconds.begin(), seconds.end());
  result.rounds = options.rounds;
  result.median_seconds = seconds[seconds.size() / 2];
  result.least_seconds = seconds.front();
  result.most_seconds = seconds.back();
  result.samples_per_second = kRows / result.median_seconds;
  result.gflops = TrainFlopsPerSample(work.shape) * result.samples_per_second * 1e-9;
}

}  // namespace

std::string TrainBenchmarkCase::ShapeText() const { return fmt::format("{}", fmt::join(shape, "-")); }

double TrainFlopsPerSample(const std::vector<int64_t>& shape) {
  double flops = 0;
  for (size_t l = 0; l + 1 < shape.size(); ++l) {
    flops += (l == 0 ? 4.0 : 6.0) * static_cast<double>(shape[l] * shape[l + 1]);
  }
  return flops;
}

std::vector<double> TrainReference(const TrainBenchmarkCase& work) {
  return AfterOneStep(work, "serial", DType::kF64, Precision::kExact);
}

// The rounding of n-term sums in the type at hand, against the largest parameter.
void VerifyTraining(const TrainBenchmarkCase& work, const std::vector<double>& reference,
                    TrainBenchmarkResult& result) {
  std::vector<double> got = AfterOneStep(work, work.backend, work.dtype, work.precision);
  if (work.precision != Precision::kExact) {
    // A gradient of rounded operands: within some roundings of 1/512 of the largest.
    const std::vector<double> start = ValuesOf(MakeNetwork(work, DType::kF32));
    std::vector<double> expected = reference;
    for (size_t i = 0; i < start.size(); ++i) {
      expected[i] -= start[i];
      got[i] -= start[i];
    }
    result.largest_error = LargestRelativeError(expected, got);
    result.error_bound = 1.0 / 64;
  } else {
    result.largest_error = LargestRelativeError(reference, got);
    const double epsilon =
        work.dtype == DType::kF64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    const auto widest = static_cast<double>(*std::max_element(work.shape.begin(), work.shape.end()));
    result.error_bound = 4.0 * std::sqrt(widest) * epsilon;
  }
  result.verified = result.largest_error <= result.error_bound;  // false for NaN
}

TrainBenchmarkResult BenchmarkTraining(const TrainBenchmarkCase& work, const TrainBenchmarkOptions& options) {
  TrainBenchmarkResult result;
  VerifyTraining(work, TrainReference(work), result);
  Time(work, options, result);
  return result;
}

}  // namespace lamina
