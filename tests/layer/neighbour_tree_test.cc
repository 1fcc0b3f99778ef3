// Nearest rows by a tree against those found among all rows, to the bit, with ties and rows that are there twice.
#include "lamina/layer/neighbour_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/layer/layer.h"
#include "lamina/layer/neighbours.h"

namespace lamina {
namespace {

template <class T, class Number>
Matrix TreeRowsOf(int64_t rows, int64_t cols, uint64_t seed, const Number& number) {
  Matrix numbers(rows, cols, DTypeOf<T>());
  Random random(seed);
  for (int64_t i = 0; i < rows; ++i) {
    std::generate_n(numbers.Row<T>(i), cols, [&] { return static_cast<T>(number(random)); });
  }
  return numbers;
}

// Whole numbers below `below`: distances are exact and many are equal.
template <class T>
Matrix RowsOfWholes(int64_t rows, int64_t cols, uint64_t below, uint64_t seed) {
  return TreeRowsOf<T>(rows, cols, seed, [&](Random& random) { return random.Below(below); });
}

// Numbers of all sizes, every tenth row twice.
template <class T>
Matrix RowsOfReals(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix numbers = TreeRowsOf<T>(rows, cols, seed, [](Random& random) {
    return std::exp2(20 * random.Uniform() - 10) * (random.Uniform() - 0.5);
  });
  for (int64_t i = 9; i < rows; i += 10) {
    std::copy_n(numbers.Row<T>(i / 2), cols, numbers.Row<T>(i));
  }
  return numbers;
}

struct FoundRows {
  Matrix indices;
  Matrix distances;
};

FoundRows FindRows(const Matrix& x, const Matrix& y, const NeighbourOptions& options, const Backend& backend) {
  FoundRows found{Matrix(x.rows(), options.k, DType::kI64),
                  Matrix(x.rows(), options.k, DistanceType(x.dtype(), options.metric))};
  MatrixRows from(x.view());
  MatrixRows among(y.view());
  EXPECT_TRUE(NearestRows(from, among, options, backend, {found.indices.view(), found.distances.view(), {}}));
  return found;
}

bool EqualBits(const Matrix& a, const Matrix& b) {
  const auto bytes = static_cast<size_t>(a.rows() * a.cols() * DTypeSize_bytes(a.dtype()));
  return std::memcmp(a.data(), b.data(), bytes) == 0;
}

void CompareRoutes(const Matrix& x, const Matrix& y, const Backend& backend) {
  for (const Synapse metric : {Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}) {
    const NeighbourTree tree(y.view(), metric);
    for (const int64_t k : {1, 5, 40}) {
      const FoundRows all = FindRows(x, y, {metric, k}, backend);
      const FoundRows by_tree = FindRows(x, y, {metric, k, 0, &tree}, backend);
      EXPECT_TRUE(EqualBits(all.indices, by_tree.indices))
          << SynapseName(metric) << " " << y.cols() << " columns, k " << k;
      EXPECT_TRUE(EqualBits(all.distances, by_tree.distances)) << SynapseName(metric) << " " << y.cols();
    }
  }
}

TEST(NeighbourTree, ChangesNoBit) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 2});
  for (const int64_t columns : {1, 2, 3, 7, 16}) {
    CompareRoutes(RowsOfReals<float>(300, columns, 1), RowsOfReals<float>(2000, columns, 2), *backend);
    CompareRoutes(RowsOfReals<double>(300, columns, 1), RowsOfReals<double>(2000, columns, 2), *backend);
    // Many are equally near, and many are the same.
    CompareRoutes(RowsOfWholes<float>(300, columns, 3, 1), RowsOfWholes<float>(2000, columns, 3, 2), *backend);
  }
}

TEST(NeighbourTree, NamesAllThatAreWithinARadius) {
  const Matrix y = RowsOfWholes<float>(2000, 3, 20, 2);
  const Matrix x = RowsOfWholes<float>(50, 3, 20, 1);
  for (const Synapse metric : {Synapse::kL1, Synapse::kL2}) {
    const NeighbourTree tree(y.view(), metric);
    std::vector<int64_t> named;
    for (int64_t i = 0; i < x.rows(); ++i) {
      tree.MayBeWithin(x.Row<float>(i), 5, named);
      std::vector<int64_t> expected;
      for (int64_t j = 0; j < y.rows(); ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 3; ++k) {
          const double apart = x.Row<float>(i)[k] - y.Row<float>(j)[k];
          sum += metric == Synapse::kL1 ? std::abs(apart) : apart * apart;
        }
        if (sum <= (metric == Synapse::kL1 ? 5 : 25)) {
          expected.push_back(j);
        }
      }
      EXPECT_EQ(named, expected);  // whole numbers have nothing to round
    }
  }
}

TEST(NeighbourTree, IsForFiniteNumbersInFewColumns) {
  Matrix rows = RowsOfWholes<float>(50, 3, 20, 1);
  EXPECT_TRUE(NeighbourTree::Takes(rows.view(), Synapse::kL1));
  EXPECT_FALSE(NeighbourTree::Takes(rows.view(), Synapse::kDot));
  EXPECT_FALSE(NeighbourTree::Takes(RowsOfWholes<float>(50, 17, 20, 1).view(), Synapse::kL1));
  EXPECT_FALSE(NeighbourTree::Takes(RowsOfWholes<int32_t>(50, 3, 20, 1).view(), Synapse::kL1));
  rows.Row<float>(7)[1] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(NeighbourTree::Takes(rows.view(), Synapse::kL1));
  // The work of a tree is made up for by many rows alone.
  const Matrix many(100000, 2, DType::kF32);
  EXPECT_TRUE(TreePays(100000, many.view(), Synapse::kL1, 2));
  EXPECT_FALSE(TreePays(10, many.view(), Synapse::kL1, 2));
  EXPECT_FALSE(TreePays(100000, rows.view(), Synapse::kL1, 2));
}

}  // namespace
}  // namespace lamina
