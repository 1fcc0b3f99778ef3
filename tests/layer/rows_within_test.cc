// Rows within a radius by a tree against a look at all distances, to the bit.
#include "lamina/layer/rows_within.h"

#include <algorithm>
#include <limits>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/layer/layer.h"

namespace lamina {
namespace {

// Eighths: many are at exactly the radius, and some rows are there twice.
template <class T>
Matrix EighthRows(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix numbers(rows, cols, DTypeOf<T>());
  Random random(seed);
  std::generate_n(numbers.Row<T>(0), rows * cols, [&] { return static_cast<T>(random.Below(60)) / T(8); });
  return numbers;
}

template <class T>
void CompareWithAllDistances(int64_t columns, Synapse metric, double radius, int threads) {
  const std::unique_ptr<Backend> one = MakeBackend("cpu", {.threads = 1});
  const Matrix y = EighthRows<T>(4000, columns, 1);
  const Matrix x = EighthRows<T>(1200, columns, 2);
  const NeighbourTree tree(y.view(), metric);
  const std::optional<RowsWithin> found = FindRowsWithin(x.view(), tree, radius, threads, *one);
  ASSERT_TRUE(found.has_value());
  const Matrix distances = PairwiseDistance(x.view(), y.view(), metric, *one);
  ASSERT_EQ(std::ssize(found->counts), x.rows());
  ASSERT_EQ(found->indices.size(), found->distances.size());
  size_t at = 0;
  int64_t most = 0;
  for (int64_t i = 0; i < x.rows(); ++i) {
    const size_t begin = at;
    for (int64_t j = 0; j < y.rows(); ++j) {
      if (distances.Row<T>(i)[j] <= static_cast<T>(radius)) {
        ASSERT_LT(at, found->indices.size());
        ASSERT_EQ(found->indices[at], j);
        ASSERT_EQ(found->distances[at], static_cast<double>(distances.Row<T>(i)[j]));
        ++at;
      }
    }
    ASSERT_EQ(found->counts[static_cast<size_t>(i)], static_cast<int64_t>(at - begin));
    most = std::max(most, static_cast<int64_t>(at - begin));
  }
  EXPECT_EQ(at, found->indices.size());
  EXPECT_GT(most, 1);
}

TEST(RowsWithin, AreThoseOfAllDistances) {
  for (const Synapse metric : {Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}) {
    for (const int threads : {1, 3}) {
      CompareWithAllDistances<float>(2, metric, 0.625, threads);
      CompareWithAllDistances<double>(3, metric, 1.125, threads);
    }
  }
}

TEST(RowsWithin, NearlyAllRowsAreLeftToALookAtAllDistances) {
  const std::unique_ptr<Backend> one = MakeBackend("cpu", {.threads = 1});
  const Matrix y = EighthRows<double>(20000, 2, 1);
  const NeighbourTree tree(y.view(), Synapse::kL2);
  EXPECT_FALSE(FindRowsWithin(y.view(), tree, 1000, 1, *one).has_value());
  EXPECT_FALSE(FindRowsWithin(y.view(), tree, std::numeric_limits<double>::infinity(), 1, *one).has_value());
  EXPECT_TRUE(FindRowsWithin(y.view(), tree, 0.1, 1, *one).has_value());
}

}  // namespace
}  // namespace lamina
