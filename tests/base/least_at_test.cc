// Golden section: where a function is least.
#include "lamina/base/least_at.h"

#include <gtest/gtest.h>

namespace lamina {
namespace {

TEST(LeastAt, FindsTheLowestPoint) {
  EXPECT_NEAR(LeastAt(-4, 5, 40, [](double x) { return (x - 1.3) * (x - 1.3); }), 1.3, 1e-6);
}

TEST(LeastAt, EndsAtAnEdgeWhereTheFunctionOnlyFalls) {
  EXPECT_NEAR(LeastAt(0, 1, 30, [](double x) { return -x; }), 1, 1e-5);
}

TEST(LeastAt, AsksOftenEnoughAndNoMore) {
  int asked = 0;
  const double at = LeastAt(0, 1, 10, [&](double x) { return ++asked, x * x; });
  EXPECT_EQ(asked, 12);
  EXPECT_LT(at, 0.01);
}

}  // namespace
}  // namespace lamina
