// Verifies and times training steps.
#include "lamina/measure/train_benchmark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "lamina/backend/backends.h"
#include "lamina/backend/training_steps.h"
#include "lamina/base/random.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/measure/train_timer.h"
#include "lamina/train/resident_dataset.h"
#include "lamina/tune/pass_run.h"

namespace lamina {
namespace {

constexpr double kVerifiedRate = 0.1;
constexpr const char* kLayersOnDevice = "large";  // the kernel of backend cuda that every layer can have
constexpr int64_t kRecordedSteps = 18;            // the first by itself, sixteen together, one

// The inputs of `work`, or random ones in [0, 1); one-hot targets. Two types hold the same values (f32 rounded first).
Dataset RowsOf(const TrainBenchmarkCase& work, int64_t rows, DType dtype, uint64_t seed) {
  const int64_t inputs = work.shape.front();
  Dataset data;
  data.features = Matrix(rows, inputs, dtype);
  data.targets = Matrix(rows, work.shape.back(), dtype);
  Random random(seed);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      if (work.inputs != nullptr) {
        std::copy_n(work.inputs->Row<float>(i % work.inputs->rows()), inputs, data.features.Row<T>(i));
      } else {
        std::generate_n(data.features.Row<T>(i), inputs,
                        [&] { return static_cast<T>(static_cast<float>(random.Uniform())); });
      }
      data.targets.Row<T>(i)[random.Below(static_cast<uint64_t>(work.shape.back()))] = T(1);
    }
  });
  return data;
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

// The parameters after `steps` steps from the same start. `ordered`: with the rows' order given, as training does and
// benchmarks time them; a device then records steps.
std::vector<double> AfterSteps(const TrainBenchmarkCase& work, int64_t steps, bool ordered) {
  const DType dtype = work.dtype;
  const std::unique_ptr<Backend> backend = work.MakeBackend();
  Network network = work.MakeNetwork(DType::kF32);
  Network cast = work.MakeNetwork(dtype);
  if (dtype == DType::kF64) {  // the f32 start, exactly
    for (size_t l = 0; l < network.layers().size(); ++l) {
      std::copy_n(network.Weights(l).Row<float>(0), network.layers()[l].weight_count(), cast.Weights(l).Row<double>(0));
    }
  }
  Executor executor(cast, *backend, work.Plan());
  const Dataset rows = RowsOf(work, steps * work.batch, dtype, 2);
  const ResidentDataset data(rows, *backend);
  const std::unique_ptr<Buffer> sums = backend->Allocate(sizeof(LossSums));
  TrainingSteps step;
  step.x = data.features();
  step.targets = data.targets();
  step.batch = work.batch;
  step.end = rows.size();
  step.rule = work.Rule(kVerifiedRate);
  step.sums = static_cast<LossSums*>(sums->data());
  std::unique_ptr<Buffer> order;
  if (ordered) {
    std::vector<int64_t> as_stored(static_cast<size_t>(rows.size()));
    std::iota(as_stored.begin(), as_stored.end(), int64_t{0});
    const auto order_bytes = rows.size() * static_cast<int64_t>(sizeof(int64_t));
    order = backend->Allocate(order_bytes);
    backend->Upload(order->data(), as_stored.data(), order_bytes);
    step.order = static_cast<const int64_t*>(order->data());
  }
  executor.Steps(step);
  executor.StoreParameters(cast);
  return ValuesOf(cast);
}

void Time(const TrainBenchmarkCase& work, const TrainBenchmarkOptions& options, TrainBenchmarkResult& result) {
  const Dataset data = RowsOf(work, kBenchmarkRows, work.dtype, 3);
  TrainTimer timer(work, data);
  for (int round = 0; round < options.rounds; ++round) {
    timer.Round(options.round_seconds);
    if (options.stop_requested && options.stop_requested()) {
      break;
    }
  }
  result.backend = timer.backend().Describe();
  result.threads = timer.backend().threads();
  result.on_device = timer.backend().space() == Space::kDevice;
  result.rounds = options.rounds;
  result.median_seconds = timer.Seconds(kBenchmarkRows);
  result.least_seconds = timer.Seconds(kBenchmarkRows, 0);
  result.most_seconds = timer.Seconds(kBenchmarkRows, 1);
  result.samples_per_second = kBenchmarkRows / result.median_seconds;
  result.gflops = TrainFlopsPerSample(work.shape) * result.samples_per_second * 1e-9;
}

}  // namespace

std::vector<double> TrainReference(const TrainBenchmarkCase& work) {
  TrainBenchmarkCase plain = work;
  plain.backend = "serial";
  plain.update = UpdateKind::kSgd;
  plain.dtype = DType::kF64;
  plain.precision = Precision::kExact;
  return AfterSteps(plain, 1, /*ordered=*/false);
}

// The rounding of n-term sums in the type at hand, against the largest parameter.
void VerifyTraining(const TrainBenchmarkCase& timed, const std::vector<double>& reference,
                    TrainBenchmarkResult& result) {
  TrainBenchmarkCase work = timed;
  work.update = UpdateKind::kSgd;
  std::vector<double> got = AfterSteps(work, 1, /*ordered=*/false);
  if (LosesDigits(work.precision)) {
    // A gradient of rounded operands: within some roundings of 1/512 of the largest.
    const std::vector<double> start = ValuesOf(work.MakeNetwork(DType::kF32));
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
  if (result.verified && work.MakeBackend()->space() == Space::kDevice) {
    // What is timed there are steps that were recorded: one by one they give the same.
    const std::vector<double> recorded = AfterSteps(work, kRecordedSteps, /*ordered=*/true);
    const auto same_as = [&](const std::vector<double>& others) {
      return LargestRelativeError(others, recorded) <= kRecordedSteps * result.error_bound;
    };
    result.verified = same_as(AfterSteps(work, kRecordedSteps, /*ordered=*/false));
    if (result.verified && work.kernel == "auto" &&
        !LosesDigits(work.precision)) {  // all of them in one kernel, perhaps: beside layer by layer
      TrainBenchmarkCase by_layers = work;
      by_layers.kernel = kLayersOnDevice;
      result.verified = same_as(AfterSteps(by_layers, kRecordedSteps, /*ordered=*/true));
    }
  }
}

TrainBenchmarkResult BenchmarkTraining(const TrainBenchmarkCase& work, const TrainBenchmarkOptions& options) {
  WholeSteps(work, kBenchmarkRows);  // throws
  CheckInputs(work);
  TrainBenchmarkResult result;
  VerifyTraining(work, TrainReference(work), result);
  Time(work, options, result);
  return result;
}

}  // namespace lamina
