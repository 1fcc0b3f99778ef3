// Tests of where distance neurons start.
#include "lamina/settings/centres.h"
#include "lamina/rbf/mean_distance.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/run/session.h"
#include "tests/source_folder.h"

namespace lamina {
namespace {

// Rows 0, 1, 2, ... in every feature: the distance of rows i and j is |i - j| times a constant.
Dataset Ladder(int64_t rows, int64_t features) {
  Dataset dataset;
  dataset.features = Matrix(rows, features, DType::kF32);
  for (int64_t i = 0; i < rows; ++i) {
    std::fill_n(dataset.features.Row<float>(i), features, static_cast<float>(i));
  }
  return dataset;
}

TEST(Centres, MeanDistanceOfALadder) {
  const Dataset ladder = Ladder(300, 4);
  const double mean = 299.0 * 301.0 / (3.0 * 300.0);  // of |i - j| over all pairs
  EXPECT_NEAR(MeanDistance(Synapse::kL1, ladder.features.view(), 1) / (4 * mean), 1.0, 0.03);
  EXPECT_NEAR(MeanDistance(Synapse::kL2, ladder.features.view(), 1) / (2 * mean), 1.0, 0.03);
  EXPECT_EQ(MeanDistance(Synapse::kL1, ladder.features.view(), 1),
            MeanDistance(Synapse::kL1, ladder.features.view(), 1));
  EXPECT_NE(MeanDistance(Synapse::kL1, ladder.features.view(), 1),
            MeanDistance(Synapse::kL1, ladder.features.view(), 2));
}

TEST(Centres, TheTriangleEndsAtTheMeanDistance) {
  const Activation triangle = WithRadiusFor(Activation("triangle"), 37.0);
  const double distances[] = {36.0, 38.0};
  double values[2];
  triangle.Value(distances, values, 2);
  EXPECT_NEAR(values[0], 1.0 / 37.0, 1e-3);
  EXPECT_EQ(values[1], 0.0);
  EXPECT_EQ(WithRadiusFor(Activation("gaussian"), 37.0).parameters()[0], triangle.parameters()[0]);
  EXPECT_EQ(WithRadiusFor(Activation("tanh"), 37.0), Activation("tanh"));
  EXPECT_EQ(WithRadiusFor(Activation("triangle"), 0.0), Activation("triangle"));  // all rows alike
}

TEST(Centres, AreDifferentRows) {
  const Dataset ladder = Ladder(50, 3);
  Network network(ParseLayers("l1-triangle:20,dot-softmax:2", 3, true), DType::kF32);
  PlaceCentres(network, ladder, 7);
  std::set<float> seen;
  for (int64_t j = 0; j < 20; ++j) {
    const float* w = network.Weights(0).Row<float>(j);
    EXPECT_EQ(w[0], w[2]);
    EXPECT_EQ(w[0], std::floor(w[0]));
    seen.insert(w[0]);
  }
  EXPECT_EQ(seen.size(), 20U);
  Network crowded(ParseLayers("l1-triangle:60", 3, true), DType::kF32);
  PlaceCentres(crowded, ladder, 7);  // more neurons than rows: rows come again
  EXPECT_EQ(crowded.Weights(0).Row<float>(55)[0], crowded.Weights(0).Row<float>(5)[0]);
}

TEST(Centres, AreThoseOfClusters) {
  const Dataset ladder = Ladder(60, 3);
  for (const char* choice : {"k-means", "k-medians"}) {
    Network network(ParseLayers("l1-triangle:6,dot-softmax:2", 3, true), DType::kF32);
    const ClusterOptions options{.kind = *CentresFrom(choice), .iterations = 500};
    EXPECT_TRUE(PlaceClusters(network, ladder, options, *MakeBackend("serial")).complete);
    std::vector<double> centres;
    for (int64_t j = 0; j < 6; ++j) {
      centres.push_back(double{network.Weights(0).Row<float>(j)[1]});
    }
    std::sort(centres.begin(), centres.end());
    for (size_t j = 0; j < 6; ++j) {  // every center is in the middle of the rows up to half way to the next ones
      const double low = j == 0 ? -0.5 : (centres[j - 1] + centres[j]) / 2;
      const double high = j == 5 ? 59.5 : (centres[j] + centres[j + 1]) / 2;
      EXPECT_NEAR(centres[j], (low + high) / 2, 1) << choice;
    }
  }
  EXPECT_FALSE(CentresFrom("rows").has_value());
  EXPECT_EQ(CentreChoices(), (std::vector<std::string>{"rows", "k-means", "k-medians"}));
}

TEST(Centres, NetworksOfDistanceNeuronsLearnDigits) {
  for (const auto& [layers, centres] : {std::pair{"l1-triangle:128,dot-softmax:10", "rows"},
                                        {"l2-gaussian:128,dot-softmax:10", "rows"},
                                        {"l2-gaussian:128,dot-softmax:10", "k-means"}}) {
    TrainSettings settings;
    settings.centres = centres;
    settings.data = SourceFolder() + "/data/digits.csv.gz";
    settings.layers = layers;
    settings.learning_rate = 0.02;
    settings.epochs = 40;
    TrainSession session(settings);
    const TrainResult result = session.Run({});
    ASSERT_TRUE(result.test.has_value());
    EXPECT_GT(result.test->classification->accuracy, 0.93) << layers;
  }
}

}  // namespace
}  // namespace lamina
