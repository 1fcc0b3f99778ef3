// The novelty pass against a loop over single rows, on every backend; the authors' numbers of centers.
#include "lamina/rbf/novelty.h"

#include <cmath>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/backend/staged_layer.h"
#include "lamina/base/random.h"
#include "tests/caught_error.h"
#include "tests/conformance/configurations.h"
#include "tests/rbf/backends.h"
#include "tests/rbf/optical_digits.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::Configuration;

bool IsEmulated(const Configuration& configuration) { return configuration.backend == conformance::kEmulatedCuda; }

class NoveltyOn : public testing::TestWithParam<Configuration> {};
INSTANTIATE_TEST_SUITE_P(Novelty, NoveltyOn, testing::ValuesIn(WithDistances()),
                         [](const auto& instance) { return instance.param.Name(); });

// A triangle that ends at a distance of 8: with whole numbers its values are eighths, and sums meet 1 exactly.
NoveltyOptions Eighths(double overlap) {
  NoveltyOptions options;
  options.activation = Activation("triangle").WithRadius(8 / 2.5066);
  options.overlap = overlap;
  return options;
}

Matrix WholeNumbers(int64_t rows, int64_t cols, uint64_t below, uint64_t seed) {
  Matrix numbers(rows, cols, DType::kF32);
  Random random(seed);
  for (int64_t i = 0; i < rows; ++i) {
    std::generate_n(numbers.Row<float>(i), cols, [&] { return static_cast<float>(random.Below(below)); });
  }
  return numbers;
}

NoveltyResult PlainLoop(const Matrix& rows, double overlap) {
  NoveltyResult result;
  for (int64_t i = 0; i < rows.rows(); ++i) {
    double sum = 0;
    for (const int64_t centre : result.centres) {
      double distance = 0;
      for (int64_t k = 0; k < rows.cols(); ++k) {
        distance += std::abs(double{rows.Row<float>(i)[k]} - double{rows.Row<float>(centre)[k]});
      }
      sum += std::max(0.0, 1 - distance / 8);
    }
    result.pairs += std::ssize(result.centres);
    if (sum < overlap) {
      result.centres.push_back(i);
    }
  }
  return result;
}

TEST_P(NoveltyOn, IsTheLoopOverSingleRowsTiesIncluded) {
  const Chosen backend(GetParam());
  const int64_t rows = IsEmulated(GetParam()) ? 150 : 1300;
  for (const auto& [below, overlap] : {std::pair{3, 1.0}, {4, 0.5}, {6, 1.0}, {4, 2.75}}) {
    const Matrix numbers = WholeNumbers(rows, 7, static_cast<uint64_t>(below), static_cast<uint64_t>(below));
    const NoveltyResult plain = PlainLoop(numbers, overlap);
    const NoveltyResult found = FindCentres(numbers.view(), Eighths(overlap), backend.get());
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.centres, plain.centres) << below << " " << overlap;
    EXPECT_EQ(found.pairs, plain.pairs);
    EXPECT_EQ(found.rows, rows);
    EXPECT_GT(plain.centres.size(), 5U);
  }
}

// Numbers without exact sums: the same activations, asked for row by row.
TEST_P(NoveltyOn, IsTheLoopOverSingleRowsOfRealNumbers) {
  const Chosen backend(GetParam());
  const int64_t rows = IsEmulated(GetParam()) ? 100 : 700;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    if (!GetParam().Supports(dtype)) {
      continue;
    }
    for (const Synapse synapse : {Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}) {
      Matrix numbers(rows, 9, dtype);
      Random random(7);
      DispatchFloat(dtype, [&]<class T>(T) {
        for (int64_t i = 0; i < rows; ++i) {
          std::generate_n(numbers.Row<T>(i), 9, [&] { return static_cast<T>(random.Uniform(-1, 1)); });
        }
      });
      NoveltyOptions options;
      options.synapse = synapse;
      options.activation = Activation(synapse == Synapse::kL2 ? "gaussian(radius=0.5)" : "triangle(radius=1.5)");
      Matrix centres(rows, 9, dtype);
      Matrix activations(1, rows, dtype);
      LayerPlanRequest request{{9, rows, synapse, options.activation, false}, dtype, 1};
      request.any_slicing = true;
      StagedLayer layer(backend.get(), request);
      std::vector<int64_t> expected;
      for (int64_t i = 0; i < rows; ++i) {
        const auto count = std::ssize(expected);
        ForwardArgs args;
        args.x = numbers.view().Rows(i, 1);
        args.weights = centres.view().Rows(0, count);
        args.a = activations.view();
        args.a.cols = count;
        double sum = 0;
        if (count > 0) {
          layer.Forward(args);
        }
        DispatchFloat(dtype, [&]<class T>(T) {
          for (int64_t j = 0; j < count; ++j) {
            sum += std::round(static_cast<double>(activations.Row<T>(0)[j]) * 0x1p40) * 0x1p-40;
          }
          if (sum < options.overlap) {
            std::copy_n(numbers.Row<T>(i), 9, centres.Row<T>(count));
            expected.push_back(i);
          }
        });
      }
      EXPECT_EQ(FindCentres(numbers.view(), options, backend.get()).centres, expected) << SynapseName(synapse);
      EXPECT_GT(expected.size(), 5U);
    }
  }
}

// Numbers published by the authors of the method; which rows, by their sum, of a NumPy loop in f64.
TEST_P(NoveltyOn, FindsTheAuthorsCentresOfTheOpticalDigits) {
  LAMINA_DATA_OR_SKIP(path, "small/optdigits_train.csv");
  const Chosen backend(GetParam());
  const Dataset digits = OpticalDigits(path);
  const auto expect = [&](const NoveltyOptions& options, size_t count, int64_t sum) {
    const std::vector<int64_t> centres = FindCentres(digits.features.view(), options, backend.get()).centres;
    EXPECT_EQ(centres.size(), count);
    EXPECT_EQ(std::accumulate(centres.begin(), centres.end(), int64_t{0}), sum);
  };
  NoveltyOptions options;
  options.activation = Activation("triangle(radius=7.6)");
  expect(options, 595, 653496);
  options.synapse = Synapse::kL2;
  options.activation = Activation("gaussian(radius=1)");
  options.overlap = 0.25;
  expect(options, 1720, 2583682);
}

TEST(NoveltyPass, LooksAtFewerPairsThanTheLoopAndEndsWhereItIsTold) {
  const Matrix numbers = WholeNumbers(5000, 6, 6, 3);
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  NoveltyOptions options = Eighths(1);
  const NoveltyResult all = FindCentres(numbers.view(), options, *backend);
  EXPECT_LT(all.pairs_computed, all.pairs);
  options.most_centres = 5;
  const NoveltyResult few = FindCentres(numbers.view(), options, *backend);
  EXPECT_FALSE(few.complete);
  EXPECT_LT(few.rows, 5000);
  options.most_centres = 5000;
  int64_t told = 0;
  options.progress = [&](int64_t rows, int64_t) { told = rows; };
  options.stop_requested = [&] { return told >= 1024; };
  EXPECT_EQ(FindCentres(numbers.view(), options, *backend).rows, 1024);
}

TEST(NoveltyPass, RefusesOtherNeurons) {
  const Matrix numbers = WholeNumbers(3, 2, 5, 3);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  for (const char* neuron : {"l1-tanh", "dot-triangle", "l2-identity"}) {
    NoveltyOptions options;
    const LayerSpec layer = ParseNeuron(neuron);
    options.synapse = layer.synapse;
    options.activation = layer.activation;
    EXPECT_TRUE(Mentions(CaughtError([&] { FindCentres(numbers.view(), options, *backend); }).what(), "triangle"));
  }
  for (const double overlap : {0.0, -1.0, 5000.0, double{NAN}}) {
    EXPECT_TRUE(Mentions(CaughtError([&] { FindCentres(numbers.view(), Eighths(overlap), *backend); }).what(),
                         "the overlap must be above 0"));
  }
}

}  // namespace
}  // namespace lamina
