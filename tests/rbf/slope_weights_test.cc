// Weights of columns against slopes that are differences of answers, and machines of full ones against machines of rows
// that plain loops have turned.
#include "lamina/rbf/slope_weights.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"
#include "lamina/rbf/kernel_solver.h"
#include "tests/caught_error.h"
#include "tests/rbf/kernel_oracle.h"
#include "tests/rbf/kernel_places.h"

namespace lamina {
namespace {

LAMINA_AT_KERNEL_PLACES(SlopeWeightsAt);

using Numbers = std::vector<double>;

// row times a matrix, row by row, or times a weight a column.
Numbers Turned(const Numbers& row, const Numbers& weights) {
  Numbers turned(row.size());
  for (size_t k = 0; k < row.size(); ++k) {
    for (size_t j = 0; j < row.size(); ++j) {
      turned[k] += row[j] * (weights.size() > row.size() ? weights[j * row.size() + k] : j == k ? weights[j] : 0);
    }
  }
  return turned;
}

Table2 Turned(const Table2& rows, const Numbers& weights) {
  Table2 turned;
  for (const Numbers& row : rows) {
    turned.push_back(Turned(row, weights));
  }
  return turned;
}

struct SlopeCase {
  size_t rows;
  size_t outputs;
  Case kernel;
  Numbers weights;
};

// The mean of products of slopes along two columns each, by differences; of weighted rows.
Table2 ProductsByDifferences(const SlopeCase& c, const Table2& x, const Table2& alpha, double scale,
                             const Numbers& row_weights) {
  const Table2 turned = Turned(x, c.weights);
  const Numbers ones(3, 1.0);
  Table2 products(3, Numbers(3));
  double total = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    Table2 slopes(c.outputs, Numbers(3));  // without the row's own neuron
    for (size_t j = 0; j < 3; ++j) {
      for (const double step : {1e-6, -1e-6}) {
        Numbers moved = x[i];
        moved[j] += step;
        moved = Turned(moved, c.weights);
        for (size_t m = 0; m < x.size(); ++m) {
          const double kernel =
              m == i ? 0 : KernelOf(moved, turned[m], ones, 2, c.kernel.kind.power, scale) / (2 * step);
          for (size_t k = 0; k < c.outputs; ++k) {
            slopes[k][j] += alpha[m][k] * kernel;
          }
        }
      }
    }
    total += row_weights[i];
    for (const Numbers& slope : slopes) {
      for (size_t j = 0; j < 3; ++j) {
        for (size_t k = 0; k < 3; ++k) {
          products[j][k] += row_weights[i] * slope[j] * slope[k];
        }
      }
    }
  }
  for (Numbers& row : products) {
    for (double& value : row) {
      value /= total;
    }
  }
  return products;
}

TEST(SlopeWeights, TheMatrixIsOfProductsOfSlopes) {
  const SlopeCase cases[] = {{20, 1, kCases[1], {1, 0.5, 2}},
                             {33, 2, kCases[2], {1, 0.5, 0.2, -0.3, 1, 0, 0.7, 0.1, 2}},
                             {270, 17, kCases[1], {1, 0, 0, 0.5, 1, 0, 0.1, -0.4, 0.6}},
                             {40, 3, kCases[4], {1, 1, 1}}};
  for (const SlopeCase& c : cases) {
    const Table2 x = RandomTable(c.rows, 3, 4);
    const Table2 alpha = RandomTable(c.rows, c.outputs, 6);
    Random random(8);
    Numbers row_weights(c.rows);
    std::generate(row_weights.begin(), row_weights.end(), [&] { return random.Uniform(0.5, 2); });
    constexpr double kScale = 1.4;
    const Table2 products = ProductsByDifferences(c, x, alpha, kScale, row_weights);
    const double largest = std::max({products[0][0], products[1][1], products[2][2]});
    const Matrix numbers = AsMatrix(x);
    Numbers bits;
    for (const int threads : {1, 3}) {
      const KernelRows rows(numbers.view(), c.weights, 2, threads);
      const auto stride = static_cast<size_t>(rows.columns().stride);
      Numbers by_output(c.outputs * stride);
      for (size_t i = 0; i < c.rows; ++i) {
        for (size_t k = 0; k < c.outputs; ++k) {
          by_output[k * stride + i] = alpha[i][k];
        }
      }
      const Numbers matrix = MatrixOfSlopes({rows,
                                             {2, c.kernel.kind.power, kScale},
                                             by_output.data(),
                                             static_cast<int64_t>(c.outputs),
                                             c.weights,
                                             row_weights,
                                             threads});
      ASSERT_EQ(matrix.size(), 9U);
      bits = bits.empty() ? matrix : bits;
      for (size_t j = 0; j < matrix.size(); ++j) {
        EXPECT_EQ(std::bit_cast<uint64_t>(bits[j]), std::bit_cast<uint64_t>(matrix[j])) << threads;
      }
      for (size_t j = 0; j < 3; ++j) {
        for (size_t k = 0; k < 3; ++k) {
          double product = 0;
          for (size_t m = 0; m < 3; ++m) {
            product += matrix[3 * j + m] * matrix[3 * k + m];
          }
          EXPECT_NEAR(product, products[j][k] / largest + (j == k ? 1e-6 : 0), 2e-6) << c.rows << " " << j << k;
          EXPECT_TRUE(k <= j || matrix[3 * j + k] == 0);
        }
      }
    }
  }
}

TEST(SlopeWeights, ThereAreNoneWhereNothingCounts) {
  const Matrix x = AsMatrix(RandomTable(9, 2, 4));
  const Numbers weights{1, 1};
  const KernelRows rows(x.view(), weights, 2, 1);
  const Numbers alpha(static_cast<size_t>(rows.columns().stride));
  const AnswerSlopes slopes{rows, {2, 1, 1}, alpha.data(), 1, weights, {}, 1};
  EXPECT_TRUE(MatrixOfSlopes(slopes).empty());
  EXPECT_TRUE(WeightsOfSlopes(slopes).empty());
}

KernelMachineOptions Full(int rounds) {
  KernelMachineOptions options = Fixed({2, 1.4}, 1.0, 0.02, {});
  options.choices.rounds = rounds;
  options.choices.full = true;
  options.threads = 2;
  return options;
}

// A machine of full weights is one of turned rows: rows left out, all rows solved for, some as centers.
TEST_P(SlopeWeightsAt, AMachineOfFullWeightsIsOneOfTurnedRows) {
  const Table2 x = RandomTable(60, 3, 1);
  const Matrix y = AsMatrix(TargetsFor(x, 2));
  KernelMachineOptions options = Full(3);
  options.backend = backend();
  const KernelMachine machine = FitKernelMachine(AsMatrix(x).view(), y.view(), options);
  ASSERT_EQ(machine.feature_weights.size(), 9U);
  EXPECT_GT(machine.round, 0);
  const Matrix turned = AsMatrix(Turned(x, machine.feature_weights));
  KernelMachine plain;
  plain.kind = machine.kind;
  plain.scale = machine.scale;
  plain.ridge = machine.ridge;
  plain.feature_weights = {1, 1, 1};
  const KernelMachine wanted = SolveKernelMachine(turned.view(), y.view(), plain, {});
  const std::vector<int64_t> centres{1, 8, 30, 44};
  const KernelMachine some = SolveByCentres(AsMatrix(x).view(), y.view(), centres, machine, {});
  const KernelMachine wanted_some = SolveByCentres(turned.view(), y.view(), centres, plain, {});
  const KernelMachine solved = SolveKernelMachine(AsMatrix(x).view(), y.view(), machine, options);
  for (int64_t i = 0; i < 60; ++i) {
    EXPECT_NEAR(machine.alpha.Row<double>(i)[1], wanted.alpha.Row<double>(i)[1], 1e-7);
    EXPECT_NEAR(solved.alpha.Row<double>(i)[1], wanted.alpha.Row<double>(i)[1], 1e-7);
  }
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(some.alpha.Row<double>(i)[0], wanted_some.alpha.Row<double>(i)[0], 1e-7);
  }
  const Case c{machine.kind, 1.0, machine.ridge};
  const Table2 rows = Turned(x, machine.feature_weights);
  const Table2 targets = TargetsFor(x, 2);
  for (size_t i = 0; i < 60; i += 7) {
    const Numbers answer =
        AnswerWithout(rows, targets, {1, 1, 1}, c, machine.scale, i, {}, [&](size_t row) { return row != i; });
    EXPECT_NEAR(machine.left_out.Row<double>(static_cast<int64_t>(i))[0], targets[i][0] - answer[0], 1e-7);
  }
}

TEST(SlopeWeights, FullOnesFindWhatIsAskewToTheColumns) {
  const Table2 x = RandomTable(150, 4, 3);
  Table2 y;
  for (const Numbers& row : x) {
    y.push_back({std::sin(row[0] + row[1] - row[2])});
  }
  KernelMachineOptions options = Full(3);
  const KernelMachine full = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
  options.choices.full = false;
  const KernelMachine diagonal = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), options);
  EXPECT_LT(full.error, diagonal.error / 3);
  const Numbers counts = WeightsAlongColumns(full.feature_weights, 4);
  EXPECT_EQ(*std::max_element(counts.begin(), counts.end()), 1);
  EXPECT_GT(*std::min_element(counts.begin(), counts.begin() + 3), 0.8);
  EXPECT_LT(counts[3], 0.2);
  EXPECT_EQ(WeightsAlongColumns({1, 0.5}, 2), (Numbers{1, 0.5}));
}

TEST(SlopeWeights, FullOnesAreRefusedForL1) {
  KernelMachineOptions options = Full(1);
  options.choices.kinds = {{1, 1.0}};
  const Matrix x = AsMatrix(RandomTable(5, 2, 1));
  const Matrix y = AsMatrix(RandomTable(5, 1, 1));
  EXPECT_TRUE(Mentions(CaughtError([&] { FitKernelMachine(x.view(), y.view(), options); }).what(), "full weights"));
}

}  // namespace
}  // namespace lamina
