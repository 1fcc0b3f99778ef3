// Timing the way from a file to a standardized matrix.
#include "lamina/measure/data_benchmark.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <vector>

#include "lamina/base/timing.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/files/reader.h"

namespace lamina {
namespace {

// f32 keeps 24 bits of values near 1: a mean over them is this near to 0, a deviation to 1.
constexpr double kBound = 1e-4;

// The largest distance of a column's mean from 0 and of its deviation from 1 (from 0 where it is constant).
double LargestError(const Matrix& matrix) {
  const auto n = static_cast<double>(matrix.rows());
  double largest = 0;
  for (int64_t j = 0; j < matrix.cols(); ++j) {
    double sum = 0;
    double squares = 0;
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      const double x = matrix.Row<float>(i)[j];
      sum += x;
      squares += x * x;
    }
    const double deviation = std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
    largest = std::max({largest, std::abs(sum / n), std::min(std::abs(deviation - 1), deviation)});
  }
  return largest;
}

}  // namespace

DataBenchmarkResult BenchmarkData(const std::string& path, int rounds) {
  struct Round {
    double seconds;
    double read_seconds;
  };
  DataBenchmarkResult result;
  result.rounds = rounds;
  result.verified = true;
  std::vector<Round> times;
  PreprocessOptions options;
  options.encoding = Encoding::kOrdinal;
  options.scaling = Scaling::kStandardize;
  options.target_scaling = Scaling::kStandardize;
  options.missing = MissingPolicy::kDropRow;
  for (int round = 0; round < rounds; ++round) {
    const Stopwatch watch;
    const ReadResult data = ReadData(path);
    const double read_seconds = watch.Elapsed_seconds();
    std::vector<int64_t> rows(static_cast<size_t>(data.train.rows));
    std::iota(rows.begin(), rows.end(), int64_t{0});
    if (data.target) {
      options.targets = {*data.target};
    }
    const Preprocessor fitted = Preprocessor::Fit(data.train, rows, options);
    const Dataset dataset = BoundTable(fitted, data.train).Encode(rows, DType::kF32);
    times.push_back({watch.Elapsed_seconds(), read_seconds});
    result.rows = data.train.rows;
    result.dropped_rows = data.train.rows - dataset.size();
    result.columns = std::ssize(data.train.columns);
    result.inputs = fitted.inputs().count();
    result.largest_error = std::max(result.largest_error, LargestError(dataset.features));
  }
  result.verified = result.largest_error <= kBound;
  std::sort(times.begin(), times.end(), [](const Round& a, const Round& b) { return a.seconds < b.seconds; });
  const Round& median = times[times.size() / 2];
  result.median_seconds = median.seconds;
  result.read_seconds = median.read_seconds;
  result.least_seconds = times.front().seconds;
  result.most_seconds = times.back().seconds;
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  result.file_bytes = failed ? 0 : static_cast<int64_t>(bytes);
  return result;
}

}  // namespace lamina
