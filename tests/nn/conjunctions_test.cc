// Trees that are looked up, against the network that they are, computed layer by layer by backend serial.
#include "lamina/nn/conjunctions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/nan.h"
#include "lamina/boost/tree_network.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/model.h"
#include "lamina/model/predictor.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

constexpr int64_t kNumbers = 5;  // nobody asks for the last one

// Cuts between neighbors in a list of numbers that are `step` apart, of f32 as those of a table.
ColumnBins Cuts(int64_t cuts, double step) {
  ColumnBins bins;
  for (int64_t column = 0; column + 1 < kNumbers; ++column) {
    bins.cuts.emplace_back();
    for (int64_t i = 0; i < cuts; ++i) {
      const auto number = [&](int64_t place) { return static_cast<float>(static_cast<double>(place) * step); };
      const int64_t below = i - cuts / 2 + 3 * column;
      bins.cuts.back().push_back({number(below), number(below + 1)});
    }
  }
  bins.cuts.emplace_back();
  return bins;
}

struct Forest {
  int64_t trees;
  int64_t depth;
  int64_t cuts;
  double step = 1;
};

// Splits the leaf at `place`, behind the questions that were asked. None is asked twice on a path.
void Grow(Tree& tree, size_t place, std::vector<std::pair<int64_t, int64_t>> asked, const Forest& forest,
          int64_t scores, Random& random) {
  const int64_t depth = std::ssize(asked);
  const std::pair<int64_t, int64_t> question{random.Below(kNumbers - 1),
                                             random.Below(static_cast<uint64_t>(forest.cuts))};
  if (depth == forest.depth || (depth > 0 && random.Below(5) == 0) ||
      std::find(asked.begin(), asked.end(), question) != asked.end()) {
    for (int64_t k = 0; k < scores; ++k) {
      tree[place].value.push_back(random.Normal());
    }
    return;
  }
  const int64_t no = std::ssize(tree);
  tree.resize(tree.size() + 2);
  tree[place] = {question.first, question.second, no, no + 1, {}};
  asked.push_back(question);
  Grow(tree, static_cast<size_t>(no), asked, forest, scores, random);
  Grow(tree, static_cast<size_t>(no) + 1, asked, forest, scores, random);
}

BoostedTrees MakeTrees(const Forest& forest, int64_t scores, uint64_t seed) {
  Random random(seed);
  BoostedTrees trees;
  trees.bins = Cuts(forest.cuts, forest.step);
  for (int64_t k = 0; k < scores; ++k) {
    trees.start.push_back(random.Normal());
  }
  for (int64_t t = 0; t < forest.trees; ++t) {
    trees.trees.emplace_back(1);
    Grow(trees.trees.back(), 0, {}, forest, scores, random);
  }
  return trees;
}

// Some numbers of training rows, some between two of them, some beyond all.
Matrix RowsOfNumbers(int64_t rows, const Forest& forest, DType dtype, double between, uint64_t seed) {
  Matrix x(rows, kNumbers, dtype);
  Random random(seed);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < kNumbers; ++j) {
        const double place = std::round(random.Uniform(-0.8, 0.8) * static_cast<double>(forest.cuts)) +
                             (random.Uniform(0, 1) < between ? random.Uniform(0, 1) : 0) + 3.0 * static_cast<double>(j);
        x.Row<T>(i)[j] = static_cast<T>(place * forest.step);
      }
    }
  });
  return x;
}

Matrix ByLayers(const Network& network, const Matrix& x) {
  Model model;
  model.network = network;
  return NetworkOutputs(model, *MakeBackend("serial"), x);
}

Matrix LookedUp(const Network& network, const Matrix& x) {
  const auto trees = Conjunctions::Of(network);
  EXPECT_NE(trees, nullptr);
  Matrix y(x.rows(), network.outputs(), x.dtype());
  if (trees != nullptr) {
    const AlignedBuffer scratch(trees->scratch_bytes());
    trees->Answer(x.data(), x.rows(), y.data(), scratch.data());
  }
  return y;
}

// `size`: of the sums.
void ExpectNear(const Matrix& a, const Matrix& b, double size) {
  DispatchFloat(a.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t k = 0; k < a.cols(); ++k) {
        ASSERT_NEAR(a.Row<T>(i)[k], b.Row<T>(i)[k], 8 * size * std::numeric_limits<T>::epsilon()) << i << ", " << k;
      }
    }
  });
}

TEST(Conjunctions, SayWhatLayersSay) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t outputs : {1, 2, 3, 7}) {
      for (const Forest& forest : {Forest{1, 1, 1}, {3, 2, 4}, {40, 5, 20}, {300, 3, 100, 0.37}}) {
        for (const double between : {0.0, 0.2, 1.0}) {
          SCOPED_TRACE(fmt::format("{} trees {} deep, {} outputs, {} between, {}", forest.trees, forest.depth, outputs,
                                   between, DTypeName(dtype)));
          const bool classes = outputs > 1;
          const Network network =
              NetworkOfTrees(MakeTrees(forest, outputs == 2 ? 1 : outputs, 7), outputs, classes, dtype);
          const Matrix x = RowsOfNumbers(80, forest, dtype, between, 11);
          const double size = classes ? 60 : 10 + 4 * static_cast<double>(forest.trees);
          ExpectNear(LookedUp(network, x), ByLayers(network, x), size);
        }
      }
    }
  }
}

// Two of the columns become sums of two numbers each.
BoostedTrees WithSums(BoostedTrees trees) {
  trees.sums = {{0, 2, 1, 1, 100}, {3, 1, 0.5, -2, 200}};
  trees.bins.cuts.push_back(trees.bins.cuts[1]);
  trees.bins.cuts.push_back(trees.bins.cuts[3]);
  for (Tree& tree : trees.trees) {
    for (TreeNode& node : tree) {
      node.column = node.column == 1 ? kNumbers : node.column == 3 ? kNumbers + 1 : node.column;
    }
  }
  return trees;
}

TEST(Conjunctions, OfSumsSayWhatLayersSay) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t outputs : {1, 3}) {
      for (const double between : {0.0, 0.5}) {
        const Forest forest{60, 4, 24};
        const BoostedTrees trees = WithSums(MakeTrees(forest, outputs, 9));
        const Network network = NetworkOfTrees(trees, outputs, outputs > 1, dtype);
        ASSERT_EQ(network.layers().size(), 4U);
        Matrix x = RowsOfNumbers(300, forest, dtype, between, 13);
        ExpectNear(LookedUp(network, x), ByLayers(network, x), 400);
        DispatchFloat(dtype, [&]<class T>(T) {
          x.Row<T>(1)[2] = static_cast<T>(kNaN);
          EXPECT_TRUE(std::isnan(LookedUp(network, x).Row<T>(1)[0])) << "a sum has no number";
        });
      }
    }
  }
}

// Neither the look-up nor a model file needs the matrix of weights that are nearly all zero.
TEST(Conjunctions, LeaveWeightsInLists) {
  const TemporaryFolder folder;
  const Forest forest{300, 5, 100};
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Model model = SmallModel(RandomTable(20, kNumbers, 0, 1), dtype, "tanh", Task::kRegression);
    model.network = NetworkOfTrees(MakeTrees(forest, 1, 3), 1, false, dtype);
    SaveModel(folder.Path("lists"), model);
    const Model again = LoadModel(folder.Path("lists"));
    const Network dense = model.network;
    EXPECT_EQ(ParameterBytes(dense).size(), static_cast<size_t>(dense.parameter_bytes()));
    EXPECT_EQ(dense.ListedWeights(1), nullptr);
    const Matrix x = RowsOfNumbers(50, forest, dtype, 0.2, 5);
    const Matrix answers = LookedUp(again.network, x);
    const auto answer_bytes = static_cast<size_t>(50 * DTypeSize_bytes(dtype));
    EXPECT_EQ(std::memcmp(answers.data(), LookedUp(dense, x).data(), answer_bytes), 0);
    EXPECT_NE(model.network.ListedWeights(1), nullptr);
    EXPECT_NE(again.network.ListedWeights(1), nullptr);
    model.network = dense;
    SaveModel(folder.Path("dense"), model);
    EXPECT_EQ(ReadFile(folder.Path("lists")), ReadFile(folder.Path("dense")));
    EXPECT_EQ(ParameterBytes(again.network), ParameterBytes(dense));
    EXPECT_EQ(again.network.ListedWeights(1), nullptr);
  }
}

// Two questions whose sides overlap, as where numbers are large and near each other: both are unsure at once.
TEST(Conjunctions, OverlappingQuestions) {
  const Forest forest{30, 4, 12, 1e-7};
  const Network network = NetworkOfTrees(MakeTrees(forest, 1, 3), 1, false, DType::kF32);
  const Matrix x = RowsOfNumbers(200, forest, DType::kF32, 0.5, 5);
  ExpectNear(LookedUp(network, x), ByLayers(network, x), 200);
  Network wide = network;
  for (int64_t j = 0; j < wide.layers()[0].outputs; ++j) {  // each spans five of its neighbors
    for (int64_t i = 0; i < kNumbers; ++i) {
      wide.Weights(0).Row<float>(j)[i] /= 5;
    }
    static_cast<float*>(wide.Bias(0))[j] /= 5;
  }
  ExpectNear(LookedUp(wide, x), ByLayers(wide, x), 200);
}

// Trees answer training rows with the leaf that these are in, however large the numbers are.
TEST(Conjunctions, TrainingRowsHaveTheirLeaves) {
  for (const double step : {1.0, 1e-3, 1e6, 1.0 / 3}) {
    const Forest forest{50, 4, 200, step};
    const BoostedTrees trees = MakeTrees(forest, 1, 9);
    const Network network = NetworkOfTrees(trees, 1, false, DType::kF32);
    const Matrix x = RowsOfNumbers(100, forest, DType::kF32, 0, 13);
    for (int64_t j = 0; j < network.layers()[0].outputs; ++j) {
      const float* const weights = network.Weights(0).Row<float>(j);
      const int64_t column = std::find_if(weights, weights + kNumbers, [](float w) { return w != 0; }) - weights;
      for (const ColumnCut& cut : trees.bins.cuts[static_cast<size_t>(column)]) {
        for (const double side : {cut.below, cut.above}) {
          const float product = static_cast<float>(side) * weights[column];
          ASSERT_GE(std::abs(product + static_cast<const float*>(network.Bias(0))[j]), 1.0F) << side << ", " << j;
        }
      }
    }
    const Matrix layers = ByLayers(network, x);
    const Matrix looked_up = LookedUp(network, x);
    for (int64_t i = 0; i < x.rows(); ++i) {
      double sum = trees.start[0];
      for (const Tree& tree : trees.trees) {
        int64_t place = 0;
        while (tree[static_cast<size_t>(place)].column >= 0) {
          const TreeNode& node = tree[static_cast<size_t>(place)];
          const ColumnCut& cut = trees.bins.cuts[static_cast<size_t>(node.column)][static_cast<size_t>(node.cut)];
          place = x.Row<float>(i)[node.column] > (cut.below + cut.above) / 2 ? node.yes : node.no;
        }
        sum += tree[static_cast<size_t>(place)].value[0];
      }
      ASSERT_NEAR(layers.Row<float>(i)[0], sum, 1e-4) << i;
      ASSERT_NEAR(looked_up.Row<float>(i)[0], sum, 1e-5) << i;
    }
  }
}

TEST(Conjunctions, OtherFormsAreLeftToLayers) {
  const Network trees = NetworkOfTrees(MakeTrees({4, 3, 5}, 1, 1), 1, false, DType::kF32);
  ASSERT_TRUE(Conjunctions::Of(trees) != nullptr);
  const auto changed = [&](const std::function<void(Network&)>& change) {
    Network other = trees;
    change(other);
    return Conjunctions::Of(other) != nullptr;
  };
  const auto asked = [](Network& network) -> float& {
    float* const row = network.Weights(0).Row<float>(0);
    return *std::find_if(row, row + kNumbers, [](float weight) { return weight != 0; });
  };
  const auto conditioned = [](Network& network) -> float& {
    float* const row = network.Weights(1).Row<float>(0);
    return *std::find_if(row, row + network.layers()[1].inputs, [](float weight) { return weight != 0; });
  };
  EXPECT_FALSE(changed([&](Network& network) { asked(network) = 0; }));
  EXPECT_FALSE(changed([&](Network& network) { asked(network) *= -1; }));
  EXPECT_FALSE(changed([&](Network& network) { asked(network) = std::numeric_limits<float>::infinity(); }));
  EXPECT_FALSE(changed([&](Network& network) { network.Weights(0).Row<float>(0)[kNumbers - 1] = 1; }));
  EXPECT_FALSE(changed([&](Network& network) { static_cast<float*>(network.Bias(0))[0] = std::nanf(""); }));
  EXPECT_FALSE(changed([&](Network& network) { conditioned(network) *= 1.5F; }));
  EXPECT_FALSE(changed([&](Network& network) { conditioned(network) = std::nanf(""); }));
  EXPECT_FALSE(changed([&](Network& network) { static_cast<float*>(network.Bias(1))[0] += 0.5F; }));
  for (const size_t layer : {size_t{0}, size_t{1}}) {
    std::vector<LayerSpec> layers = trees.layers();
    layers[layer].activation = Activation("tanh");
    EXPECT_FALSE(Conjunctions::Of(Network(layers, DType::kF32)) != nullptr);
    layers = trees.layers();
    layers[layer].bias = false;
    EXPECT_FALSE(Conjunctions::Of(Network(layers, DType::kF32)) != nullptr);
  }
  EXPECT_FALSE(Conjunctions::Of(Network(trees.layers(), DType::kF32, 2)) != nullptr);
  EXPECT_FALSE(Conjunctions::Of(Network({trees.layers()[0]}, DType::kF32)) != nullptr);
}

TEST(Conjunctions, OfWhatIsUnknownSayNothing) {
  const Network network = NetworkOfTrees(MakeTrees({9, 3, 5}, 1, 1), 1, false, DType::kF32);
  Matrix x = RowsOfNumbers(4, {9, 3, 5}, DType::kF32, 0, 2);
  x.Row<float>(1)[0] = std::nanf("");
  x.Row<float>(2)[kNumbers - 1] = std::nanf("");  // nobody asks
  x.Row<float>(3)[1] = std::numeric_limits<float>::infinity();
  const Matrix y = LookedUp(network, x);
  EXPECT_TRUE(std::isfinite(y.Row<float>(0)[0]));
  EXPECT_TRUE(std::isnan(y.Row<float>(1)[0]));
  EXPECT_TRUE(std::isfinite(y.Row<float>(2)[0]));
  EXPECT_TRUE(std::isfinite(y.Row<float>(3)[0]));
}

// One answer: alone, together, by the program's backend on any number of threads.
TEST(Conjunctions, HaveTheSameBitsOnEveryPath) {
  const Forest forest{40, 5, 20};
  Model model;
  model.network = NetworkOfTrees(MakeTrees(forest, 3, 7), 3, true, DType::kF32);
  const Matrix x = RowsOfNumbers(90, forest, DType::kF32, 0.3, 11);
  const Matrix expected = LookedUp(model.network, x);
  const auto same = [&](const Matrix& y) {
    return std::memcmp(y.data(), expected.data(), sizeof(float) * static_cast<size_t>(y.rows() * y.cols())) == 0;
  };
  for (const int threads : {1, 2, 3}) {
    EXPECT_TRUE(same(NetworkOutputs(model, *MakeBackend("cpu", {.threads = threads}), x))) << threads;
  }
  const Predictor predictor(model.network);
  const Predictor copy = predictor;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
  for (const int64_t at_once : {1, 7, 64}) {
    Matrix y(x.rows(), 3, DType::kF32);
    const AlignedBuffer scratch(at_once * copy.scratch_bytes());
    for (int64_t i = 0; i < x.rows(); i += at_once) {
      copy.PredictRowsAt(x.Row<float>(i), std::min(at_once, x.rows() - i), y.Row<float>(i), scratch.data());
    }
    EXPECT_TRUE(same(y)) << at_once;
  }
}

}  // namespace
}  // namespace lamina
