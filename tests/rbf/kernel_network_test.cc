// Kernel machines as networks: answers by plain loops over the layers' own weights, probabilities, rows of no weight,
// many rows.
#include "lamina/rbf/kernel_network.h"

#include <cstring>
#include <numeric>

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/rbf/kernel_oracle.h"

namespace lamina {
namespace {

Dataset DatasetOf(const Table2& x, const Table2& y, DType dtype = DType::kF64) {
  Dataset data;
  data.features = Matrix(std::ssize(x), std::ssize(x.front()), dtype);
  data.targets = Matrix(std::ssize(y), std::ssize(y.front()), dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (size_t i = 0; i < x.size(); ++i) {
      std::copy(x[i].begin(), x[i].end(), data.features.Row<T>(static_cast<int64_t>(i)));
      std::copy(y[i].begin(), y[i].end(), data.targets.Row<T>(static_cast<int64_t>(i)));
    }
  });
  return data;
}

// 1 for the class, the sign of the first number; some rows have the other one.
Table2 ClassesFor(const Table2& x) {
  Table2 y;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool second = (x[i][0] > 0) != (i % 9 == 0);
    y.push_back({second ? 0.0 : 1.0, second ? 1.0 : 0.0});
  }
  return y;
}

// What the layers say of a row, before the last activation.
std::vector<double> AnswerOf(const Network& network, const std::vector<double>& row) {
  const size_t last = network.layers().size() - 1;
  std::vector<double> scaled = row;
  if (last == 2) {
    for (size_t j = 0; j < row.size(); ++j) {
      const double* const weights = network.Weights(0).Row<double>(static_cast<int64_t>(j));
      scaled[j] = std::inner_product(row.begin(), row.end(), weights, 0.0);
    }
  }
  const LayerSpec& centres = network.layers()[last - 1];
  const std::vector<double> ones(row.size(), 1.0);
  std::vector<double> answer(static_cast<size_t>(network.outputs()));
  for (size_t k = 0; k < answer.size(); ++k) {
    answer[k] = static_cast<const double*>(network.Bias(last))[k];
    for (int64_t i = 0; i < centres.outputs; ++i) {
      const double* const centre = network.Weights(last - 1).Row<double>(i);
      answer[k] += network.Weights(last).Row<double>(static_cast<int64_t>(k))[i] *
                   KernelOf(scaled, {centre, centre + row.size()}, ones, centres.synapse == Synapse::kL1 ? 1 : 2,
                            centres.activation.parameters()[1], centres.activation.radius());
    }
  }
  return answer;
}

KernelNetworkOptions OneMachine(const KernelKind& kind, double ridge, int rounds) {
  KernelNetworkOptions options;
  options.choices.kinds = {kind};
  options.choices.scales = {1.0};
  options.choices.ridges = {ridge};
  options.choices.rounds = rounds;
  return options;
}

TEST(KernelNetwork, AnswersAsTheMachineDoes) {
  const Table2 x = RandomTable(50, 3, 1);
  const Table2 y = TargetsFor(x, 2);
  for (const auto& [rounds, full] : {std::pair(0, false), {3, false}, {3, true}}) {
    KernelNetworkOptions options = OneMachine({2, 1.4}, 0.05, rounds);
    options.choices.full = full;
    const KernelNetwork fitted = FitKernelNetwork(DatasetOf(x, y), options);
    ASSERT_TRUE(fitted.machine.complete);
    EXPECT_EQ(fitted.network.layers().size(), rounds == 0 ? 2U : 3U);
    EXPECT_EQ(fitted.machine.feature_weights.size(), full ? 9U : 3U);
    for (size_t i = 0; i < x.size(); ++i) {
      // (K + ridge) alpha = y: the answer misses a training row by ridge alpha.
      const std::vector<double> answer = AnswerOf(fitted.network, x[i]);
      for (int64_t k = 0; k < 2; ++k) {
        EXPECT_NEAR(y[i][static_cast<size_t>(k)] - answer[static_cast<size_t>(k)],
                    0.05 * fitted.machine.alpha.Row<double>(static_cast<int64_t>(i))[k], 1e-9);
      }
    }
  }
}

TEST(KernelNetwork, ProbabilitiesFitRowsLeftOut) {
  const Table2 x = RandomTable(120, 2, 4);
  const Table2 y = ClassesFor(x);
  KernelNetworkOptions options;
  options.classes = true;
  const KernelNetwork fitted = FitKernelNetwork(DatasetOf(x, y), options);
  EXPECT_TRUE(fitted.network.layers().back().activation.is_softmax());
  int right = 0;
  const auto loss_at = [&](double factor) {  // of the rows left out, as the temperature is that times the fitted one
    double loss = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double* const error = fitted.machine.left_out.Row<double>(static_cast<int64_t>(i));
      const double wrong =
          (y[i][0] == 1 ? (y[i][1] - error[1]) - (y[i][0] - error[0]) : (y[i][0] - error[0]) - (y[i][1] - error[1]));
      loss += std::log1p(std::exp(wrong / (factor * fitted.temperature)));
      right += factor == 1 && wrong < 0 ? 1 : 0;
    }
    return loss;
  };
  EXPECT_LT(loss_at(1), loss_at(1.05));
  right = 0;
  EXPECT_LT(loss_at(1), loss_at(0.95));
  EXPECT_NEAR(fitted.left_out_correct, right / 120.0, 1e-9);
  EXPECT_GT(fitted.left_out_correct, 0.8);
  // Logits of the network are those of the machine over the temperature.
  for (size_t i = 0; i < 10; ++i) {
    const std::vector<double> logits = AnswerOf(fitted.network, x[i]);
    const double* const alpha = fitted.machine.alpha.Row<double>(static_cast<int64_t>(i));
    EXPECT_NEAR(logits[0] * fitted.temperature, y[i][0] - fitted.machine.ridge * alpha[0], 1e-9);
  }
}

TEST(KernelNetwork, AWeightOfTwoIsTheRowTwiceAndOneOfNoneNoRow) {
  const Table2 x = RandomTable(40, 2, 6);
  const Table2 y = TargetsFor(x, 7);
  Dataset weighted = DatasetOf(x, y);
  Table2 repeated_x;
  Table2 repeated_y;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t times = i % 3 == 0 ? 0 : 1 + i % 3;
    weighted.sample_weights.push_back(static_cast<double>(times));
    repeated_x.insert(repeated_x.end(), times, x[i]);
    repeated_y.insert(repeated_y.end(), times, y[i]);
  }
  const KernelNetwork by_weight = FitKernelNetwork(weighted, {});
  const KernelNetwork by_rows = FitKernelNetwork(DatasetOf(repeated_x, repeated_y), {});
  EXPECT_EQ(by_rows.equal_rows, 65);  // all of them: 13 rows twice, 13 three times
  EXPECT_EQ(by_weight.equal_rows, 0);
  EXPECT_EQ(by_weight.machine.ridge, by_rows.machine.ridge);
  EXPECT_NEAR(by_weight.machine.error, by_rows.machine.error, 1e-9);
  for (const std::vector<double>& asked : RandomTable(10, 2, 8)) {
    EXPECT_NEAR(AnswerOf(by_weight.network, asked)[0], AnswerOf(by_rows.network, asked)[0], 1e-7);
  }
}

// Twelve places of 20 rows each: the others of its place answer a row best.
TEST(KernelNetwork, RowsThatRecurAreLeftOutOneByOne) {
  Random random(12);
  Table2 x;
  Table2 y;
  for (int i = 0; i < 240; ++i) {
    x.push_back({static_cast<double>(i % 4), static_cast<double>(i / 4 % 3)});
    y.push_back({i % 12 % 5 + 0.1 * random.Normal()});
  }
  const KernelNetwork fitted = FitKernelNetwork(DatasetOf(x, y), {});
  EXPECT_EQ(fitted.equal_rows, 0);
  EXPECT_LT(fitted.machine.error, 0.02);  // near to the noise, 0.01
  EXPECT_NEAR(AnswerOf(fitted.network, {2, 1})[0], 1, 0.1);
}

TEST(KernelNetwork, ManyRowsChooseOnSome) {
  const Table2 x = RandomTable(1600, 2, 9);
  KernelNetworkOptions options = OneMachine({1, 1.0}, 0.1, 1);
  options.threads = 2;
  const KernelNetwork fitted = FitKernelNetwork(DatasetOf(x, TargetsFor(x, 1), DType::kF32), options);
  EXPECT_EQ(fitted.search_rows, KernelNetworkOptions::kSearchRows);
  EXPECT_EQ(fitted.network.layers()[fitted.network.layers().size() - 2].outputs, 1600);
  EXPECT_EQ(fitted.machine.alpha.rows(), 1600);
}

TEST(KernelNetwork, VeryManyRowsAreSolvedOnce) {
  const Table2 x = RandomTable(2850, 2, 9);
  const Table2 y = ClassesFor(x);
  KernelNetworkOptions options = OneMachine({1, 1.0}, 0.1, 0);
  options.classes = true;
  options.threads = 2;
  const KernelNetwork fitted = FitKernelNetwork(DatasetOf(x, y), options);
  EXPECT_EQ(fitted.tried, 2);
  EXPECT_GT(fitted.left_out_correct, 0.8);
  for (size_t i = 0; i < x.size(); i += 300) {
    const std::vector<double> logits = AnswerOf(fitted.network, x[i]);
    const double* const alpha = fitted.machine.alpha.Row<double>(static_cast<int64_t>(i));
    EXPECT_NEAR(logits[0] * fitted.temperature, y[i][0] - 0.1 * alpha[0], 1e-9);
  }
}

TEST(KernelNetwork, TheSameBitsForAnyNumberOfThreads) {
  const Table2 x = RandomTable(760, 3, 2);
  const Table2 y = TargetsFor(x, 1);
  std::vector<double> bits;
  for (const int threads : {1, 2, 3}) {
    KernelNetworkOptions options;
    options.choices.kinds = {{2, 1.0}};
    options.threads = threads;
    const KernelNetwork fitted = FitKernelNetwork(DatasetOf(x, y), options);
    const auto* const first = static_cast<const double*>(fitted.network.parameters());
    const std::vector<double> found(first, first + fitted.network.parameter_count());
    bits = bits.empty() ? found : bits;
    ASSERT_EQ(bits.size(), found.size());
    EXPECT_EQ(std::memcmp(bits.data(), found.data(), found.size() * 8), 0) << threads;
  }
}

TEST(KernelNetwork, ManyRowsAreToldWhatTheyTake) {
  EXPECT_EQ(KernelCostNote(1000, 20, 1), "");
  const std::string all = KernelCostNote(19'000, 20, 1);
  EXPECT_TRUE(Mentions(all, "of 19,000 training rows takes 2 GiB of memory")) << all;
  const std::string some = KernelCostNote(100'000, 20, 1);
  EXPECT_TRUE(Mentions(some, "of 100,000 training rows in 32 leaves of some 5,034 rows takes")) << some;
  EXPECT_TRUE(Mentions(some, "of memory and up to")) << some;
  EXPECT_EQ(KernelCostNote(1000, 20, 1, 0.01), "");
  EXPECT_TRUE(Mentions(KernelCostNote(6000, 20, 1, 0.01), "of 6,000 training rows takes"));
}

TEST(KernelNetwork, OfVeryManyRowsSomeAreCentres) {
  const Table2 x = RandomTable(1500, 1, 9);
  const Table2 y = ClassesFor(x);
  KernelNetworkOptions options = OneMachine({1, 1.0}, 1.0, 0);
  options.classes = true;
  options.threads = 2;
  options.centres = 60;
  const KernelNetwork fitted = FitKernelNetwork(DatasetOf(x, y), options);
  EXPECT_EQ(fitted.centres, 60);
  int64_t right = 0;
  for (size_t i = 0; i < 900; ++i) {
    const std::vector<double> logits = AnswerOf(fitted.network, x[i]);
    right += (logits[0] > logits[1]) == (y[i][0] == 1) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(right) / 900, 8.0 / 9, 0.01);
}

}  // namespace
}  // namespace lamina
