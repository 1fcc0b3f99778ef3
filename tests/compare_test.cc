// The comparator must catch what kernels get wrong: planted NaN, infinities, signs, shapes, and errors past
// the bound.
#include "tests/compare.h"

#include <vector>

namespace lamina {
namespace {

using oracle::Dense;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class Comparator : public testing::Test {
 protected:
  Comparator() : want_(3, 4), loose_(3, 4, 1e-3), got_(12) {
    for (size_t i = 0; i < got_.size(); ++i) {
      want_.values[i] = got_[i] = static_cast<double>(i) - 5;
    }
  }
  bool Exact() const { return bool(MatchesOracle<double>(ViewOf(got_.data(), 3, 4), want_)); }
  bool Within() const { return bool(MatchesOracle<double>(ViewOf(got_.data(), 3, 4), want_, &loose_)); }

  Dense want_;
  Dense loose_;
  std::vector<double> got_;
};

TEST_F(Comparator, AcceptsEqualAndCloseValues) {
  EXPECT_TRUE(Exact());
  got_[7] += 0.9e-3;
  EXPECT_FALSE(Exact());
  EXPECT_TRUE(Within());
}

TEST_F(Comparator, CatchesAnErrorPastTheBound) {
  got_[11] += 1.1e-3;
  EXPECT_FALSE(Within());
}

TEST_F(Comparator, CatchesNan) {
  got_[3] = kNan;
  EXPECT_FALSE(Exact());
  EXPECT_FALSE(Within());
  want_.values[3] = kNan;
  EXPECT_TRUE(Exact());
  EXPECT_TRUE(Within());
  got_[3] = 0;
  EXPECT_FALSE(Within());
}

TEST_F(Comparator, CatchesInfinity) {
  got_[0] = kInf;
  EXPECT_FALSE(Within());
  want_.values[0] = -kInf;
  EXPECT_FALSE(Within());
  want_.values[0] = kInf;
  EXPECT_TRUE(Within());
  got_[0] = 1e308;
  EXPECT_FALSE(Within());
}

TEST_F(Comparator, CatchesAWrongSign) {
  got_[0] = -got_[0];
  EXPECT_FALSE(Exact());
  EXPECT_FALSE(Within());
}

TEST_F(Comparator, CatchesAWrongShapeOrType) {
  EXPECT_FALSE(MatchesOracle<double>(ViewOf(got_.data(), 4, 3), want_));
  EXPECT_FALSE(MatchesOracle<double>(ViewOf(got_.data(), 3, 3), want_));
  const std::vector<float> floats(12);
  EXPECT_FALSE(MatchesOracle<double>(ViewOf(floats.data(), 3, 4), want_));
  const Dense bounds(4, 3, 1.0);
  EXPECT_FALSE(MatchesOracle<double>(ViewOf(got_.data(), 3, 4), want_, &bounds));
}

TEST_F(Comparator, DoesNotTakeANanBound) {
  loose_.at(0, 0) = kNan;
  EXPECT_FALSE(Within());
}

TEST_F(Comparator, ReadsStridedViews) {
  std::vector<double> wide(3 * 6, kNan);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      wide[static_cast<size_t>(i * 6 + j)] = want_.at(i, j);
    }
  }
  EXPECT_TRUE(MatchesOracle<double>(ConstMatrixView{wide.data(), 3, 4, 6, DType::kF64}, want_));
}

TEST_F(Comparator, SumBoundsGrowWithTermsAndMagnitude) {
  const Dense bounds = SumBounds(2, 9, 0.5, Dense(1, 1, 3.0));
  EXPECT_EQ(bounds.at(0, 0), 2 * 10 * 0.5 * 3);
}

}  // namespace
}  // namespace lamina
