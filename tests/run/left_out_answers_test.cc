// What models say to rows that they have not seen: means, temperatures, and how sure a mix is.
#include "lamina/run/left_out_answers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace lamina {
namespace {

// Rows 0 to 3 of two classes; the answers of two repeats of two folds.
TEST(LeftOutAnswers, MeansOfRepeatsAtOneTemperature) {
  std::vector<Dataset> tests(2);
  for (size_t f = 0; f < 2; ++f) {
    tests[f].targets = Matrix(2, 2, DType::kF32);
    for (int64_t i = 0; i < 2; ++i) {
      const int32_t label = static_cast<int32_t>(i);
      tests[f].labels.push_back(label);
      tests[f].rows.push_back(2 * static_cast<int64_t>(f) + i);
      tests[f].targets.Row<float>(i)[label] = 1;
      tests[f].targets.Row<float>(i)[1 - label] = 0;
    }
  }
  const LeftOutRows rows(tests, 4, /*classes=*/true);
  Network network({{1, 2, Synapse::kDot, Activation("softmax"), true}}, DType::kF32);
  std::vector<TrainedFold> folds;
  const double right[] = {0.9, 0.8, 0.7, 0.4};  // the probability of each row's class
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (size_t f = 0; f < 2; ++f) {
      TrainedFold fold{network, Matrix(2, 2, DType::kF32), tests[f].rows};
      for (int64_t i = 0; i < 2; ++i) {
        fold.outputs.Row<float>(i)[i] = static_cast<float>(right[fold.rows[static_cast<size_t>(i)]]);
        fold.outputs.Row<float>(i)[1 - i] = 1 - fold.outputs.Row<float>(i)[i];
      }
      folds.push_back(std::move(fold));
    }
  }
  const LeftOutModel model = rows.Together(folds);
  // The best temperature by a fine grid.
  const auto loss_at = [&](double temperature) {
    double sum = 0;
    for (const double p : right) {
      sum += std::log1p(std::exp(-std::log(p / (1 - p)) / temperature));
    }
    return sum / 4;
  };
  double best = 1;
  for (double temperature = 0.1; temperature < 5; temperature += 0.001) {
    best = loss_at(temperature) < loss_at(best) ? temperature : best;
  }
  EXPECT_NEAR(model.temperature, best, 0.002);
  EXPECT_NEAR(model.loss, loss_at(best), 1e-6);
  EXPECT_NEAR(model.answers.Row<double>(0)[0], 1 / (1 + std::pow(0.1 / 0.9, 1 / best)), 1e-3);
}

// Two models, each sure of one half of the rows with 0.9, which is right, and of the other with 0.5: their mean says
// 0.7.
struct UnsureMix {
  explicit UnsureMix(int64_t rows) {
    std::vector<Dataset> tests(1);
    Dataset& test = tests[0];
    test.targets = Matrix(rows, 2, DType::kF32);
    const Network network({{1, 2, Synapse::kDot, Activation("softmax"), true}}, DType::kF32);
    for (int64_t i = 0; i < rows; ++i) {
      const bool first = i % 10 != 0;
      test.rows.push_back(i);
      test.labels.push_back(first ? 0 : 1);
      test.targets.Row<float>(i)[0] = first ? 1 : 0;
      test.targets.Row<float>(i)[1] = first ? 0 : 1;
    }
    for (int64_t half = 0; half < 2; ++half) {
      folds.push_back({network, Matrix(rows, 2, DType::kF32), test.rows});
      for (int64_t i = 0; i < rows; ++i) {
        folds.back().outputs.Row<float>(i)[0] = i * 2 / rows == half ? 0.9F : 0.5F;
        folds.back().outputs.Row<float>(i)[1] = 1 - folds.back().outputs.Row<float>(i)[0];
      }
    }
    left_out = LeftOutRows(tests, rows, /*classes=*/true);
    for (const TrainedFold& fold : folds) {
      mix.push_back({{&fold, 1}, 1, 0.5});
    }
  }

  // -ln of how likely the mix makes the truth at a sureness.
  double Unlikelihood(double sureness) const {
    const double sure = 1 / (1 + std::pow(1.0 / 9, sureness));
    const double right = (sure + 0.5) / 2;
    return -static_cast<double>(left_out.size()) * (0.9 * std::log(right) + 0.1 * std::log(1 - right));
  }

  std::vector<TrainedFold> folds;
  LeftOutRows left_out;
  std::vector<MixedModel> mix;
};

TEST(LeftOutAnswers, AMixOfManyRowsIsAsSureAsTheyAreRight) {
  const UnsureMix unsure(4000);
  double best = 1;
  for (double sureness = 0.5; sureness < 2; sureness += 0.001) {
    const auto cost = [&](double x) { return unsure.Unlikelihood(x) + 100 * std::pow(std::log(x) - 0.1, 2); };
    best = cost(sureness) < cost(best) ? sureness : best;
  }
  EXPECT_GT(best, 1.5);
  const double sureness = unsure.left_out.SurenessOf(unsure.mix);
  EXPECT_NEAR(sureness, best, 0.01);
  const std::vector<MixedModel> one = {{std::span(unsure.folds).first(1), 1 / sureness, 1}};
  const Matrix surer = unsure.left_out.AnswersOf(one);
  EXPECT_NEAR(surer.Row<double>(0)[0], 1 / (1 + std::pow(1.0 / 9, sureness)), 1e-6);
  EXPECT_NEAR(surer.Row<double>(3999)[0], 0.5, 1e-6);
}

TEST(LeftOutAnswers, AMixOfFewRowsIsAsSureAsUsual) {
  const UnsureMix unsure(10);
  EXPECT_NEAR(unsure.left_out.SurenessOf(unsure.mix), std::exp(0.1), 0.02);
}

TEST(LeftOutAnswers, ANetworkOfSumsBecomesOneOfProbabilities) {
  Network network({{1, 2, Synapse::kDot, Activation(), /*bias=*/false}}, DType::kF64);
  network.Weights(0).Row<double>(0)[0] = 3;
  network.Weights(0).Row<double>(1)[0] = -1;
  const Network tempered = WithSoftmax(network, 2);
  EXPECT_TRUE(tempered.layers().back().activation.is_softmax());
  EXPECT_DOUBLE_EQ(tempered.Weights(0).Row<double>(0)[0], 1.5);
  EXPECT_DOUBLE_EQ(tempered.Weights(0).Row<double>(1)[0], -0.5);
}

// One model is right but for one far row, another never quite. Squares would leave the choice to that row.
TEST(LeftOutAnswers, AFarRowDoesNotChooseAlone) {
  constexpr int64_t kRows = 200;
  std::vector<Dataset> tests(1);
  tests[0].targets = Matrix(kRows, 1, DType::kF64);
  std::vector<Matrix> chosen;
  for (const auto& [usual, far] : {std::pair(0.1, 18.0), std::pair(1.0, 9.0)}) {
    Matrix& errors = chosen.emplace_back(kRows, 1, DType::kF64);
    for (int64_t i = 0; i < kRows; ++i) {
      *errors.Row<double>(i) = i == 0 ? far : usual;
    }
  }
  for (int64_t i = 0; i < kRows; ++i) {
    tests[0].rows.push_back(i);
  }
  const LeftOutRows rows(tests, kRows, /*classes=*/false);
  const auto squares = [&](const Matrix& mean) { return rows.LossOf(mean); };
  const EnsembleChoice by_squares = ChooseEnsemble(chosen, 2, squares, 10);
  EXPECT_LT(by_squares.counts[0], by_squares.counts[1]);
  const EnsembleChoice choice = rows.Choose(chosen);
  EXPECT_GT(choice.counts[0], choice.counts[1]);
  const auto total = static_cast<double>(choice.counts[0] + choice.counts[1]);
  const double share = static_cast<double>(choice.counts[0]) / total;
  const double usual = 0.1 * share + 1 - share;
  const double far = 18 * share + 9 * (1 - share);
  EXPECT_NEAR(choice.loss, ((kRows - 1) * usual * usual + far * far) / kRows, 1e-9);
}

}  // namespace
}  // namespace lamina
