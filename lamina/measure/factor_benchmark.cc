// Timing factors, verified by random elements of their products.
#include "lamina/measure/factor_benchmark.h"

#include <algorithm>
#include <cmath>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/random.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/rbf/cholesky.h"

namespace lamina {
namespace {

constexpr int64_t kColumnsOfRows = 8;
constexpr double kRidgeOfFactor = 0.1;
constexpr int kElementsLookedAt = 2000;

// The matrix's element (i, j), from rows that a seed gives.
class KernelElements {
 public:
  explicit KernelElements(int64_t rows) : rows_(static_cast<size_t>(rows * kColumnsOfRows)) {
    Random random(1);
    std::generate(rows_.begin(), rows_.end(), [&] { return random.Uniform(-1, 1); });
  }

  double At(int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t k = 0; k < kColumnsOfRows; ++k) {
      const double difference =
          rows_[static_cast<size_t>(i * kColumnsOfRows + k)] - rows_[static_cast<size_t>(j * kColumnsOfRows + k)];
      sum += difference * difference;
    }
    return std::exp(-std::sqrt(sum)) + (i == j ? kRidgeOfFactor : 0);
  }

 private:
  std::vector<double> rows_;
};

template <class T>
double LargestErrorOf(Cholesky<T>& factor, const KernelElements& elements) {
  Random random(2);
  const auto rows = static_cast<uint64_t>(factor.rows());
  double largest = 0;
  for (int e = 0; e < kElementsLookedAt; ++e) {
    const auto i = static_cast<int64_t>(random.Below(rows));
    const auto j = std::min(i, static_cast<int64_t>(random.Below(rows)));
    double product = 0;
    for (int64_t k = 0; k <= j; ++k) {
      product += static_cast<double>(factor.Panel(0)[TrianglePlace(i, k)]) *
                 static_cast<double>(factor.Panel(0)[TrianglePlace(j, k)]);
    }
    largest = std::max(largest, std::abs(product - elements.At(i, j)));
  }
  return largest;
}

template <class T>
FactorBenchmarkResult Factorised(const FactorBenchmarkCase& work, int rounds,
                                 const std::function<bool()>& stop_requested) {
  const KernelElements elements(work.rows);
  std::vector<T> matrix(static_cast<size_t>(TriangleSize(work.rows)));
  for (int64_t i = 0; i < work.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      matrix[static_cast<size_t>(TrianglePlace(i, j))] = static_cast<T>(elements.At(i, j));
    }
  }
  Cholesky<T> factor(work.rows, 0, work.threads, work.inverse);
  FactorBenchmarkResult result;
  std::vector<double> seconds;
  bool positive = true;
  while (std::ssize(seconds) < rounds && !(stop_requested && stop_requested())) {
    std::copy(matrix.begin(), matrix.end(), factor.Panel(0));
    const Stopwatch watch;
    positive = factor.Factorise(T(1e-6)) && positive;
    seconds.push_back(watch.Elapsed_seconds());
  }
  if (seconds.empty()) {
    return result;
  }
  std::sort(seconds.begin(), seconds.end());
  result.rounds = static_cast<int>(seconds.size());
  result.least_seconds = seconds.front();
  result.median_seconds = seconds[seconds.size() / 2];
  const double cube = std::pow(static_cast<double>(work.rows), 3);
  result.gflops = 1e-9 * cube * (work.inverse ? 2 : 1) / 3 / result.least_seconds;
  result.largest_error = LargestErrorOf(factor, elements);
  result.verified = positive && result.largest_error < (sizeof(T) == 4 ? 1e-4 : 1e-11);
  return result;
}

}  // namespace

FactorBenchmarkResult BenchmarkFactor(const FactorBenchmarkCase& work, int rounds,
                                      const std::function<bool()>& stop_requested) {
  const int64_t number_bytes = DTypeSize_bytes(work.dtype);
  const int64_t bytes = (work.inverse ? 3 : 2) * TriangleSize(work.rows) * number_bytes;
  const int64_t usable = QueryHardware().UsableMemory_bytes();
  if (usable > 0 && bytes > usable) {
    throw Error(ErrorCode::kResource,
                "a factor of " + Counted(work.rows, "row{s}") + " takes " + BytesText(bytes) + " of memory, and " +
                    BytesText(usable) + " can be had",
                {.remedy = "Use fewer rows."});
  }
  return work.dtype == DType::kF32 ? Factorised<float>(work, rounds, stop_requested)
                                   : Factorised<double>(work, rounds, stop_requested);
}

}  // namespace lamina
