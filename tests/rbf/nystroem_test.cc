// Some rows as centers: least squares by plain loops, and all rows as centers.
#include "lamina/rbf/nystroem.h"

#include <cmath>
#include <cstring>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/rbf/even_rows.h"
#include "tests/rbf/kernel_oracle.h"

namespace lamina {
namespace {

TEST(Nystroem, AlphaMakesTheSumLeast) {
  const std::vector<double> s{1, 0.5, 0.1};
  for (const int64_t n : {40, 300}) {
    const Table2 x = RandomTable(static_cast<size_t>(n), 3, 1);
    const Table2 y = TargetsFor(x, 2);
    std::vector<double> weights;
    for (int64_t i = 0; i < n; ++i) {
      weights.push_back(1 + 0.5 * std::sin(static_cast<double>(i)));
    }
    const std::vector<int64_t> centres = EvenPlaces(n, n == 40 ? 7 : 45);
    for (const Case& c : kCases) {
      for (const bool weighted : {false, true}) {
        KernelMachine chosen;
        chosen.kind = c.kind;
        chosen.scale = 1.3;
        chosen.ridge = c.ridge;
        chosen.feature_weights = s;
        KernelMachineOptions options;
        options.sample_weights = weighted ? std::span<const double>(weights) : std::span<const double>();
        std::vector<double> bits;
        for (const int threads : {1, 3}) {
          options.threads = threads;
          const KernelMachine machine =
              SolveByCentres(AsMatrix(x).view(), AsMatrix(y).view(), centres, chosen, options);
          ASSERT_TRUE(machine.complete);
          ASSERT_EQ(machine.alpha.rows(), std::ssize(centres));
          const std::vector<double> found(machine.alpha.Row<double>(0),
                                          machine.alpha.Row<double>(0) + 2 * std::ssize(centres));
          bits = bits.empty() ? found : bits;
          EXPECT_EQ(std::memcmp(bits.data(), found.data(), found.size() * 8), 0) << threads;
        }
        const auto kernel = [&](size_t row, size_t centre) {
          return KernelOf(x[row], x[static_cast<size_t>(centres[centre])], s, c.kind.p, c.kind.power, 1.3);
        };
        // The slope of the sum along each number of alpha is none.
        for (size_t k = 0; k < 2; ++k) {
          for (size_t j = 0; j < centres.size(); ++j) {
            double slope = 0;
            double size = 0;
            for (size_t i = 0; i < x.size(); ++i) {
              double miss = -y[i][k];
              for (size_t m = 0; m < centres.size(); ++m) {
                miss += kernel(i, m) * bits[2 * m + k];
              }
              slope += (weighted ? weights[i] : 1) * miss * kernel(i, j);
              size += std::abs(miss * kernel(i, j));
            }
            for (size_t m = 0; m < centres.size(); ++m) {
              slope += c.ridge * kernel(static_cast<size_t>(centres[m]), j) * bits[2 * m + k];
            }
            ASSERT_NEAR(slope, 0, 1e-6 * size) << n << " " << c.kind.p << " " << c.kind.power << " " << j;
          }
        }
      }
    }
  }
}

TEST(Nystroem, AllRowsAsCentresAreTheWholeMachine) {
  const Table2 x = RandomTable(70, 2, 3);
  const Table2 y = TargetsFor(x, 4);
  const KernelMachine whole = FitKernelMachine(AsMatrix(x).view(), AsMatrix(y).view(), Fixed({2, 1.0}, 1.0, 0.05));
  std::vector<int64_t> all(70);
  std::iota(all.begin(), all.end(), int64_t{0});
  const KernelMachine machine = SolveByCentres(AsMatrix(x).view(), AsMatrix(y).view(), all, whole, {});
  for (int64_t i = 0; i < 70; ++i) {
    EXPECT_NEAR(machine.alpha.Row<double>(i)[0], whole.alpha.Row<double>(i)[0], 1e-6);
  }
  EXPECT_EQ(machine.jitter, 0);
}

TEST(Nystroem, EqualCentresAreNoHindrance) {
  Table2 x = RandomTable(80, 2, 3);
  x[20] = x[0];
  x[40] = x[0];
  KernelMachine chosen;
  chosen.kind = {2, 1.4};
  chosen.ridge = 1e-4;
  chosen.feature_weights = {1, 1};
  const KernelMachine machine =
      SolveByCentres(AsMatrix(x).view(), AsMatrix(TargetsFor(x, 4)).view(), {0, 10, 20, 30, 40, 50}, chosen, {});
  ASSERT_EQ(machine.alpha.rows(), 6);
  EXPECT_GT(machine.jitter, 0);
  EXPECT_LT(machine.jitter, 1e-6);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(std::isfinite(machine.alpha.Row<double>(i)[0]));
  }
}

TEST(Nystroem, MoreRowsMeanFewerCentres) {
  EXPECT_EQ(CentresFor(100), 100);
  EXPECT_EQ(CentresFor(30'000), 4000);
  EXPECT_EQ(CentresFor(100'000), 2738);
  EXPECT_EQ(CentresFor(10'000'000), 500);
}

}  // namespace
}  // namespace lamina
