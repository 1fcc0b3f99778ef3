// Factors in panels against plain loops, in f32 and f64, and answers refined from f32.
#include "lamina/rbf/cholesky.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "gtest/gtest.h"
#include "lamina/rbf/refined_solver.h"
#include "tests/rbf/kernel_oracle.h"

namespace lamina {
namespace {

// A kernel of `n` rows with a ridge.
Table2 KernelTable(int64_t n, double ridge) {
  const Table2 x = RandomTable(static_cast<size_t>(n), 3, 7);
  Table2 a(x.size(), std::vector<double>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < x.size(); ++j) {
      a[i][j] = KernelOf(x[i], x[j], {1, 1, 1}, 1, 1, 2) + (i == j ? ridge : 0);
    }
  }
  return a;
}

template <class T>
class CholeskyOf : public testing::Test {};
using BothTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(CholeskyOf, BothTypes);

TYPED_TEST(CholeskyOf, FactorInverseAndTargetsAreThose) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 4 ? 2e-4 : 1e-11;
  for (const int64_t n : {1, 5, 32, 33, 128, 129, 300}) {
    const int64_t outputs = n == 33 ? 40 : 2;
    const Table2 a = KernelTable(n, 0.1);
    std::vector<T> bits;
    for (const int threads : {1, 2, 5}) {
      Cholesky<T> factor(n, outputs, threads, /*inverse=*/true);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          factor.Panel(0)[TrianglePlace(i, j)] = static_cast<T>(a[static_cast<size_t>(i)][static_cast<size_t>(j)]);
        }
        for (int64_t c = 0; c < outputs; ++c) {
          factor.Target(i, c) = static_cast<T>(std::sin(static_cast<double>(i + 3 * c)));
        }
      }
      ASSERT_TRUE(factor.Factorise(T(1e-6)));
      const auto l = [&](int64_t i, int64_t j) { return factor.Panel(0)[TrianglePlace(i, j)]; };
      std::vector<T> all;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          double product = 0;
          double unit = 0;
          for (int64_t k = 0; k <= j; ++k) {
            product += static_cast<double>(l(i, k)) * static_cast<double>(l(j, k));
          }
          for (int64_t k = j; k <= i; ++k) {  // (L L^-1)(i, j)
            unit += static_cast<double>(l(i, k)) * static_cast<double>(factor.InverseRow(j)[k * cpu::kPanelRows]);
          }
          ASSERT_NEAR(product, a[static_cast<size_t>(i)][static_cast<size_t>(j)], tolerance) << n;
          ASSERT_NEAR(unit, i == j ? 1 : 0, 10 * tolerance) << n << " " << i << " " << j;
          all.push_back(l(i, j));
          all.push_back(factor.InverseRow(j)[i * cpu::kPanelRows]);
        }
        for (int64_t c = 0; c < outputs; ++c) {
          double product = 0;
          for (int64_t k = 0; k <= i; ++k) {
            product += static_cast<double>(l(i, k)) * static_cast<double>(factor.Target(k, c));
          }
          ASSERT_NEAR(product, std::sin(static_cast<double>(i + 3 * c)), 10 * tolerance) << n << " " << c;
          all.push_back(factor.Target(i, c));
        }
      }
      bits = bits.empty() ? all : bits;
      EXPECT_EQ(std::memcmp(bits.data(), all.data(), all.size() * sizeof(T)), 0) << threads;
    }
  }
}

TYPED_TEST(CholeskyOf, SolvesForTargetsBesideEachOther) {
  using T = TypeParam;
  for (const int64_t n : {3, 64, 257}) {
    const Table2 a = KernelTable(n, 0.5);
    Cholesky<T> factor(n, 0, 2, /*inverse=*/false);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        factor.Panel(0)[TrianglePlace(i, j)] = static_cast<T>(a[static_cast<size_t>(i)][static_cast<size_t>(j)]);
      }
    }
    ASSERT_TRUE(factor.Factorise(T(1e-6)));
    for (const int64_t targets : {int64_t{1}, int64_t{3}, cpu::kPanelRows}) {
      std::vector<T> x(static_cast<size_t>(factor.panels() * cpu::kPanelRows * targets));
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t c = 0; c < targets; ++c) {
          x[static_cast<size_t>(i * targets + c)] = static_cast<T>(std::cos(static_cast<double>(i * c)));
        }
      }
      const std::vector<T> wanted = x;
      targets == cpu::kPanelRows ? factor.SolvePanel(x.data()) : factor.SolveFew(x.data(), targets);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t c = 0; c < targets; ++c) {
          double sum = 0;
          for (int64_t j = 0; j < n; ++j) {
            sum += a[static_cast<size_t>(i)][static_cast<size_t>(j)] *
                   static_cast<double>(x[static_cast<size_t>(j * targets + c)]);
          }
          ASSERT_NEAR(sum, static_cast<double>(wanted[static_cast<size_t>(i * targets + c)]),
                      sizeof(T) == 4 ? 1e-3 : 1e-11)
              << n << " " << targets;
        }
      }
    }
  }
}

TEST(RefinedSolver, AnswersAreThoseOfDoubles) {
  for (const double ridge : {1.0, 1e-2, 1e-4, 1e-6}) {
    for (const auto& [n, outputs] : {std::pair<int64_t, int64_t>{1, 2}, {40, 35}, {40, 17}, {300, 16}, {300, 1}}) {
      const Table2 a = KernelTable(n, ridge);
      std::vector<double> bits;
      for (const int threads : {1, 3}) {
        RefinedSolver solver(n, outputs, threads);
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            if (j <= i || j / cpu::kPanelRows == i / cpu::kPanelRows) {
              solver.At(i, j) = a[static_cast<size_t>(i)][static_cast<size_t>(j)];
            }
          }
        }
        std::vector<double> targets(static_cast<size_t>(n * outputs));
        for (size_t i = 0; i < targets.size(); ++i) {
          targets[i] = std::sin(static_cast<double>(i)) * (i < static_cast<size_t>(n) ? 1 : 1e-9);
        }
        std::vector<double> alpha(targets.size());
        ASSERT_TRUE(solver.Solve(targets.data(), n, alpha.data())) << ridge << " " << n;
        EXPECT_LT(solver.steps(), 20);
        for (int64_t c = 0; c < outputs; ++c) {
          for (int64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (int64_t j = 0; j < n; ++j) {
              sum += a[static_cast<size_t>(i)][static_cast<size_t>(j)] * alpha[static_cast<size_t>(c * n + j)];
            }
            ASSERT_NEAR(sum, targets[static_cast<size_t>(c * n + i)], 1e-10 * (c == 0 ? 1 : 1e-9)) << ridge << " " << n;
          }
        }
        bits = bits.empty() ? alpha : bits;
        EXPECT_EQ(std::memcmp(bits.data(), alpha.data(), alpha.size() * 8), 0) << threads;
      }
    }
  }
}

TEST(RefinedSolver, SaysWhatIsNotPositive) {
  RefinedSolver solver(70, 1, 1);
  for (int64_t i = 0; i < 70; ++i) {
    solver.At(i, i) = i == 40 ? -0.5 : 1;
  }
  std::vector<double> numbers(70, 1.0);
  EXPECT_FALSE(solver.Solve(numbers.data(), 70, numbers.data()));
}

}  // namespace
}  // namespace lamina
