// Verifies and times single answers.
#include "lamina/measure/predict_benchmark.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/base/timing.h"
#include "lamina/model/predictor.h"
#include "lamina/nn/executor.h"
#include "lamina/tune/pass_run.h"

namespace lamina {
namespace {

constexpr int64_t kRows = 256;  // one after the other, so that no row is still in the nearest cache by chance

Network MakeNetwork(const PredictBenchmarkCase& work, DType dtype) {
  std::vector<LayerSpec> layers;
  for (size_t l = 0; l + 1 < work.shape.size(); ++l) {
    layers.push_back({work.shape[l], work.shape[l + 1], Synapse::kDot, work.activation, true});
  }
  Network network(layers, dtype);
  network.Initialize(Initialization::kGlorotUniform, 1);
  return network;
}

// The same values in every type.
Matrix RandomRows(int64_t inputs, DType dtype) {
  Matrix rows(kRows, inputs, dtype);
  Random random(2);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < kRows * inputs; ++i) {
      static_cast<T*>(rows.data())[i] = static_cast<T>(static_cast<float>(random.Uniform()));
    }
  });
  return rows;
}

std::vector<double> AsDoubles(const Matrix& matrix) {
  return DispatchFloat(matrix.dtype(), [&]<class T>(T) {
    const T* values = matrix.Row<T>(0);
    return std::vector<double>(values, values + matrix.rows() * matrix.cols());
  });
}

void Verify(const PredictBenchmarkCase& work, const Predictor& predictor, const Matrix& x,
            PredictBenchmarkResult& result) {
  // The f32 start, exactly, where f32 is what is verified.
  Network network = MakeNetwork(work, DType::kF64);
  if (work.dtype == DType::kF32) {
    const Network narrow = MakeNetwork(work, DType::kF32);
    for (size_t l = 0; l < narrow.layers().size(); ++l) {
      std::copy_n(narrow.Weights(l).Row<float>(0), narrow.layers()[l].weight_count(),
                  network.Weights(l).Row<double>(0));
    }
  }
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  Executor executor(network, *serial, {.max_batch = kRows});
  Matrix expected(kRows, predictor.outputs(), DType::kF64);
  executor.Predict(RandomRows(predictor.inputs(), DType::kF64).view(), expected.view());
  Matrix got(kRows, predictor.outputs(), work.dtype);
  PredictorScratch scratch = predictor.MakeScratch();
  DispatchFloat(work.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < kRows; ++i) {
      predictor.Predict(x.Row<T>(i), got.Row<T>(i), scratch);
    }
  });
  result.largest_error = LargestRelativeError(AsDoubles(expected), AsDoubles(got));
  const double epsilon =
      work.dtype == DType::kF64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const auto widest = static_cast<double>(*std::max_element(work.shape.begin(), work.shape.end()));
  result.error_bound = 8.0 * std::sqrt(widest) * epsilon;
  result.verified = result.largest_error <= result.error_bound;  // false for NaN
}

// The seconds of every call of one thread.
std::vector<double> TimeCalls(const Predictor& predictor, const Matrix& x, const PredictBenchmarkOptions& options) {
  std::vector<double> seconds;
  seconds.reserve(1 << 20);
  PredictorScratch scratch = predictor.MakeScratch();
  Matrix y(1, predictor.outputs(), predictor.dtype());
  const ConstMatrixView rows = x.view();
  int64_t i = 0;
  const auto ask = [&] {
    predictor.Predict(rows.Rows(i, 1).data, y.data(), scratch);
    i = i + 1 == kRows ? 0 : i + 1;
  };
  for (int64_t n = 0; n < options.warm_calls; ++n) {
    ask();
  }
  const Stopwatch whole;
  do {
    const Stopwatch call;
    ask();
    seconds.push_back(call.Elapsed_seconds());
  } while (whole.Elapsed_seconds() < options.seconds);
  return seconds;
}

}  // namespace

std::string PredictBenchmarkCase::ShapeText() const { return fmt::format("{}", fmt::join(shape, "-")); }

PredictBenchmarkResult BenchmarkPrediction(const PredictBenchmarkCase& work, const PredictBenchmarkOptions& options) {
  const Predictor predictor(MakeNetwork(work, work.dtype));
  const Matrix x = RandomRows(predictor.inputs(), work.dtype);
  PredictBenchmarkResult result;
  Verify(work, predictor, x, result);
  std::vector<std::vector<double>> by_thread(static_cast<size_t>(work.threads));
  const Stopwatch watch;
#pragma omp parallel for num_threads(work.threads) schedule(static, 1)
  for (int thread = 0; thread < work.threads; ++thread) {
    by_thread[static_cast<size_t>(thread)] = TimeCalls(predictor, x, options);
  }
  const double elapsed = watch.Elapsed_seconds();
  std::vector<double> seconds;
  for (const std::vector<double>& part : by_thread) {
    seconds.insert(seconds.end(), part.begin(), part.end());
  }
  std::sort(seconds.begin(), seconds.end());
  result.calls = std::ssize(seconds);
  result.median_seconds = seconds[seconds.size() / 2];
  result.p99_seconds = seconds[seconds.size() * 99 / 100];
  result.least_seconds = seconds.front();
  result.rows_per_second = static_cast<double>(result.calls) / elapsed;
  return result;
}

}  // namespace lamina
