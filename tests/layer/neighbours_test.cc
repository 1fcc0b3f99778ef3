// Nearest neighbors against a sort of all distances, on every backend, with ties.
#include "lamina/layer/neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/base/convert.h"
#include "lamina/base/random.h"
#include "lamina/layer/layer.h"
#include "tests/caught_error.h"
#include "tests/conformance/configurations.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::Configuration;

std::vector<Configuration> WithNeighbours() {
  std::vector<Configuration> all = conformance::AllConfigurations();
  std::erase_if(all, [](const Configuration& each) {
    return !each.Supports(Synapse::kL1) || (each.backend == conformance::kEmulatedCuda && each.kernel != "auto");
  });
  return all;
}

class NeighboursOn : public testing::TestWithParam<Configuration> {};
INSTANTIATE_TEST_SUITE_P(Neighbours, NeighboursOn, testing::ValuesIn(WithNeighbours()),
                         [](const auto& instance) { return instance.param.Name(); });

// Whole numbers below `below`: distances are exact and many are equal.
template <class T>
Matrix WholeRows(int64_t rows, int64_t cols, uint64_t below, uint64_t seed) {
  Matrix numbers(rows, cols, DTypeOf<T>());
  Random random(seed);
  for (int64_t i = 0; i < rows; ++i) {
    std::generate_n(numbers.Row<T>(i), cols, [&] { return static_cast<T>(random.Below(below)); });
  }
  return numbers;
}

template <class T>
double PlainDistance(const T* a, const T* b, int64_t n, Synapse metric) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(a[i]);
    const double y = static_cast<double>(b[i]);
    sum += metric == Synapse::kDot ? -x * y : metric == Synapse::kL1 ? std::abs(x - y) : (x - y) * (x - y);
  }
  return sum;
}

template <class T>
void CompareWithSort(const Backend& backend, int64_t x_rows, int64_t y_rows, int64_t k) {
  const Matrix x = WholeRows<T>(x_rows, 5, 4, 1);
  const Matrix y = WholeRows<T>(y_rows, 5, 4, 2);
  for (const auto& [name, metric] : kMetrics) {
    Matrix indices(x_rows, k, DType::kI64);
    Matrix distances(x_rows, k, DistanceType(DTypeOf<T>(), metric));
    MatrixRows from(x.view());
    MatrixRows among(y.view());
    ASSERT_TRUE(NearestRows(from, among, {metric, k}, backend, {indices.view(), distances.view(), {}}));
    for (int64_t i = 0; i < x_rows; ++i) {
      std::vector<std::pair<double, int64_t>> all;
      for (int64_t j = 0; j < y_rows; ++j) {
        all.emplace_back(PlainDistance(x.Row<T>(i), y.Row<T>(j), 5, metric), j);
      }
      std::sort(all.begin(), all.end());
      for (int64_t n = 0; n < k; ++n) {
        const auto& [distance, index] = all[static_cast<size_t>(n)];
        ASSERT_EQ(indices.Row<int64_t>(i)[n], index) << name << " row " << i << " neighbor " << n;
        const double expected = metric == Synapse::kDot  ? -distance
                                : metric == Synapse::kL2 ? std::sqrt(distance)
                                                         : distance;
        Matrix as_double(1, k, DType::kF64);
        ConvertMatrix(distances.view().Rows(i, 1), as_double.view());
        ASSERT_NEAR(as_double.Row<double>(0)[n], expected, 1e-6) << name;
      }
    }
  }
}

TEST_P(NeighboursOn, AreThoseOfASortWithTiesByLowerIndex) {
  const Chosen backend(GetParam());
  const bool emulated = GetParam().backend == conformance::kEmulatedCuda;
  CompareWithSort<float>(backend.get(), emulated ? 30 : 600, emulated ? 2000 : 1100, 7);
  if (GetParam().Supports(DType::kF64)) {
    CompareWithSort<double>(backend.get(), 40, 60, 60);
  }
  if (GetParam().Supports(DType::kI8)) {
    CompareWithSort<int8_t>(backend.get(), 40, 90, 3);
  }
}

TEST_P(NeighboursOn, AreThoseOfASortForTheMostThatMayBeAskedFor) {
  const Chosen backend(GetParam());
  CompareWithSort<float>(backend.get(), 3, 2300, NeighbourOptions::kMost);
}

TEST(Neighbours, AreThoseOfASortForManyAndOfIntegers) {
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  CompareWithSort<float>(*backend, 3, 3000, 1024);
  CompareWithSort<int32_t>(*backend, 20, 50, 1);
  CompareWithSort<uint8_t>(*backend, 20, 700, 20);
}

TEST(Neighbours, RefuseWhatCannotBe) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const auto message = [&](const Matrix& x, const Matrix& y, int64_t k) {
    Matrix indices(x.rows(), std::max<int64_t>(1, k), DType::kI64);
    MatrixRows from(x.view());
    MatrixRows among(y.view());
    return std::string(CaughtError([&] {
                         NearestRows(from, among, {Synapse::kL1, k}, *backend, {indices.view(), {}, {}});
                       }).what());
  };
  const Matrix rows = WholeRows<float>(4, 3, 5, 1);
  EXPECT_TRUE(Mentions(message(rows, rows, 5), "5 neighbors cannot be found among 4 rows"));
  EXPECT_TRUE(Mentions(message(rows, rows, 0), "Ask for 1 to 4"));
  EXPECT_TRUE(Mentions(message(rows, WholeRows<float>(4, 2, 5, 1), 1), "columns and types must be the same"));
  EXPECT_TRUE(Mentions(message(rows, WholeRows<double>(4, 3, 5, 1), 1), "columns and types must be the same"));
  Matrix damaged = WholeRows<float>(4, 3, 5, 1);
  damaged.Row<float>(2)[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Mentions(message(damaged, rows, 2), "row 2 of x (counted from 0) has only 0 distances"));
}

}  // namespace
}  // namespace lamina
