// Rows with the same inputs: what they tell of each other, and the network that says it.
#include "lamina/run/twins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/model/evaluate.h"
#include "lamina/run/cross_validation.h"
#include "lamina/run/session.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

constexpr int kPlaces = 100;
constexpr int kAlone = 60;
constexpr int kFolds = 4;

Matrix Copy(const Matrix& from) {
  Matrix copy(from.rows(), from.cols(), from.dtype());
  std::copy_n(from.Row<double>(0), from.rows() * from.cols(), copy.Row<double>(0));
  return copy;
}

// Pairs of rows, and rows alone behind them. `common`: of what two leave of their variance.
struct TwinRows {
  Matrix inputs{2 * kPlaces + kAlone, 3, DType::kF64};
  Matrix rest{2 * kPlaces + kAlone, 1, DType::kF64};

  explicit TwinRows(double common, double seen = 1) {
    Random random(3);
    for (int i = 0; i < inputs.rows(); ++i) {
      const bool second = i < 2 * kPlaces && i % 2 == 1;
      for (int j = 0; j < 3; ++j) {
        inputs.Row<double>(i)[j] = second ? inputs.Row<double>(i - 1)[j] : random.Normal();
      }
    }
    for (int i = 0; i < rest.rows(); i += 2) {
      const double together = std::sqrt(common) * random.Normal() * (Fold(i) == Fold(i + 1) ? 1 : seen);
      const double own = std::sqrt(1 - common);
      rest.Row<double>(i)[0] = together + own * random.Normal();
      rest.Row<double>(i + 1)[0] = (i < 2 * kPlaces ? together : random.Normal()) + own * random.Normal();
    }
  }

  // Half of the pairs are in the same fold.
  static int Fold(int row) { return row % 4 < 2 ? row / 4 % kFolds : row % kFolds; }

  TwinSearch Search() const {
    TwinSearch search;
    for (int fold = kFolds - 1; fold >= 0; --fold) {
      Dataset test;
      for (int i = 0; i < inputs.rows(); ++i) {
        if (Fold(i) == fold) {
          test.rows.push_back(10 * i);  // of a table
        }
      }
      test.features = Matrix(std::ssize(test.rows), 3, DType::kF64);
      for (int64_t i = 0; i < test.features.rows(); ++i) {
        std::copy_n(inputs.Row<double>(test.rows[static_cast<size_t>(i)] / 10), 3, test.features.Row<double>(i));
      }
      search.Keep(static_cast<size_t>(fold), test);
    }
    return search;
  }

  std::optional<Twins> Found() const { return Search().Find({Copy(rest), Copy(rest)}); }
};

Matrix Said(const Twins& twins, const Matrix& inputs) {
  Model model;
  model.network = twins.network;
  return NetworkOutputs(model, *MakeBackend("cpu", {.threads = 1}), inputs);
}

TEST(Twins, ARowTellsOfItsTwin) {
  const TwinRows rows(0.9);
  const std::optional<Twins> twins = rows.Found();
  ASSERT_TRUE(twins);
  EXPECT_EQ(twins->rows, 2 * kPlaces);
  EXPECT_NEAR(twins->agreement, 0.9, 0.05);
  double before = 0;
  double after = 0;
  for (int i = 0; i < rows.rest.rows(); ++i) {
    const double told = twins->told.Row<double>(i)[0];
    if (i >= 2 * kPlaces) {
      EXPECT_EQ(told, 0);
      continue;
    }
    EXPECT_NEAR(told, twins->agreement * rows.rest.Row<double>(i ^ 1)[0], 1e-9);
    before += std::pow(rows.rest.Row<double>(i)[0], 2);
    after += std::pow(rows.rest.Row<double>(i)[0] - told, 2);
  }
  EXPECT_LT(after, 0.3 * before);  // 1 - 0.9²
}

TEST(Twins, TheNetworkSaysTheShrunkMeanOfAPlaceAndNothingElsewhere) {
  const TwinRows rows(0.9);
  const std::optional<Twins> twins = rows.Found();
  ASSERT_TRUE(twins);
  const Matrix said = Said(*twins, rows.inputs);
  const double v = twins->agreement;
  for (int i = 0; i < 2 * kPlaces; ++i) {
    const double sum = rows.rest.Row<double>(i)[0] + rows.rest.Row<double>(i ^ 1)[0];
    EXPECT_NEAR(said.Row<double>(i)[0], sum * v / (2 * v + 1 - v), 0.1 * std::abs(sum));  // seen twins cost nothing
  }
  for (int i = 2 * kPlaces; i < rows.inputs.rows(); ++i) {
    EXPECT_NEAR(said.Row<double>(i)[0], rows.rest.Row<double>(i)[0] * v, 0.1 * std::abs(rows.rest.Row<double>(i)[0]));
  }
  Matrix elsewhere = Copy(rows.inputs);
  for (int i = 0; i < elsewhere.rows(); ++i) {
    elsewhere.Row<double>(i)[1] += 0.01;
  }
  const Matrix nothing = Said(*twins, elsewhere);
  for (int i = 0; i < elsewhere.rows(); ++i) {
    EXPECT_NEAR(nothing.Row<double>(i)[0], 0, 1e-9);
  }
}

TEST(Twins, WhatModelsHaveLearntOfATwinIsNotSaidTwice) {
  const TwinRows rows(0.95, 0.5);
  const std::optional<Twins> twins = rows.Found();
  ASSERT_TRUE(twins);
  // Three fourths of the models have seen the row, and leave half of it.
  const int alone = 2 * kPlaces + 7;
  const double share = Said(*twins, rows.inputs).Row<double>(alone)[0] / rows.rest.Row<double>(alone)[0];
  EXPECT_NEAR(share / twins->agreement, 0.25 + 0.75 * 0.5, 0.1);
}

TEST(Twins, RowsThatTellNothingAreLeftAlone) {
  EXPECT_FALSE(TwinRows(0).Found());
  EXPECT_FALSE(TwinRows(0.05).Found());
  TwinRows rows(0.9);
  for (int i = 60; i < 2 * kPlaces; ++i) {
    rows.inputs.Row<double>(i)[0] += i;  // no twins any more
  }
  EXPECT_TRUE(rows.Found());
  for (int i = 30; i < 60; ++i) {
    rows.inputs.Row<double>(i)[0] += i;
  }
  EXPECT_FALSE(rows.Found());
  EXPECT_FALSE(TwinSearch().Find({Matrix(), Matrix()}));
}

TEST(Twins, PlacesNearToOthersHaveNoNeuron) {
  TwinRows rows(0.9);
  const int64_t neurons = rows.Found()->network.layers().front().outputs;
  EXPECT_EQ(neurons, kPlaces + kAlone);
  const int alone = 2 * kPlaces + 3;
  std::copy_n(rows.inputs.Row<double>(0), 3, rows.inputs.Row<double>(alone));
  rows.inputs.Row<double>(alone)[2] += 1e-4;
  EXPECT_EQ(rows.Found()->network.layers().front().outputs, neurons - 2);
}

// A table whose rows come again, answer and noise included. `group`: another column.
std::string TwinTable(int rows, bool group) {
  Random random(7);
  std::vector<std::string> lines;
  for (int i = 0; i < rows; ++i) {
    const double a = random.Normal();
    const double b = random.Normal();
    std::string line = fmt::format("{:.6f},{:.6f},{:.6f}", a, b, a + std::sin(b) + random.Normal());
    lines.insert(lines.end(), i % 2 == 0 ? 2 : 1, group ? line + fmt::format(",g{}", i % 9) : line);
  }
  random.Shuffle(std::span(lines));
  std::string text = group ? "a,b,y,g\n" : "a,b,y\n";
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

TEST(Twins, BestAnswersRowsThatComeAgain) {
  const TemporaryFolder folder;
  for (const bool group : {false, true}) {
    TrainSettings settings;
    settings.data = folder.Write(group ? "group.csv" : "x.csv", TwinTable(200, group));
    settings.target = {"y"};
    settings.group = group ? "g" : "";
    settings.effort = "best";
    settings.time_limit = "2s";
    settings.threads = 1;
    const RawData raw = ReadRawData(settings);
    const CrossValidation found = CrossValidate(settings, raw, {});
    const auto tells = [](const std::string& remark) { return remark.find("same inputs") != std::string::npos; };
    EXPECT_EQ(std::ranges::any_of(found.remarks, tells), !group);
    TrainSession session(found.final_settings, raw, found.found);
    session.Run({});
    EXPECT_TRUE(CheckEnsemble(session.model()));
    if (!group) {
      EXPECT_EQ(session.model().others.back().layers().front().synapse, Synapse::kL1);
      // Two rows of three are known by their twin: noise of variance 1 is left of the third.
      EXPECT_LT(found.metrics.front().all.value, 0.8);
    }
  }
}

}  // namespace
}  // namespace lamina
