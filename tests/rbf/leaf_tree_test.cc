// Kernel machines in leaves against plain loops: what a leaf has, what the gates say, what all answer together.
#include "lamina/rbf/leaf_tree.h"

#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/cluster/thread_ranks.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/predictor.h"
#include "lamina/rbf/kernel_network.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/rbf/kernel_oracle.h"

namespace lamina {
namespace {

constexpr double kRidgeOfLeaves = 0.05;

// One output, that depends on x0 + x1 most of all.
Dataset RowsForLeaves(size_t rows, uint64_t seed, DType dtype = DType::kF64) {
  Random random(seed);
  Dataset data;
  data.features = Matrix(static_cast<int64_t>(rows), 3, dtype);
  data.targets = Matrix(static_cast<int64_t>(rows), 1, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < data.features.rows(); ++i) {
      T* const x = data.features.Row<T>(i);
      std::generate_n(x, 3, [&] { return static_cast<T>(random.Uniform(-2, 2)); });
      *data.targets.Row<T>(i) = static_cast<T>(std::sin(2 * (x[0] + x[1])) + 0.3 * x[2]);
    }
  });
  return data;
}

KernelNetworkOptions InLeaves(int64_t most_rows) {
  KernelNetworkOptions options;
  options.choices.kinds = {{2, 1.4}};
  options.choices.scales = {1.0};
  options.choices.ridges = {kRidgeOfLeaves};
  options.choices.rounds = 1;
  options.most_rows = most_rows;
  return options;
}

// 1, less by how far the row is past the leaf's side of each split.
double GateOf(const LeafTree& tree, const LeafTree::Leaf& leaf, const double* row) {
  double gate = 1;
  for (size_t s = 0; s < leaf.splits.size(); ++s) {
    const LeafSplit& split = tree.splits[static_cast<size_t>(leaf.splits[s])];
    double along = 0;
    for (size_t j = 0; j < split.direction.size(); ++j) {
      along += split.direction[j] * row[j];
    }
    const double beyond = (along - split.at) / split.width;
    gate -= std::max(0.0, leaf.beyond[s] ? -beyond : beyond);
  }
  return std::max(0.0, gate);
}

std::vector<double> ScaledBy(const Network& network, const double* row, int64_t columns) {
  std::vector<double> scaled(row, row + columns);
  for (int64_t j = 0; j < columns && network.layers().size() == 3; ++j) {
    scaled[static_cast<size_t>(j)] *= network.Weights(0).Row<double>(j)[j];
  }
  return scaled;
}

// What a machine with the network's columns weights and radius answers after these rows, by elimination.
std::vector<double> AnswersByElimination(const Network& network, const Dataset& train, const std::vector<int64_t>& rows,
                                         const Dataset& asked) {
  const LayerSpec& centres = network.layers()[network.layers().size() - 2];
  const std::vector<double> ones(3, 1.0);
  const auto kernel = [&](const double* x, const double* z) {
    return KernelOf(ScaledBy(network, x, 3), ScaledBy(network, z, 3), ones, 2, 1.4, centres.activation.radius());
  };
  double mean = 0;
  for (const int64_t row : rows) {
    mean += *train.targets.Row<double>(row) / static_cast<double>(rows.size());
  }
  Table2 a(rows.size(), std::vector<double>(rows.size()));
  Table2 b;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows.size(); ++j) {
      a[i][j] = kernel(train.features.Row<double>(rows[i]), train.features.Row<double>(rows[j])) +
                (i == j ? kRidgeOfLeaves : 0);
    }
    b.push_back({*train.targets.Row<double>(rows[i]) - mean});
  }
  const Table2 alpha = SolvedByElimination(a, b);
  std::vector<double> answers;
  for (int64_t k = 0; k < asked.size(); ++k) {
    answers.push_back(mean);
    for (size_t i = 0; i < rows.size(); ++i) {
      answers.back() += alpha[i][0] * kernel(asked.features.Row<double>(k), train.features.Row<double>(rows[i]));
    }
  }
  return answers;
}

Model ModelOfLeaves(KernelNetwork fitted) {
  Model model;
  model.network = std::move(fitted.network);
  model.others = std::move(fitted.others);
  model.gates = std::move(fitted.gates);
  return model;
}

TEST(LeafTree, CutsAlongTheTopDirectionOfTheSlopes) {
  const Dataset train = RowsForLeaves(900, 1);
  const LeafTree tree = GrowLeaves(train, {.depth = 2, .overlap = 0.1, .threads = 2});
  ASSERT_EQ(tree.splits.size(), 3U);
  ASSERT_EQ(tree.leaves.size(), 4U);
  const std::vector<double>& first = tree.splits[0].direction;
  EXPECT_GT(std::abs(first[0] + first[1]) / std::sqrt(2.0), 0.98);
  // A tenth of the rows is where both halves answer, and halves are halves.
  int64_t beyond = 0;
  int64_t between = 0;
  for (int64_t i = 0; i < 900; ++i) {
    const double* const x = train.features.Row<double>(i);
    const double past = std::inner_product(first.begin(), first.end(), x, 0.0) - tree.splits[0].at;
    beyond += past > 0 ? 1 : 0;
    between += std::abs(past) < tree.splits[0].width ? 1 : 0;
  }
  EXPECT_EQ(beyond, 450);
  EXPECT_EQ(between, 90);
}

TEST(LeafTree, GatesSayHowFarARowIsPastALeaf) {
  const Dataset train = RowsForLeaves(800, 2);
  const LeafTree tree = GrowLeaves(train, {.depth = 3, .overlap = 0.2, .threads = 1});
  ASSERT_EQ(tree.leaves.size(), 8U);
  Model gates;
  gates.network = GatesOf(tree, 3, DType::kF64);
  const Matrix outputs = NetworkOutputs(gates, *MakeBackend("serial"), train.features);
  for (size_t l = 0; l < tree.leaves.size(); ++l) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < train.size(); ++i) {
      const double gate = GateOf(tree, tree.leaves[l], train.features.Row<double>(i));
      EXPECT_NEAR(outputs.Row<double>(i)[l], gate, 1e-12);
      if (gate > 0) {
        rows.push_back(i);
      }
    }
    EXPECT_EQ(tree.leaves[l].rows, rows);
  }
  for (int64_t i = 0; i < train.size(); ++i) {
    EXPECT_EQ(*std::max_element(outputs.Row<double>(i), outputs.Row<double>(i) + 8), 1.0);
  }
}

TEST(LeafTree, RowsThatAreAllAlikeAreOneLeaf) {
  Dataset train = RowsForLeaves(800, 2);
  for (int64_t i = 0; i < 800; ++i) {
    std::fill_n(train.features.Row<double>(i), 3, i % 20 == 0 ? 1.0 : 0.0);
    *train.targets.Row<double>(i) = i % 20 == 0 ? 5.0 : 1.0;
  }
  EXPECT_EQ(GrowLeaves(train, {.depth = 2}).leaves.size(), 1U);  // a twentieth would be alone
  const KernelNetwork fitted = FitKernelNetwork(train, InLeaves(300));
  EXPECT_FALSE(fitted.gates.has_value());
  EXPECT_EQ(fitted.others.size(), 0U);
  EXPECT_EQ(fitted.centres, 800);
}

TEST(LeafNetwork, EachLeafIsSolvedAndAllAnswerTogether) {
  const Dataset train = RowsForLeaves(900, 3);
  const Dataset asked = RowsForLeaves(60, 4);
  KernelNetwork fitted = FitKernelNetwork(train, InLeaves(600));
  ASSERT_TRUE(fitted.machine.complete);
  ASSERT_TRUE(fitted.gates.has_value());
  const LeafTree tree = GrowLeaves(train, {.depth = 1});
  ASSERT_EQ(fitted.others.size(), 1U);
  EXPECT_EQ(fitted.centres, std::ssize(tree.leaves[0].rows) + std::ssize(tree.leaves[1].rows));
  EXPECT_EQ(fitted.centres, 900 + 90);
  const std::vector<double> of_first = AnswersByElimination(fitted.network, train, tree.leaves[0].rows, asked);
  const std::vector<double> of_second = AnswersByElimination(fitted.others[0], train, tree.leaves[1].rows, asked);
  const Model model = ModelOfLeaves(std::move(fitted));
  ASSERT_TRUE(CheckEnsemble(model).ok) << CheckEnsemble(model).reason;
  const RowPredictor predictor(model);
  PredictorScratch scratch = predictor.MakeScratch();
  int64_t both = 0;
  for (const char* backend : {"serial", "cpu"}) {
    const Matrix outputs = NetworkOutputs(model, *MakeBackend(backend), asked.features);
    for (int64_t i = 0; i < asked.size(); ++i) {
      const double* const row = asked.features.Row<double>(i);
      const double first = GateOf(tree, tree.leaves[0], row);
      const double second = GateOf(tree, tree.leaves[1], row);
      both += first > 0 && second > 0 ? 1 : 0;
      const auto place = static_cast<size_t>(i);
      const double expected = (first * of_first[place] + second * of_second[place]) / (first + second);
      EXPECT_NEAR(*outputs.Row<double>(i), expected, 1e-9);
      double alone = 0;
      EXPECT_EQ(predictor.Predict(row, &alone, scratch), -1);
      EXPECT_NEAR(alone, expected, 1e-9);
    }
  }
  EXPECT_GT(both, 2);
}

TEST(LeafNetwork, TheSameBitsForAnyNumberOfThreads) {
  const Dataset train = RowsForLeaves(800, 5, DType::kF32);
  std::vector<std::string> bits;
  for (const int threads : {1, 2, 3}) {
    KernelNetworkOptions options = InLeaves(300);
    options.threads = threads;
    const KernelNetwork fitted = FitKernelNetwork(train, options);
    ASSERT_EQ(fitted.others.size(), 3U);
    std::vector<std::string> found{ParameterBytes(fitted.network), ParameterBytes(*fitted.gates)};
    for (const Network& other : fitted.others) {
      found.push_back(ParameterBytes(other));
    }
    bits = bits.empty() ? found : bits;
    EXPECT_EQ(found, bits) << threads;
  }
}

TEST(LeafNetwork, RanksShareTheLeaves) {
  const Dataset train = RowsForLeaves(800, 5, DType::kF32);
  KernelNetworkOptions options = InLeaves(300);
  std::vector<std::string> alone;
  for (const int size : {0, 1, 2, 3}) {
    const auto fit = [&](Communicator* ranks) {
      KernelNetworkOptions own = options;
      own.ranks = ranks;
      const KernelNetwork fitted = FitKernelNetwork(train, own);
      std::vector<std::string> found{
          ParameterBytes(fitted.network), ParameterBytes(*fitted.gates), LayersText(fitted.network.layers()),
          fmt::format("{} {} {} {} {} {}", fitted.machine.error, fitted.temperature, fitted.machine.ridge, fitted.tried,
                      fitted.search_rows, fmt::join(fitted.machine.feature_weights, " "))};
      for (const Network& other : fitted.others) {
        found.push_back(ParameterBytes(other) + LayersText(other.layers()));
      }
      return found;
    };
    if (size == 0) {
      alone = fit(nullptr);
      EXPECT_EQ(alone.size(), 7U);
    } else {
      RunRanks(size, [&](Communicator& ranks) { EXPECT_EQ(fit(&ranks), alone) << size; });
    }
  }
  // Where one is stopped, all are.
  RunRanks(2, [&](Communicator& ranks) {
    KernelNetworkOptions own = options;
    own.ranks = &ranks;
    own.stop_requested = [&] { return ranks.rank() == 1; };
    EXPECT_FALSE(FitKernelNetwork(train, own).machine.complete);
  });
}

TEST(LeafNetwork, KnowsGroupsWeightsTimesAndPruning) {
  Dataset train = RowsForLeaves(900, 6);
  for (int64_t i = 0; i < 900; ++i) {
    train.groups.push_back(*train.features.Row<double>(i) > 0 ? 1 : i % 40);
    train.sample_weights.push_back(i % 10 == 0 ? 0 : 1);
  }
  KernelNetworkOptions options = InLeaves(600);
  options.threads = 2;
  const KernelNetwork grouped = FitKernelNetwork(train, options);
  EXPECT_EQ(grouped.groups, 36);  // rows of weight 0 have none
  EXPECT_EQ(grouped.others.size(), 1U);
  train.groups.clear();
  for (int64_t i = 0; i < 900; ++i) {
    train.times.push_back(static_cast<double>((i * 7) % 30));
  }
  options.prune = 0.5;
  const KernelNetwork pruned = FitKernelNetwork(train, options);
  ASSERT_TRUE(pruned.gates.has_value());
  EXPECT_EQ(pruned.unpruned, 810 + 81);
  EXPECT_LT(pruned.centres, 600);
  EXPECT_EQ(pruned.centres, pruned.network.layers()[1].outputs + pruned.others[0].layers()[1].outputs);
}

TEST(LeafNetwork, ALeafMayHaveOneClass) {
  Dataset train = RowsForLeaves(900, 8);
  train.targets = Matrix(900, 2, DType::kF64);
  for (int64_t i = 0; i < 900; ++i) {
    const bool second = *train.features.Row<double>(i) > 0;
    train.targets.Row<double>(i)[0] = second ? 0 : 1;
    train.targets.Row<double>(i)[1] = second ? 1 : 0;
  }
  KernelNetworkOptions options = InLeaves(300);
  options.classes = true;
  options.threads = 2;
  KernelNetwork fitted = FitKernelNetwork(train, options);
  EXPECT_GT(fitted.left_out_correct, 0.95);
  const Model model = ModelOfLeaves(std::move(fitted));
  ASSERT_EQ(model.networks(), 3);  // of one class there are no slopes: that half is not cut
  const Matrix outputs = NetworkOutputs(model, *MakeBackend("cpu"), train.features);
  for (int64_t i = 0; i < 900; ++i) {
    const double* const row = outputs.Row<double>(i);
    EXPECT_NEAR(row[0] + row[1], 1, 1e-9);
    const double x = *train.features.Row<double>(i);
    EXPECT_TRUE(std::abs(x) < 0.1 || (row[1] > row[0]) == (x > 0)) << x;
  }
}

TEST(LeafNetwork, CanBeStopped) {
  KernelNetworkOptions options = InLeaves(300);
  int64_t tried = 0;
  options.progress = [&](int64_t systems) { tried = systems; };
  options.stop_requested = [&] { return tried > 3; };
  const KernelNetwork fitted = FitKernelNetwork(RowsForLeaves(900, 7), options);
  EXPECT_FALSE(fitted.machine.complete);
}

}  // namespace
}  // namespace lamina
