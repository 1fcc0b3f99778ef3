// Ridge regression on hidden activations: against elimination in plain loops, and errors of rows really left out.
#include "lamina/rbf/elm.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "lamina/cluster/thread_ranks.h"
#include "lamina/rbf/leave_one_out.h"
#include "lamina/rbf/ridge.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/rbf/kernel_oracle.h"

namespace lamina {
namespace {

using Rows = Table2;

Matrix SymmetricPositive(int64_t n, uint64_t seed) {
  Random random(seed);
  Matrix factor(n, n, DType::kF64);
  for (int64_t i = 0; i < n; ++i) {
    std::generate_n(factor.Row<double>(i), n, [&] { return random.Uniform(-1, 1); });
  }
  Matrix a(n, n, DType::kF64);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      a.Row<double>(i)[j] = std::inner_product(factor.Row<double>(i), factor.Row<double>(i) + n, factor.Row<double>(j),
                                               i == j ? 0.5 : 0.0);
    }
  }
  return a;
}

Matrix Copy(const Matrix& from) {
  Matrix to(from.rows(), from.cols(), from.dtype());
  std::memcpy(to.data(), from.data(), static_cast<size_t>(from.rows() * from.cols() * 8));
  return to;
}

TEST(Cholesky, FactorsGiveTheMatrixOnEveryBackend) {
  for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
    for (const int64_t n : {1, 7, 192, 193, 450}) {
      const Matrix a = SymmetricPositive(n, 3);
      Matrix factor = Copy(a);
      const Factorisation result = FactoriseCholesky(factor.view(), *backend);
      ASSERT_TRUE(result.complete) << backend->name() << " " << n;
      EXPECT_GE(result.condition, 1);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          const double product =
              std::inner_product(factor.Row<double>(i), factor.Row<double>(i) + j + 1, factor.Row<double>(j), 0.0);
          ASSERT_NEAR(product, a.Row<double>(i)[j], 1e-11 * static_cast<double>(n)) << i << " " << j;
        }
      }
      Matrix b(n, 2, DType::kF64);
      for (int64_t i = 0; i < n; ++i) {
        b.Row<double>(i)[0] = std::accumulate(a.Row<double>(i), a.Row<double>(i) + n, 0.0);  // of ones
        b.Row<double>(i)[1] = a.Row<double>(i)[0];                                           // of the first unit vector
      }
      SolveCholesky(factor.view(), b.view());
      for (int64_t i = 0; i < n; ++i) {
        EXPECT_NEAR(b.Row<double>(i)[0], 1, 1e-7);
        EXPECT_NEAR(b.Row<double>(i)[1], i == 0 ? 1 : 0, 1e-7);
      }
    }
  }
}

TEST(Cholesky, NamesThePivotThatIsNotPositive) {
  Matrix a = SymmetricPositive(300, 4);
  a.Row<double>(250)[250] = -1;
  const Factorisation result = FactoriseCholesky(a.view(), *MakeBackend("serial"));
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(result.failed_at, 250);
}

TEST(Cholesky, SaysHowFarApartThePivotsOfAFirstBlockWere) {
  Matrix a(3, 3, DType::kF64);  // pivots 10 and 1e-3, then none
  a.Row<double>(0)[0] = 100;
  a.Row<double>(1)[1] = a.Row<double>(2)[1] = 1e-6;
  const Factorisation result = FactoriseCholesky(a.view(), *MakeBackend("serial"));
  EXPECT_EQ(result.failed_at, 2);
  EXPECT_NEAR(result.condition / 1e8, 1, 1e-6);
}

TEST(Tridiagonal, SolvesForEveryRidge) {
  for (const int64_t n : {1, 2, 3, 40}) {
    const Matrix a = SymmetricPositive(n, 8);
    const Tridiagonal tridiagonal(Copy(a), 2);
    for (const double ridge : {0.0, 0.3, 20.0}) {
      Rows shifted;
      Rows ones(static_cast<size_t>(n), {1.0});
      for (int64_t i = 0; i < n; ++i) {
        shifted.emplace_back(a.Row<double>(i), a.Row<double>(i) + n);
        shifted.back()[static_cast<size_t>(i)] += ridge;
      }
      const Rows expected = SolvedByElimination(shifted, ones);
      std::vector<double> turned(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        turned[static_cast<size_t>(i)] =
            std::accumulate(tridiagonal.basis().Row<double>(i), tridiagonal.basis().Row<double>(i) + n, 0.0);
      }
      const Tridiagonal::Shifted solver = tridiagonal.WithRidge(ridge);
      EXPECT_TRUE(solver.positive);
      solver.Solve(turned.data(), 1);
      for (int64_t i = 0; i < n; ++i) {
        double x = 0;
        for (int64_t k = 0; k < n; ++k) {
          x += tridiagonal.basis().Row<double>(k)[i] * turned[static_cast<size_t>(k)];
        }
        EXPECT_NEAR(x, expected[static_cast<size_t>(i)][0], 1e-8 * std::max(1.0, std::abs(x)));
      }
    }
  }
}

// Rows with two targets that a hidden layer of few neurons does not fit.
Dataset Noisy(int64_t rows, DType dtype) {
  Dataset data;
  data.features = Matrix(rows, 3, dtype);
  data.targets = Matrix(rows, 2, dtype);
  Random random(11);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      T* const x = data.features.Row<T>(i);
      std::generate_n(x, 3, [&] { return static_cast<T>(random.Uniform(-1, 1)); });
      data.targets.Row<T>(i)[0] = static_cast<T>(std::sin(3 * x[0]) + x[1] + random.Uniform(-0.3, 0.3));
      data.targets.Row<T>(i)[1] = static_cast<T>(x[2] * x[1] + random.Uniform(-0.3, 0.3));
    }
  });
  return data;
}

LayerSpec Hidden(int64_t neurons, const char* neuron = "dot-tanh") {
  LayerSpec layer = ParseNeuron(neuron);
  layer.inputs = 3;
  layer.outputs = neurons;
  layer.bias = false;
  return layer;
}

Rows HiddenRows(const Network& network, const Dataset& data) {
  Rows all;
  for (int64_t i = 0; i < data.size(); ++i) {
    all.emplace_back();
    for (int64_t j = 0; j < network.layers()[0].outputs; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 3; ++k) {
        sum += data.features.Row<double>(i)[k] * network.Weights(0).Row<double>(j)[k];
      }
      all.back().push_back(std::tanh(sum));
    }
  }
  return all;
}

// Output weights of the rows but `left_out`, by the definition.
Rows Solved(const Rows& h, const Dataset& data, double c, int64_t left_out = -1) {
  const size_t m = h[0].size();
  Rows a(m, std::vector<double>(m));
  Rows b(m, std::vector<double>(2));
  for (size_t j = 0; j < m; ++j) {
    a[j][j] = 1 / c;
  }
  for (size_t i = 0; i < h.size(); ++i) {
    const double weight = static_cast<int64_t>(i) == left_out ? 0
                          : data.sample_weights.empty()       ? 1
                                                              : data.sample_weights[i];
    for (size_t j = 0; j < m; ++j) {
      for (size_t k = 0; k < m; ++k) {
        a[j][k] += weight * h[i][j] * h[i][k];
      }
      for (size_t k = 0; k < 2; ++k) {
        b[j][k] += weight * h[i][j] * data.targets.Row<double>(static_cast<int64_t>(i))[k];
      }
    }
  }
  return SolvedByElimination(a, b);
}

void ExpectWeights(const Network& network, const Rows& expected, double tolerance) {
  for (size_t j = 0; j < expected.size(); ++j) {
    for (int64_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(network.Weights(1).Row<double>(k)[j], expected[j][static_cast<size_t>(k)], tolerance);
    }
  }
}

TEST(Elm, SolvesTheRidgeRegressionOnEveryBackend) {
  Dataset data = Noisy(3000, DType::kF64);
  Random random(2);
  for (const bool weighted : {false, true}) {
    if (weighted) {
      std::generate_n(std::back_inserter(data.sample_weights), data.size(), [&] { return random.Uniform(0, 3); });
    }
    for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
      Network network = DrawElm(Hidden(21), 2, HiddenWeights::kUniform, data.features.view(), 1);
      ASSERT_EQ(TrainElm(network, data, {.c = 10}, *backend), 10);
      ExpectWeights(network, Solved(HiddenRows(network, data), data, 10), 1e-6);
    }
  }
}

TEST(Elm, FewRowsGoTheOtherWayToTheSameWeights) {
  const Dataset data = Noisy(18, DType::kF64);
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  Network network = DrawElm(Hidden(25), 2, HiddenWeights::kUniform, data.features.view(), 1);
  TrainElm(network, data, {.c = 3}, *backend);
  ExpectWeights(network, Solved(HiddenRows(network, data), data, 3), 1e-9);
}

// Which of the powers of the root of 10 around the mean diagonal leaves the least error of rows really left out.
double BestByLeavingOut(const Rows& h, const Dataset& data, double mean_diagonal) {
  double best = 0;
  double least = INFINITY;
  for (int step = 0; step <= 16; ++step) {
    const double c = std::pow(10.0, step / 2.0) / mean_diagonal;
    double sum = 0;
    for (int64_t i = 0; i < data.size(); ++i) {
      const Rows weights = Solved(h, data, c, i);
      for (size_t k = 0; k < 2; ++k) {
        double answer = 0;
        for (size_t j = 0; j < weights.size(); ++j) {
          answer += weights[j][k] * h[static_cast<size_t>(i)][j];
        }
        sum += std::pow(data.targets.Row<double>(i)[k] - answer, 2);
      }
    }
    if (sum < least) {
      least = sum;
      best = c;
    }
  }
  return best;
}

TEST(Elm, CIsTheBestForRowsReallyLeftOut) {
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  for (const auto& [rows, neurons] : {std::pair{60, 30}, {24, 30}}) {
    const Dataset data = Noisy(rows, DType::kF64);
    Network network = DrawElm(Hidden(neurons), 2, HiddenWeights::kUniform, data.features.view(), 1);
    const Rows h = HiddenRows(network, data);
    double trace = 0;
    for (const std::vector<double>& row : h) {
      trace += std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    }
    const double mean = trace / std::min(rows, neurons);
    const std::optional<double> c = TrainElm(network, data, {}, *backend);
    ASSERT_TRUE(c.has_value());
    EXPECT_NEAR(*c / BestByLeavingOut(h, data, mean), 1, 1e-6) << rows;
  }
}

TEST(Elm, RowsThatComeLaterAreAddedLikeTheFirst) {
  const Dataset data = Noisy(500, DType::kF32);
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  Network whole = DrawElm(Hidden(40, "dot-abs"), 2, HiddenWeights::kEightBits, data.features.view(), 1);
  Network parts = whole;
  TrainElm(whole, data, {.c = 5}, *backend);
  ElmSums sums(parts, *backend);
  sums.Add(data.features.view().Rows(0, 123), data.targets.view().Rows(0, 123));
  sums.Add(data.features.view().Rows(123, 377), data.targets.view().Rows(123, 377));
  sums.Solve(5, parts);
  for (int64_t k = 0; k < 2; ++k) {
    for (int64_t j = 0; j < 40; ++j) {
      EXPECT_NEAR(parts.Weights(1).Row<float>(k)[j], whole.Weights(1).Row<float>(k)[j], 2e-3);
    }
  }
}

TEST(Elm, SumsMadeInSeveralPlacesAreAddedUp) {
  const Dataset data = Noisy(500, DType::kF64);
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  Network whole = DrawElm(Hidden(40, "dot-abs"), 2, HiddenWeights::kUniform, data.features.view(), 1);
  Network parts = whole;
  TrainElm(whole, data, {.c = 5}, *backend);
  ElmSums here(parts, *backend);
  ElmSums there(parts, *backend);
  here.Add(data.features.view().Rows(0, 123), data.targets.view().Rows(0, 123));
  there.Add(data.features.view().Rows(123, 377), data.targets.view().Rows(123, 377));
  const MatrixView to = here.sums();
  ASSERT_EQ(to.rows, 42);
  for (int64_t i = 0; i < to.rows; ++i) {
    for (int64_t j = 0; j < to.cols; ++j) {
      // What is above the diagonal is not read.
      to.Row<double>(i)[j] = j > i ? std::nan("") : to.Row<double>(i)[j] + there.sums().Row<double>(i)[j];
    }
  }
  here.Solve(5, parts);
  for (int64_t k = 0; k < 2; ++k) {
    for (int64_t j = 0; j < 40; ++j) {
      EXPECT_NEAR(parts.Weights(1).Row<double>(k)[j], whole.Weights(1).Row<double>(k)[j], 1e-9);
    }
  }
}

TEST(Elm, AnyNumberOfRanksGivesTheSameBits) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Dataset data = Noisy(3000, dtype);
    Random random(2);
    std::generate_n(std::back_inserter(data.sample_weights), data.size(), [&] { return random.Uniform(0, 3); });
    const auto train = [&](Communicator* ranks, int threads) {
      const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = threads});
      Network network = DrawElm(Hidden(40, "dot-abs"), 2, HiddenWeights::kUniform, data.features.view(), 1);
      const std::optional<double> c = TrainElm(network, data, {.shards = 8, .ranks = ranks}, *backend);
      return std::string(static_cast<const char*>(network.parameters()),
                         static_cast<size_t>(network.parameter_bytes())) +
             std::to_string(c.value_or(-1));
    };
    const std::string alone = train(nullptr, 2);
    for (const int size : {1, 2, 3, 8}) {
      RunRanks(size, [&](Communicator& ranks) { EXPECT_EQ(train(&ranks, 1) == alone, true) << size; });
    }
    EXPECT_TRUE(Mentions(CaughtError([&] { RunRanks(9, [&](Communicator& ranks) { train(&ranks, 1); }); }).what(),
                         "9 ranks share 8 shards"));
  }
}

TEST(Elm, OneRankThatIsStoppedStopsAll) {
  const Dataset data = Noisy(3000, DType::kF32);
  RunRanks(3, [&](Communicator& ranks) {
    const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
    Network network = DrawElm(Hidden(40, "dot-abs"), 2, HiddenWeights::kUniform, data.features.view(), 1);
    ElmOptions options{.shards = 8, .ranks = &ranks};
    options.stop_requested = [&] { return ranks.rank() == 1; };
    EXPECT_FALSE(TrainElm(network, data, options, *backend).has_value());
  });
}

TEST(Elm, HiddenWeightsAreAsAsked) {
  const Dataset data = Noisy(50, DType::kF32);
  const auto values = [&](HiddenWeights weights, const char* neuron = "dot-abs") {
    const Network network = DrawElm(Hidden(500, neuron), 2, weights, data.features.view(), 1);
    std::set<float> all;
    for (int64_t j = 0; j < 500; ++j) {
      all.insert(network.Weights(0).Row<float>(j), network.Weights(0).Row<float>(j) + 3);
    }
    return all;
  };
  EXPECT_EQ(values(HiddenWeights::kSigns), (std::set<float>{-1, 1}));
  EXPECT_EQ(values(HiddenWeights::kTwoBits), (std::set<float>{-1, 0, 1}));
  EXPECT_EQ(values(HiddenWeights::kEightBits).size(), 255U);
  EXPECT_GT(values(HiddenWeights::kUniform).size(), 1400U);
  EXPECT_GE(*values(HiddenWeights::kUniform).begin(), -1);
  EXPECT_EQ(values(HiddenWeights::kUniform, "l1-triangle").size(), 150U) << "all rows";
}

TEST(Elm, SaysWhichCIsTooLarge) {
  Dataset data = Noisy(100, DType::kF32);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  Network network = DrawElm(Hidden(60, "dot-identity"), 2, HiddenWeights::kUniform, data.features.view(), 1);
  const Error error = CaughtError([&] { TrainElm(network, data, {.c = 1e30}, *backend); });
  EXPECT_TRUE(Mentions(error.what(), "condition above"));
  EXPECT_TRUE(Mentions(error.what(), "C = 1e+30"));
  EXPECT_TRUE(Mentions(error.what(), "smaller --ridge-c"));
}

}  // namespace
}  // namespace lamina
