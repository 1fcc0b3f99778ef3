// Conformal intervals: ranks by hand, coverage of new rows, the model file.
#include "lamina/model/intervals.h"

#include <cmath>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

TEST(Intervals, RanksByHand) {
  std::vector<double> distances(19);
  std::iota(distances.begin(), distances.end(), 1.0);
  EXPECT_EQ(ConformalHalfWidth(distances, 0.9), 18) << "ceil(20 * 0.9)";
  EXPECT_EQ(ConformalHalfWidth(distances, 0.95), 19);
  EXPECT_EQ(ConformalHalfWidth(distances, 0.01), 1);
  EXPECT_EQ(LeastRowsFor(0.9), 9);
  EXPECT_EQ(LeastRowsFor(0.95), 19);
  EXPECT_EQ(LeastRowsFor(0.5), 1);
  for (const double level : {0.5, 0.8, 0.9, 0.95, 0.99}) {
    const auto least = static_cast<size_t>(LeastRowsFor(level));
    EXPECT_EQ(ConformalHalfWidth(std::vector<double>(least, 2.0), level), 2);
    const Error error = CaughtError([&] { ConformalHalfWidth(std::vector<double>(least - 1, 2.0), level); });
    EXPECT_EQ(error.context().setting, "intervals");
  }
}

TEST(Intervals, HoldTheirShareOfNewRows) {
  Random random(5);
  const auto rows = [&](int count) {
    ScoredRows drawn;
    drawn.target = "y";
    for (int i = 0; i < count; ++i) {
      drawn.answers.push_back(random.Uniform(-10, 10));
      drawn.truth.push_back(drawn.answers.back() + 3 * random.Normal());
    }
    return std::vector{drawn};
  };
  for (const double level : {0.5, 0.9, 0.99}) {
    const AnswerIntervals intervals = IntervalsOf(rows(4000), level);
    EXPECT_EQ(intervals.rows, 4000);
    EXPECT_NEAR(CoverageOf(intervals, rows(20000))[0], level, 0.02);
  }
}

}  // namespace
}  // namespace lamina
