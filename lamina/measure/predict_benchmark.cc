// Verifies and times single answers.
#include "lamina/measure/predict_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lamina/backend/backends.h"
#include "lamina/base/convert.h"
#include "lamina/base/random.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"
#include "lamina/model/predictor.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/rounded_network.h"
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

// The same values in every type: f32 numbers.
Matrix RowsFor(const PredictBenchmarkCase& work, ConstMatrixView given, DType dtype) {
  const int64_t inputs = work.shape.front();
  if (!given.empty() && given.cols != inputs) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the rows have {} numbers, the network {} inputs", given.cols, inputs),
                {.value = work.ShapeText()});
  }
  const int64_t rows = given.empty() ? kRows : given.rows;
  if (work.together < 1 || work.together > std::min(rows, kMostRowsTogether)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a call takes 1 to {} of these rows", std::min(rows, kMostRowsTogether)),
                {.value = fmt::format("{}", work.together)});
  }
  Matrix narrow(rows, inputs, DType::kF32);
  if (given.empty()) {
    Random random(2);
    Random which(3);
    std::generate_n(static_cast<float*>(narrow.data()), kRows * inputs, [&] {
      const auto number = static_cast<float>(random.Uniform());
      return which.Uniform() < work.zeros ? 0.0F : number;
    });
  } else {
    ConvertMatrix(given, narrow.view());
  }
  Matrix converted(rows, inputs, dtype);
  ConvertMatrix(narrow.view(), converted.view());
  return converted;
}

std::vector<double> AsDoubles(const Matrix& matrix) {
  return DispatchFloat(matrix.dtype(), [&]<class T>(T) {
    const T* values = matrix.Row<T>(0);
    return std::vector<double>(values, values + matrix.rows() * matrix.cols());
  });
}

// The first kRows of `x`.
void Verify(const PredictBenchmarkCase& work, const Predictor& predictor, const Matrix& x,
            PredictBenchmarkResult& result) {
  // The f32 start, exactly, where f32 is what is verified.
  Network network = MakeNetwork(work, DType::kF64);
  if (work.dtype == DType::kF32) {
    const Network narrow = MakeNetwork(work, DType::kF32);
    for (size_t l = 0; l < narrow.layers().size(); ++l) {
      ConvertMatrix(narrow.Weights(l), network.Weights(l));
    }
  }
  if (work.weights != WeightStorage::kExact) {
    RoundWeights(network, work.weights);
  }
  const int64_t rows = std::min(kRows, x.rows());
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  Executor executor(network, *serial, {.max_batch = rows});
  Matrix expected(rows, predictor.outputs(), DType::kF64);
  Matrix wide(rows, predictor.inputs(), DType::kF64);
  ConvertMatrix(x.view().Rows(0, rows), wide.view());
  executor.Predict(wide.view(), expected.view());
  Matrix got(rows, predictor.outputs(), work.dtype);
  const PredictorScratch scratch(work.together * predictor.scratch_bytes());
  for (int64_t i = 0; i < rows; i += work.together) {
    const int64_t count = std::min(work.together, rows - i);
    predictor.PredictRowsAt(x.view().Rows(i, count).data, count, got.view().Rows(i, count).data, scratch.data());
  }
  result.largest_error = LargestRelativeError(AsDoubles(expected), AsDoubles(got));
  double epsilon = std::numeric_limits<float>::epsilon();
  if (work.weights == WeightStorage::kI8) {
    epsilon = 0x1p-16;  // of x in 16 bits
  } else if (work.weights == WeightStorage::kExact && work.dtype == DType::kF64) {
    epsilon = std::numeric_limits<double>::epsilon();
  }
  const auto widest = static_cast<double>(*std::max_element(work.shape.begin(), work.shape.end()));
  result.error_bound = 8.0 * std::sqrt(widest) * epsilon;
  result.verified = result.largest_error <= result.error_bound;  // false for NaN
}

// The seconds of every call of one thread.
std::vector<double> TimeCalls(const Predictor& predictor, const Matrix& x, int64_t together,
                              const PredictBenchmarkOptions& options) {
  std::vector<double> seconds;
  seconds.reserve(1 << 20);
  const PredictorScratch scratch(together * predictor.scratch_bytes());
  Matrix y(together, predictor.outputs(), predictor.dtype());
  const ConstMatrixView rows = x.view();
  int64_t i = 0;
  const auto ask = [&] {
    predictor.PredictRowsAt(rows.Rows(i, together).data, together, y.data(), scratch.data());
    i = i + 2 * together > rows.rows ? 0 : i + together;
  };
  for (int64_t n = 0; n < options.warm_calls; ++n) {
    ask();
  }
  const Stopwatch whole;
  do {
    const Stopwatch call;
    ask();
    seconds.push_back(call.Elapsed_seconds());
  } while (whole.Elapsed_seconds() < options.seconds && !(options.stop_requested && options.stop_requested()));
  return seconds;
}

}  // namespace

std::string PredictBenchmarkCase::ShapeText() const { return fmt::format("{}", fmt::join(shape, "-")); }

PredictBenchmarkResult BenchmarkPrediction(const PredictBenchmarkCase& work, const PredictBenchmarkOptions& options) {
  const Predictor predictor(MakeNetwork(work, work.dtype), work.weights);
  const Matrix x = RowsFor(work, options.rows, work.dtype);
  PredictBenchmarkResult result;
  Verify(work, predictor, x, result);
  std::vector<std::vector<double>> by_thread(static_cast<size_t>(work.threads));
  const Stopwatch watch;
  RunParts(work.threads, work.threads, [&](int64_t begin, int64_t end) {
    for (int64_t thread = begin; thread < end; ++thread) {  // more than one where the team is smaller
      by_thread[static_cast<size_t>(thread)] = TimeCalls(predictor, x, work.together, options);
    }
  });
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
  result.rows_per_second = static_cast<double>(result.calls * work.together) / elapsed;
  return result;
}

}  // namespace lamina
