// Lines by least squares, checked against the law that made the targets.
#include "lamina/data/encode/line_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "lamina/base/random.h"

namespace lamina {
namespace {

struct LineRows {
  Matrix x;
  Matrix y;
};

// Three columns, the last of which is the sum of the others, and two targets: 2 a - b + 5 + noise, and -a.
LineRows MakeLineRows(int64_t count, double noise) {
  Random random(3);
  LineRows rows{Matrix(count, 3, DType::kF64), Matrix(count, 2, DType::kF64)};
  for (int64_t i = 0; i < count; ++i) {
    double* const x = rows.x.Row<double>(i);
    x[0] = random.Normal();
    x[1] = random.Normal();
    x[2] = x[0] + x[1];
    rows.y.Row<double>(i)[0] = 2 * x[0] - x[1] + 5 + noise * random.Normal();
    rows.y.Row<double>(i)[1] = -x[0];
  }
  return rows;
}

TEST(LineFit, FindsTheLawThoughColumnsAreSumsOfOthers) {
  const LineRows rows = MakeLineRows(400, 0);
  const LineFit line(rows.x, rows.y);
  for (const double a : {-2.0, 0.0, 3.0}) {
    const double x[] = {a, 1, a + 1};
    double y[2];
    line.Answer(x, y);
    EXPECT_NEAR(y[0], 2 * a - 1 + 5, 1e-4) << a;
    EXPECT_NEAR(y[1], -a, 1e-4) << a;
  }
  ASSERT_EQ(line.weights().rows(), 2);
  EXPECT_EQ(line.weights().cols(), 4);
  EXPECT_NEAR(line.weights().Row<double>(0)[3], 5, 1e-4);
}

TEST(LineFit, LooksAtTheRowsThatItIsGiven) {
  LineRows rows = MakeLineRows(400, 0);
  for (int64_t i = 1; i < 400; i += 2) {  // another law
    rows.y.Row<double>(i)[0] = 100;
  }
  double y[2];
  const double x[] = {1, 1, 2};
  LineFit(rows.x, rows.y, 0, 2).Answer(x, y);
  EXPECT_NEAR(y[0], 6, 1e-4);
  LineFit(rows.x, rows.y, 1, 2).Answer(x, y);
  EXPECT_NEAR(y[0], 100, 1e-3);
}

TEST(LineFit, HalvesTellTheErrorOfRowsNotSeen) {
  const double noise = 0.5;
  const LineRows rows = MakeLineRows(2000, noise);
  const auto sums = [](const Matrix& each) {
    std::vector<double> sum(static_cast<size_t>(each.cols()));
    for (int64_t i = 0; i < each.rows(); ++i) {
      std::transform(sum.begin(), sum.end(), each.Row<double>(i), sum.begin(), std::plus<>());
    }
    return sum;
  };
  const std::vector<double> errors = sums(SquaredErrorsOfHalves(rows.x, rows.y));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NEAR(errors[0] / 2000, noise * noise, 0.05 * noise * noise);
  EXPECT_LT(errors[1] / 2000, 1e-8);

  const LineRows few = MakeLineRows(8, 1);  // four rows for four numbers: learned by heart, and wrong elsewhere
  LineRows seen = MakeLineRows(4, 1);
  const LineFit line(seen.x, seen.y);
  double by_heart = 0;
  double y[2];
  for (int64_t i = 0; i < 4; ++i) {
    line.Answer(seen.x.Row<double>(i), y);
    by_heart += (y[0] - seen.y.Row<double>(i)[0]) * (y[0] - seen.y.Row<double>(i)[0]);
  }
  EXPECT_LT(4 * by_heart, sums(SquaredErrorsOfHalves(few.x, few.y))[0]);
}

}  // namespace
}  // namespace lamina
