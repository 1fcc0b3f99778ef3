// Sums of columns: which pairs, their numbers, trees that ask about them, and the network that says the same.
#include "lamina/boost/column_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/boost/boosted_folds.h"
#include "lamina/boost/boosted_trees.h"
#include "lamina/boost/tree_network.h"
#include "lamina/model/evaluate.h"

namespace lamina {
namespace {

constexpr int64_t kStripeColumns = 5;

// Columns 1 and 3, of very different spread, say by their sum in which stripe a row is. Column 2 has few numbers, and
// column 4 is column 1 again, rounded otherwise.
Dataset Stripes(int64_t rows, int64_t outputs, uint64_t seed, DType dtype = DType::kF32) {
  Random random(seed);
  Dataset data;
  data.features = Matrix(rows, kStripeColumns, dtype);
  data.targets = Matrix(rows, outputs, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      T* const x = data.features.Row<T>(i);
      const double a = random.Normal();
      const double b = random.Normal();
      x[0] = static_cast<T>(random.Normal());
      x[1] = static_cast<T>(100 * a);
      x[2] = static_cast<T>(random.Below(4));
      x[3] = static_cast<T>(b / 100);
      x[4] = static_cast<T>(x[1] / T(3)) * T(3);
      const auto stripe = static_cast<int32_t>(std::floor(2 * (a + b)));
      const double value = (stripe % 2 == 0 ? 1 : -1) + 0.2 * random.Normal();
      T* const y = data.targets.Row<T>(i);
      if (outputs == 1) {
        y[0] = static_cast<T>(value);
        continue;
      }
      data.labels.push_back((value > 0 ? 1 : 0) + (outputs > 2 && x[2] > 2 ? 1 : 0));
      y[data.labels.back()] = 1;
    }
  });
  return data;
}

TEST(ColumnSums, ArePairsThatTreesAskOneBelowTheOther) {
  const Dataset rows = Stripes(2000, 1, 1);
  const BoostedTrees trees = FitBoostedTrees(rows, Dataset(), {.leaves = 16, .rounds = 50});
  const std::vector<ColumnSum> one = SumsOfPairs(trees, rows.features, 1);
  ASSERT_EQ(one.size(), 2U);
  for (const ColumnSum& sum : one) {
    EXPECT_TRUE(sum.first == 1 || sum.first == 3) << sum.first;  // column 4 says what column 1 does
    EXPECT_TRUE(sum.second == 3 || sum.second == 4) << sum.second;
    EXPECT_NEAR(sum.first_weight * (sum.first == 3 ? 0.01 : 100), 1, 0.05);
    EXPECT_NEAR(std::abs(sum.second_weight) * (sum.second == 3 ? 0.01 : 100), 1, 0.05);
    EXPECT_GT(sum.size, 4);  // both at their largest
    EXPECT_LT(sum.size, 15);
  }
  EXPECT_EQ(one[0].second_weight, -one[1].second_weight);
  const std::vector<ColumnSum> all = SumsOfPairs(trees, rows.features, 20);
  EXPECT_GT(all.size(), 2 * one.size());
  for (const ColumnSum& sum : all) {
    EXPECT_LT(sum.first, sum.second);
    EXPECT_NE(sum.first, 2) << "of few different numbers";
    EXPECT_NE(sum.second, 2);
  }
  EXPECT_TRUE(SumsOfPairs(trees, rows.features, 0).empty());
  EXPECT_TRUE(SumsOfPairs(FitBoostedTrees(rows, Dataset(), {.leaves = 2}), rows.features, 5).empty())
      << "trees of one question have no pair";
}

TEST(ColumnSums, AreRoundedOnce) {
  const ColumnSum sums[] = {{0, 1, 0.1, -3, 0}, {1, 3, 1, 1, 0}};
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Dataset rows = Stripes(50, 1, 2, dtype);
    const Matrix made = SumsOf(rows.features, sums);
    ASSERT_EQ(made.rows(), 50);
    ASSERT_EQ(made.cols(), 2);
    DispatchFloat(dtype, [&]<class T>(T) {
      for (int64_t i = 0; i < 50; ++i) {
        const T* const x = rows.features.Row<T>(i);
        EXPECT_EQ(made.Row<T>(i)[0], static_cast<T>(double{T(0.1)} * double{x[0]} - 3 * double{x[1]}));
        EXPECT_EQ(made.Row<T>(i)[1], static_cast<T>(double{x[1]} + double{x[3]}));
      }
    });
  }
}

// The difference of a column and itself is rounding alone.
TEST(ColumnSums, AreNotCutWhereOnlyRoundingDiffers) {
  const Dataset rows = Stripes(1000, 1, 3);
  const std::vector<ColumnSum> sums = {{1, 4, 0.01, -0.01, 8}, {1, 3, 0.01, 100, 8}};
  const Matrix made = SumsOf(rows.features, sums);
  EXPECT_FALSE(BinColumns(made.view(), 64, 1).cuts[0].empty());
  const ColumnBins bins = BinColumns(made.view(), 64, 1, SurelyApart(sums, DType::kF32));
  EXPECT_TRUE(bins.cuts[0].empty());
  EXPECT_EQ(bins.cuts[1].size(), 63U);
}

double LossOf(const BoostedTrees& trees) { return trees.left_out_loss; }

// A network of four layers; its answers to training rows, at the ends of cuts, are those of the trees.
TEST(ColumnSums, TreesThatAskAboutThemAreANetwork) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t outputs : {1, 2, 3}) {
      const Dataset rows = Stripes(1500, outputs, 4, dtype);
      BoostOptions options{.classes = outputs > 1, .leaves = 16, .rounds = 120};
      const BoostedTrees without = FitBoostedTrees(rows, Stripes(600, outputs, 5, dtype), options);
      options.sums = SumsOfPairs(without, rows.features, 3);
      const BoostedTrees with = FitBoostedTrees(rows, Stripes(600, outputs, 5, dtype), options);
      EXPECT_LT(LossOf(with), 0.8 * LossOf(without));
      EXPECT_EQ(with.sums.size(), options.sums.size());
      options.patience = options.rounds;
      const BoostedTrees trees = FitBoostedTrees(rows, rows, options);
      Model model;
      model.network = NetworkOfTrees(trees, outputs, outputs > 1, dtype);
      ASSERT_EQ(model.network.layers().size(), 4U);
      EXPECT_EQ(model.network.inputs(), kStripeColumns);
      const Matrix answers = NetworkOutputs(model, *MakeBackend("serial"), rows.features);
      DispatchFloat(dtype, [&]<class T>(T) {
        for (int64_t i = 0; i < rows.size(); ++i) {
          for (int64_t k = 0; k < outputs; ++k) {
            ASSERT_NEAR(double{answers.Row<T>(i)[k]}, trees.left_out.Row<double>(i)[k], 1e-5) << i << ", " << k;
          }
        }
      });
    }
  }
}

TEST(ColumnSums, NobodyAsksAboutLeaveThreeLayers) {
  const Dataset rows = Stripes(400, 1, 6);
  const BoostedTrees trees =
      FitBoostedTrees(rows, Dataset(), {.leaves = 4, .rounds = 5, .columns = 1, .sums = {{1, 4, 0.01, -0.01, 8}}});
  ASSERT_EQ(trees.sums.size(), 1U);
  EXPECT_EQ(NetworkOfTrees(trees, 1, false, DType::kF32).layers().size(), 3U);
}

TEST(ColumnSums, FoldsHaveThemToo) {
  const Dataset rows = Stripes(900, 1, 7);
  BoostOptions options{.leaves = 16};
  const BoostedTrees without = TryBoostedTrees(rows, Dataset(), options);
  options.sums = SumsOfPairs(without, rows.features, 3);
  EXPECT_GT(BoostOperations(rows, false, options), BoostOperations(rows, false, {.leaves = 16}));
  EXPECT_LT(LossOf(TryBoostedTrees(rows, Dataset(), options)), 0.9 * LossOf(without));
}

// Trees end soon where others have less loss after as many rounds; where none has, they are the same.
TEST(BoostedTrees, EndWhereOthersAreBetter) {
  const Dataset rows = Stripes(800, 1, 8);
  const Dataset left_out = Stripes(400, 1, 9);
  BoostOptions options{.leaves = 16, .rounds = 100, .patience = 100};
  const BoostedTrees free = FitBoostedTrees(rows, left_out, options);
  ASSERT_EQ(free.rounds, 100);
  ASSERT_EQ(std::ssize(free.losses), free.rounds);
  options.to_beat = free.losses;
  EXPECT_EQ(FitBoostedTrees(rows, left_out, options).rounds, 30);
  std::ranges::transform(free.losses, options.to_beat.begin(), [](double loss) { return 1.01 * loss; });
  const BoostedTrees better = FitBoostedTrees(rows, left_out, options);
  EXPECT_EQ(better.losses, free.losses);
  EXPECT_EQ(better.trees.size(), free.trees.size());
}

}  // namespace
}  // namespace lamina
