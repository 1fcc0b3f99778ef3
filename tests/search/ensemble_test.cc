// Which networks answer together.
#include "lamina/search/ensemble.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/random.h"

namespace lamina {
namespace {

Matrix Answers(const std::vector<double>& numbers) {
  Matrix matrix(std::ssize(numbers), 1, DType::kF64);
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    *matrix.Row<double>(i) = numbers[static_cast<size_t>(i)];
  }
  return matrix;
}

double SquareOf(const Matrix& mean) {  // the truth is zero
  double sum = 0;
  for (int64_t i = 0; i < mean.rows(); ++i) {
    sum += *mean.Row<double>(i) * *mean.Row<double>(i);
  }
  return sum;
}

EnsembleChoice Choose(const std::vector<std::vector<double>>& answers, int64_t most) {
  std::vector<Matrix> matrices;
  for (const std::vector<double>& numbers : answers) {
    matrices.push_back(Answers(numbers));
  }
  return ChooseEnsemble(matrices, most, &SquareOf);
}

TEST(ChooseEnsemble, TakesTheOneThatIsRight) {
  const EnsembleChoice choice = Choose({{1, 1}, {0, 0}, {-1, 2}}, 3);
  EXPECT_EQ(choice.counts, (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(choice.loss, 0);
  EXPECT_EQ(choice.alone, 0);
}

TEST(ChooseEnsemble, AddsWhatErrsTheOtherWay) {
  const EnsembleChoice two = Choose({{1, 1}, {-1, -1}}, 2);
  EXPECT_EQ(two.counts, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(two.loss, 0);
  EXPECT_EQ(two.alone, 2);
  const EnsembleChoice often = Choose({{1, 1}, {-2, -2}}, 2);  // twice against once
  EXPECT_EQ(often.counts, (std::vector<int64_t>{2, 1}));
  EXPECT_NEAR(often.loss, 0, 1e-30);
}

TEST(ChooseEnsemble, TakesNoMoreThanAskedFor) {
  const std::vector<std::vector<double>> answers{{1, 0, 0}, {0, 1.1, 0}, {0, 0, 1.2}};
  EXPECT_EQ(Choose(answers, 1).counts, (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(Choose(answers, 2).counts[2], 0);
  const EnsembleChoice all = Choose(answers, 3);
  EXPECT_GT(all.counts[2], 0);
  EXPECT_LT(all.loss, Choose(answers, 2).loss);
}

TEST(ChooseEnsemble, IsNeverWorseThanTheBestAlone) {
  Random random(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<std::vector<double>> answers(6);
    double least = std::numeric_limits<double>::infinity();
    for (std::vector<double>& numbers : answers) {
      for (int i = 0; i < 15; ++i) {
        numbers.push_back(random.Normal());
      }
      least = std::min(least, SquareOf(Answers(numbers)));
    }
    const EnsembleChoice choice = Choose(answers, 6);
    EXPECT_EQ(choice.alone, least);
    EXPECT_LE(choice.loss, choice.alone);
  }
}

TEST(ChooseEnsemble, LeavesOutWhatHasNoLoss) {
  const double nan = std::nan("");
  EXPECT_EQ(Choose({{nan, 0}, {3, 3}}, 2).counts, (std::vector<int64_t>{0, 1}));
}

}  // namespace
}  // namespace lamina
