// FSVC and SFSVC: the authors' results, the tuning against a plain loop, the search for a radius, and what is refused.
#include "lamina/rbf/fsvc.h"

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "lamina/rbf/radius_search.h"
#include "tests/caught_error.h"
#include "tests/conformance/configurations.h"
#include "tests/nn/small_data.h"
#include "tests/rbf/backends.h"
#include "tests/rbf/optical_digits.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::Configuration;

FsvcOptions OptionsFor(const char* neuron, double overlap = 1) {
  FsvcOptions options;
  const LayerSpec layer = ParseNeuron(neuron);
  options.novelty.synapse = layer.synapse;
  options.novelty.activation = layer.activation;
  options.novelty.overlap = overlap;
  return options;
}

class FsvcOn : public testing::TestWithParam<Configuration> {};
INSTANTIATE_TEST_SUITE_P(Fsvc, FsvcOn, testing::ValuesIn(WithDistances()),
                         [](const auto& instance) { return instance.param.Name(); });

TEST_P(FsvcOn, HasTheAuthorsResultsOnTheOpticalDigits) {
  LAMINA_DATA_OR_SKIP(folder, "small/");
  const Dataset train = OpticalDigits(folder + "optdigits_train.csv");
  const Dataset test = OpticalDigits(folder + "optdigits_test.csv");
  const Chosen backend(GetParam());
  const FsvcResult manhattan = TrainFsvc(train, 10, OptionsFor("l1-triangle(radius=7.6)"), backend.get());
  EXPECT_EQ(manhattan.network.ShapeText(), "64-595-10");
  EXPECT_EQ(AccuracyOf(manhattan.network, test, backend.get()), 1755.0 / 1797.0);  // 97.663 %
  const FsvcResult euclid = TrainFsvc(train, 10, OptionsFor("l2-gaussian(radius=1)", 0.25), backend.get());
  EXPECT_EQ(euclid.network.ShapeText(), "64-1720-10");
  EXPECT_EQ(AccuracyOf(euclid.network, test, backend.get()), 1773.0 / 1797.0);  // 98.664 %
  // The expected numbers come from a plain NumPy loop.
  FsvcOptions by_class = OptionsFor("l2sq-triangle(radius=8)");
  by_class.by_class = true;
  const FsvcResult sfsvc = TrainFsvc(train, 10, by_class, backend.get());
  EXPECT_EQ(sfsvc.network.ShapeText(), "64-362-10");
  EXPECT_EQ(AccuracyOf(sfsvc.network, test, backend.get()), 1752.0 / 1797.0);
}

// Three clouds, labels in turn.
Dataset Clouds(int64_t rows, DType dtype = DType::kF32) {
  Dataset data;
  data.features = Matrix(rows, 4, dtype);
  data.targets = Matrix(rows, 3, dtype);
  Random random(5);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      const auto label = static_cast<int32_t>(i % 3);
      data.labels.push_back(label);
      data.targets.Row<T>(i)[label] = T(1);
      std::generate_n(data.features.Row<T>(i), 4,
                      [&] { return static_cast<T>(2 * label + random.Uniform(-1.6, 1.6)); });
    }
  });
  return data;
}

TEST(Fsvc, CentresVoteForTheirClass) {
  const Dataset data = Clouds(200);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const FsvcResult result = TrainFsvc(data, 3, OptionsFor("l1-triangle(radius=1)"), *backend);
  const std::vector<int64_t> centres =
      FindCentres(data.features.view(), OptionsFor("l1-triangle(radius=1)").novelty, *backend).centres;
  ASSERT_EQ(result.network.layers()[0].outputs, std::ssize(centres));
  for (int64_t j = 0; j < std::ssize(centres); ++j) {
    const int64_t row = centres[static_cast<size_t>(j)];
    EXPECT_TRUE(std::equal(data.features.Row<float>(row), data.features.Row<float>(row) + 4,
                           result.network.Weights(0).Row<float>(j)));
    for (int64_t k = 0; k < 3; ++k) {
      EXPECT_EQ(result.network.Weights(1).Row<float>(k)[j], k == row % 3 ? 1 : 0);
    }
  }
}

TEST(Fsvc, TheSuperFastOneHasClassAfterClass) {
  const Dataset data = Clouds(200);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  FsvcOptions options = OptionsFor("l2sq-triangle(radius=0.7)");
  options.by_class = true;
  const Network network = TrainFsvc(data, 3, options, *backend).network;
  std::vector<int64_t> classes;
  for (int64_t j = 0; j < network.layers()[0].outputs; ++j) {
    int64_t of_class = 0;
    while (network.Weights(1).Row<float>(of_class)[j] == 0) {
      ++of_class;
    }
    classes.push_back(of_class);
  }
  EXPECT_TRUE(std::is_sorted(classes.begin(), classes.end()));
  EXPECT_EQ(classes.back(), 2);
  EXPECT_TRUE(
      std::equal(data.features.Row<float>(0), data.features.Row<float>(0) + 4, network.Weights(0).Row<float>(0)));
}

TEST(Fsvc, TheTuningIsLeastMeanSquaresInTheOrderOfTheRows) {
  const Dataset data = Clouds(150, DType::kF64);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  FsvcOptions options = OptionsFor("l1-triangle(radius=1.5)");
  const Network start = TrainFsvc(data, 3, options, *backend).network;
  const auto centres = start.layers()[0].outputs;
  const double width = 2.5066 * 1.5;
  std::vector<std::vector<double>> weights(3, std::vector<double>(static_cast<size_t>(centres)));
  for (size_t k = 0; k < 3; ++k) {
    std::copy_n(start.Weights(1).Row<double>(static_cast<int64_t>(k)), centres, weights[k].data());
  }
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t i = 0; i < data.size(); ++i) {
      std::vector<double> y;
      for (int64_t j = 0; j < centres; ++j) {
        double distance = 0;
        for (int64_t n = 0; n < 4; ++n) {
          distance += std::abs(data.features.Row<double>(i)[n] - start.Weights(0).Row<double>(j)[n]);
        }
        y.push_back(std::max(0.0, 1 - distance / width));
      }
      for (size_t k = 0; k < 3; ++k) {
        const double answer = std::inner_product(y.begin(), y.end(), weights[k].begin(), 0.0);
        const double error = (data.labels[static_cast<size_t>(i)] == static_cast<int32_t>(k) ? 1.0 : 0.0) - answer;
        for (size_t j = 0; j < y.size(); ++j) {
          weights[k][j] += 0.1 * error * y[j];
        }
      }
    }
  }
  options.learning_rate = 0.1;
  options.epochs = 2;
  const Network tuned = TrainFsvc(data, 3, options, *backend).network;
  for (size_t k = 0; k < 3; ++k) {
    for (int64_t j = 0; j < centres; ++j) {
      EXPECT_NEAR(tuned.Weights(1).Row<double>(static_cast<int64_t>(k))[j], weights[k][static_cast<size_t>(j)], 1e-12);
    }
  }
  EXPECT_GT(AccuracyOf(tuned, data, *backend), AccuracyOf(start, data, *backend) - 0.02);
}

TEST(Fsvc, ARadiusIsFoundWhereCentresAreFewAndAnswersGood) {
  const Dataset train = Clouds(600);
  const Dataset validation = Clouds(300);
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  const RadiusSearch search = FindRadius(train, validation, 3, OptionsFor("l1-triangle"), true, *backend);
  EXPECT_TRUE(search.complete);
  ASSERT_GT(search.trials.size(), 5U);
  double best = 0;
  for (const RadiusTrial& trial : search.trials) {
    EXPECT_LE(trial.centres, 360);
    best = std::max(best, trial.centres >= 6 ? trial.accuracy : 0);
    if (trial.radius == search.radius) {
      EXPECT_GE(trial.centres, 6);
    }
  }
  const auto chosen = std::find_if(search.trials.begin(), search.trials.end(),
                                   [&](const RadiusTrial& trial) { return trial.radius == search.radius; });
  EXPECT_EQ(chosen->accuracy, best);
  EXPECT_GT(best, 0.85);
}

TEST(Fsvc, ARadiusThatLeavesAClassWithoutCentreIsRefusedWhereItIsGiven) {
  const Dataset train = Clouds(60);
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 1});
  const std::vector<std::string> names = {"a", "b", "c"};
  const FsvcOptions large = OptionsFor("l1-triangle(radius=1000)", 0.001);
  const Error error = CaughtError([&] { FitFsvc(train, {}, names, large, false, false, *backend); });
  EXPECT_TRUE(Mentions(error.what(), "class 'b' has no center among the 1: the radius 1000 is too large"));
  EXPECT_TRUE(Mentions(error.what(), "--radius"));
  const FoundFsvc found = FitFsvc(train, {}, names, large, true, true, *backend);
  EXPECT_TRUE(found.result.complete);
  EXPECT_LT(found.search.radius, 1000);
  EXPECT_EQ(found.result.network.layers()[0].activation.radius(), found.search.radius);
}

TEST(Fsvc, RefusesWhatCannotBe) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const Dataset data = Clouds(90);
  const auto message = [&](const Dataset& rows, int64_t classes, const FsvcOptions& options) {
    return std::string(CaughtError([&] { TrainFsvc(rows, classes, options, *backend); }).what());
  };
  const std::string all = message(data, 3, OptionsFor("l1-triangle(radius=1e-6)"));
  EXPECT_TRUE(Mentions(all, "every one of the first 90 rows became a center"));
  EXPECT_TRUE(Mentions(all, "Try --radius"));
  EXPECT_TRUE(Mentions(message(data, 4, OptionsFor("l1-triangle")), "class 3 has no training row"));
  FsvcOptions wild = OptionsFor("l1-triangle(radius=3)");
  wild.learning_rate = 1e6;
  wild.epochs = 50;
  EXPECT_TRUE(Mentions(message(data, 3, wild), "diverged"));
}

}  // namespace
}  // namespace lamina
