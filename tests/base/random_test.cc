// The random numbers: a known sequence (models must be reproducible), bounds and moments.
#include "lamina/base/random.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace lamina {
namespace {

// From an independent implementation in Python of SplitMix64 seeding and xoshiro256++.
TEST(Random, KnownSequence) {
  Random zero(0);
  for (const uint64_t expected :
       {0x58F24F57E97E3F07ULL, 0x5F9A9D6F9A653406ULL, 0x6534EE33D1FD29D7ULL, 0x2E89656C364E9184ULL}) {
    EXPECT_EQ(zero.Next(), expected);
  }
  Random other(42, 3);
  for (const uint64_t expected :
       {0x2E1DCB83EFB37D39ULL, 0x6D71C9045053A89FULL, 0x602D7531D00EBAE6ULL, 0x6BDCB06833F31CF5ULL}) {
    EXPECT_EQ(other.Next(), expected);
  }
}

TEST(Random, StreamsDiffer) {
  Random a(1, 0);
  Random b(1, 1);
  Random c(2, 0);
  const uint64_t first = a.Next();
  EXPECT_NE(first, b.Next());
  EXPECT_NE(first, c.Next());
}

TEST(Random, UniformStaysInRange) {
  Random random(5);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = random.Uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += random.Uniform(-3, 1);
  }
  EXPECT_NEAR(sum / 100000, -1.0, 5 * 4 / std::sqrt(12.0 * 100000));
}

TEST(Random, BelowIsUnbiased) {
  Random random(11);
  constexpr int kDraws = 120000;
  for (const uint64_t n : {1U, 2U, 3U, 6U, 7U}) {
    std::vector<int> counts(n);
    for (int i = 0; i < kDraws; ++i) {
      const uint64_t k = random.Below(n);
      ASSERT_LT(k, n);
      ++counts[k];
    }
    const double expected = static_cast<double>(kDraws) / static_cast<double>(n);
    for (const int count : counts) {
      EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << n;
    }
  }
  // 3/4 of the range: without rejection the lower half of the values would come up twice as often as each third.
  const uint64_t huge = std::numeric_limits<uint64_t>::max() / 4 * 3;
  int low = 0;
  for (int i = 0; i < kDraws; ++i) {
    const uint64_t k = random.Below(huge);
    ASSERT_LT(k, huge);
    low += k < huge / 2 ? 1 : 0;
  }
  EXPECT_NEAR(low, kDraws / 2, 5 * std::sqrt(kDraws / 4.0));
}

TEST(Random, NormalMoments) {
  Random random(13);
  constexpr int kDraws = 200000;
  double sum = 0;
  double square = 0;
  double cube = 0;
  double fourth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.Normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    square += x * x;
    cube += x * x * x;
    fourth += x * x * x * x;
  }
  const double error = 5 / std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(sum / kDraws, 0.0, error);
  EXPECT_NEAR(square / kDraws, 1.0, error * std::sqrt(2.0));
  EXPECT_NEAR(cube / kDraws, 0.0, error * std::sqrt(15.0));
  EXPECT_NEAR(fourth / kDraws, 3.0, error * std::sqrt(96.0));
}

TEST(Random, ShufflePermutesEvenly) {
  Random random(17);
  constexpr int kDraws = 60000;
  std::vector<int> counts(9);  // position of each of three items
  for (int i = 0; i < kDraws; ++i) {
    std::vector<int> items{0, 1, 2};
    random.Shuffle(std::span(items));
    for (int at = 0; at < 3; ++at) {
      ++counts[static_cast<size_t>(3 * at + items[static_cast<size_t>(at)])];
    }
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, kDraws / 3, 5 * std::sqrt(kDraws / 3.0));
  }
  std::vector<int> many(1000);
  std::iota(many.begin(), many.end(), 0);
  random.Shuffle(std::span(many));
  EXPECT_FALSE(std::is_sorted(many.begin(), many.end()));
  std::sort(many.begin(), many.end());
  EXPECT_EQ(many.front(), 0);
  EXPECT_EQ(many[999], 999);
  std::vector<int> none;
  random.Shuffle(std::span(none));
}

}  // namespace
}  // namespace lamina
