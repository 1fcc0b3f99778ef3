// Boosted trees: bins, the best question by brute force, losses, folds, and the network that says the same.
#include "lamina/boost/boosted_trees.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/boost/boosted_folds.h"
#include "lamina/boost/tree_network.h"
#include "lamina/model/evaluate.h"

namespace lamina {
namespace {

constexpr int64_t kColumns = 4;

// Two columns of numbers, one of few different numbers, one of a single number. A class or a number that a question
// about the first, one about the third and noise make.
Dataset Rows(int64_t rows, int64_t outputs, uint64_t seed, DType dtype = DType::kF64) {
  Random random(seed);
  Dataset data;
  data.features = Matrix(rows, kColumns, dtype);
  data.targets = Matrix(rows, outputs, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      T* const x = data.features.Row<T>(i);
      x[0] = static_cast<T>(std::round(1000 * random.Normal()) / 1000);  // as decimals of a table
      x[1] = static_cast<T>(std::round(1000 * random.Normal()) / 1000);
      x[2] = static_cast<T>(random.Below(5));
      x[3] = T(7);
      const double value = (x[0] > 0.3 ? 2.0 : 0.0) + (x[2] > 2 ? 1.0 : 0.0) + 0.3 * random.Normal();
      T* const y = data.targets.Row<T>(i);
      if (outputs == 1) {
        y[0] = static_cast<T>(value);
        continue;
      }
      const auto label =
          static_cast<int32_t>(std::clamp<double>(std::floor(value), 0, static_cast<double>(outputs - 1)));
      data.labels.push_back(label);
      for (int64_t k = 0; k < outputs; ++k) {
        y[k] = T(k == label ? 1 : 0);
      }
    }
  });
  return data;
}

Matrix AnswersOf(const Network& network, const Matrix& rows) {
  Model model;
  model.network = network;
  return NetworkOutputs(model, *MakeBackend("serial"), rows);
}

TEST(ColumnBins, HaveEveryNumberOrAboutAsManyRows) {
  const Dataset rows = Rows(1000, 1, 3);
  const ColumnBins bins = BinColumns(rows.features.view(), 16, 1);
  ASSERT_EQ(bins.columns(), kColumns);
  EXPECT_EQ(bins.cuts[0].size(), 15U);
  EXPECT_EQ(bins.cuts[2].size(), 4U);
  EXPECT_TRUE(bins.cuts[3].empty());
  const std::vector<uint8_t> codes = BinsOf(bins, rows.features.view(), 2);
  std::vector<int64_t> count(16, 0);
  for (int64_t i = 0; i < 1000; ++i) {
    const auto code = codes[static_cast<size_t>(i)];
    ++count[code];
    const double x = rows.features.Row<double>(i)[0];
    EXPECT_TRUE(code == 0 || x >= bins.cuts[0][code - 1U].above);
    EXPECT_TRUE(code == 15 || x <= bins.cuts[0][code].below);
    EXPECT_EQ(codes[static_cast<size_t>(2000 + i)], static_cast<uint8_t>(rows.features.Row<double>(i)[2]));
    EXPECT_EQ(codes[static_cast<size_t>(3000 + i)], 0);
  }
  for (const int64_t rows_of_bin : count) {
    EXPECT_NEAR(static_cast<double>(rows_of_bin), 1000.0 / 16, 4);
  }
}

// One tree of one question, without a ridge, at rate 1: the question that leaves the least squares, and means.
TEST(BoostedTrees, FirstQuestionIsTheBest) {
  const Dataset rows = Rows(60, 1, 5);
  const BoostedTrees trees = FitBoostedTrees(
      rows, Dataset(), {.leaves = 2, .rounds = 1, .rate = 1, .bins = 256, .columns = 1, .ridge = 0, .least_rows = 4});
  ASSERT_TRUE(trees.complete);
  ASSERT_EQ(trees.trees.size(), 1U);
  const Tree& tree = trees.trees[0];
  ASSERT_EQ(tree.size(), 3U);
  double least = std::numeric_limits<double>::infinity();
  int64_t best_column = -1;
  double best_below = 0;
  double means[2] = {};
  for (int64_t column = 0; column < kColumns; ++column) {
    for (int64_t cut = 0; cut < 60; ++cut) {
      const double below = rows.features.Row<double>(cut)[column];
      double sums[2] = {};
      double squares[2] = {};
      double counts[2] = {};
      for (int64_t i = 0; i < 60; ++i) {
        const int side = rows.features.Row<double>(i)[column] > below ? 1 : 0;
        const double y = rows.targets.Row<double>(i)[0];
        sums[side] += y;
        squares[side] += y * y;
        counts[side] += 1;
      }
      if (std::min(counts[0], counts[1]) < 4) {
        continue;
      }
      const double left = squares[0] - sums[0] * sums[0] / counts[0] + squares[1] - sums[1] * sums[1] / counts[1];
      if (left < least - 1e-9) {
        least = left;
        best_column = column;
        best_below = below;
        means[0] = sums[0] / counts[0];
        means[1] = sums[1] / counts[1];
      }
    }
  }
  EXPECT_EQ(tree[0].column, best_column);
  EXPECT_EQ(trees.bins.cuts[static_cast<size_t>(tree[0].column)][static_cast<size_t>(tree[0].cut)].below, best_below);
  const auto value = [&](int64_t node) { return tree[static_cast<size_t>(node)].value[0] + trees.start[0]; };
  EXPECT_NEAR(value(tree[0].no), means[0], 1e-12);
  EXPECT_NEAR(value(tree[0].yes), means[1], 1e-12);
}

// Its three layers answer validation rows as the trees did, whatever the numbers and the targets are.
TEST(BoostedTrees, NetworkSaysTheSame) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t outputs : {1, 2, 4}) {
      const Dataset train = Rows(400, outputs, 11, dtype);
      const Dataset validation = Rows(150, outputs, 12, dtype);
      const BoostedTrees trees = FitBoostedTrees(train, validation, {.classes = outputs > 1, .seed = 4});
      ASSERT_TRUE(trees.complete);
      ASSERT_GT(trees.trees.size(), 5U);
      EXPECT_EQ(trees.start.size(), outputs == 2 ? 1U : static_cast<size_t>(outputs));
      const Network network = NetworkOfTrees(trees, outputs, outputs > 1, dtype);
      const Matrix answers = AnswersOf(network, validation.features);
      // Numbers between two training rows are on a straight line from one answer to the other.
      int64_t equal = 0;
      double loss = 0;
      DispatchFloat(dtype, [&]<class T>(T) {
        for (int64_t i = 0; i < 150; ++i) {
          bool same = true;
          for (int64_t k = 0; k < outputs; ++k) {
            const double of_trees = trees.left_out.Row<double>(i)[k];
            same = same && std::abs(of_trees - static_cast<double>(answers.Row<T>(i)[k])) < 1e-4;
            const double truth = static_cast<double>(validation.targets.Row<T>(i)[k]);
            loss += outputs == 1 ? (of_trees - truth) * (of_trees - truth) : truth == 1 ? -std::log(of_trees) : 0;
          }
          equal += same ? 1 : 0;
        }
        const Matrix taught = AnswersOf(network, train.features);
        BoostOptions options{.classes = outputs > 1, .seed = 4};
        options.rounds = std::ssize(trees.trees);
        const BoostedTrees again = FitBoostedTrees(train, train, options);
        for (int64_t i = 0; i < 400; ++i) {
          for (int64_t k = 0; k < outputs; ++k) {
            EXPECT_NEAR(again.left_out.Row<double>(i)[k], static_cast<double>(taught.Row<T>(i)[k]), 2e-4);
          }
        }
      });
      EXPECT_GT(equal, 75);
      EXPECT_NEAR(trees.left_out_loss, loss / 150, 1e-9);
    }
  }
}

TEST(BoostedTrees, ValidationRowsEndIt) {
  const Dataset train = Rows(300, 2, 21);
  const Dataset validation = Rows(200, 2, 22);
  const BoostOptions options{.classes = true, .rounds = 400, .patience = 10};
  const BoostedTrees trees = FitBoostedTrees(train, validation, options);
  EXPECT_EQ(trees.rounds, std::ssize(trees.trees) + 10);
  EXPECT_LT(trees.rounds, 400);
  BoostOptions all = options;
  all.rounds = 30;
  const BoostedTrees without = FitBoostedTrees(train, Dataset(), all);
  EXPECT_EQ(without.trees.size(), 30U);
  EXPECT_TRUE(without.left_out.empty());
  EXPECT_TRUE(std::isnan(without.left_out_loss));
  // What is pure chance is not learned: no tree is better than none, or few are.
  Dataset chance = Rows(300, 2, 23);
  Random(9).Shuffle(std::span(chance.targets.Row<double>(0), 600));
  for (int64_t i = 0; i < 300; ++i) {
    chance.targets.Row<double>(i)[1] = 1 - chance.targets.Row<double>(i)[0];
  }
  EXPECT_LT(FitBoostedTrees(chance, validation, options).trees.size(), 8U);
}

BoostedTrees TreesByFolds(const Dataset& rows, const BoostOptions& options) {
  BoostedTrees tried = TryBoostedTrees(rows, Dataset(), options);
  return tried.complete ? LearnAllRows(rows, options, std::move(tried)) : std::move(tried);
}

TEST(BoostedTrees, AreTheSameForAnyNumberOfThreadsAndStop) {
  for (const int64_t outputs : {1, 3}) {
    const Dataset rows = Rows(500, outputs, 31);
    BoostOptions options{.classes = outputs > 1, .rounds = 40};
    const Network one = NetworkOfTrees(TreesByFolds(rows, options), outputs, outputs > 1, DType::kF64);
    for (const int threads : {2, 3}) {
      options.threads = threads;
      const Network more = NetworkOfTrees(TreesByFolds(rows, options), outputs, outputs > 1, DType::kF64);
      ASSERT_EQ(more.parameter_bytes(), one.parameter_bytes());
      EXPECT_EQ(std::memcmp(more.parameters(), one.parameters(), static_cast<size_t>(one.parameter_bytes())), 0);
    }
    int64_t asked = 0;
    options.stop_requested = [&] { return ++asked > 55; };
    EXPECT_FALSE(TreesByFolds(rows, options).complete);
  }
}

// A row of weight 2 counts as two rows; a row of weight 0 does not.
TEST(BoostedTrees, WeightsCount) {
  Dataset weighed = Rows(80, 1, 41);
  std::vector<int64_t> twice(80);
  std::iota(twice.begin(), twice.end(), 0);
  weighed.sample_weights.assign(80, 1.0);
  for (int64_t i = 0; i < 80; i += 3) {
    weighed.sample_weights[static_cast<size_t>(i)] = 2;
    twice.push_back(i);
  }
  Dataset doubled;
  doubled.features = Matrix(std::ssize(twice), kColumns, DType::kF64);
  doubled.targets = Matrix(std::ssize(twice), 1, DType::kF64);
  for (size_t i = 0; i < twice.size(); ++i) {
    std::copy_n(weighed.features.Row<double>(twice[i]), kColumns,
                doubled.features.Row<double>(static_cast<int64_t>(i)));
    doubled.targets.Row<double>(static_cast<int64_t>(i))[0] = weighed.targets.Row<double>(twice[i])[0];
  }
  const BoostOptions options{.rounds = 10, .bins = 256, .columns = 1, .least_rows = 1};
  const BoostedTrees a = FitBoostedTrees(weighed, Dataset(), options);
  const BoostedTrees b = FitBoostedTrees(doubled, Dataset(), options);
  EXPECT_NEAR(a.start[0], b.start[0], 1e-12);
  const Matrix said = AnswersOf(NetworkOfTrees(a, 1, false, DType::kF64), weighed.features);
  const Matrix of_doubled = AnswersOf(NetworkOfTrees(b, 1, false, DType::kF64), weighed.features);
  for (int64_t i = 0; i < 80; ++i) {
    EXPECT_NEAR(said.Row<double>(i)[0], of_doubled.Row<double>(i)[0], 1e-9);
  }
}

// Each fold of rows, of groups, or of the latest times is answered by trees that have not seen it.
TEST(BoostedTrees, FoldsAreLeftOut) {
  Dataset rows = Rows(200, 1, 51);
  // A number that a column tells in its group alone: the last column is the group, and the target goes with it.
  Random random(52);
  std::vector<double> of_group(20);
  for (double& x : of_group) {
    x = 10 * random.Normal();
  }
  for (int64_t i = 0; i < 200; ++i) {
    rows.features.Row<double>(i)[3] = static_cast<double>(i % 20);
    rows.targets.Row<double>(i)[0] = of_group[static_cast<size_t>(i % 20)];
  }
  const BoostOptions options{.leaves = 20, .rounds = 60, .columns = 1, .least_rows = 2};
  const double known = TreesByFolds(rows, options).left_out_loss;
  for (int64_t i = 0; i < 200; ++i) {
    rows.groups.push_back(i % 20);
  }
  const BoostedTrees by_groups = TreesByFolds(rows, options);
  EXPECT_GT(by_groups.left_out_loss, 20 * known);
  for (int64_t i = 0; i < 200; ++i) {
    EXPECT_FALSE(std::isnan(by_groups.left_out.Row<double>(i)[0]));
  }
  rows.groups.clear();
  for (int64_t i = 0; i < 200; ++i) {
    rows.times.push_back(static_cast<double>(i * 7 % 200));
  }
  const BoostedTrees by_times = TreesByFolds(rows, options);
  for (int64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(std::isnan(by_times.left_out.Row<double>(i)[0]), i * 7 % 200 < 160) << i;
  }
}

TEST(BoostedTrees, FewRowsAndColumnsWithoutQuestionsHaveTheMean) {
  for (const int64_t rows : {1, 2, 3, 12}) {
    const Dataset few = Rows(rows, 1, 61);
    const BoostedTrees trees = TreesByFolds(few, {});
    ASSERT_TRUE(trees.complete) << rows;
    double mean = 0;
    for (int64_t i = 0; i < rows; ++i) {
      mean += few.targets.Row<double>(i)[0] / static_cast<double>(rows);
    }
    const Matrix answers = AnswersOf(NetworkOfTrees(trees, 1, false, DType::kF64), few.features);
    for (int64_t i = 0; i < rows; ++i) {
      EXPECT_NEAR(answers.Row<double>(i)[0], mean, 1e-12) << rows;
    }
  }
}

}  // namespace
}  // namespace lamina
