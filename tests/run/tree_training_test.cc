// Boosted trees beside a kernel machine or a network: when they are trained, what they count, and what they refuse.
#include "lamina/run/tree_training.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "lamina/boost/boosted_trees.h"
#include "lamina/model/evaluate.h"
#include "lamina/run/session.h"
#include "lamina/settings/settings_text.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// A class or a number by questions about two of six columns, with noise; or by a smooth law without noise.
TrainSettings TreeRun(const TemporaryFolder& folder, bool classes, int rows, bool smooth = false) {
  Random random(17);
  std::string text = "a,b,c,d,e,f,y\n";
  for (int i = 0; i < rows; ++i) {
    double x[6];
    for (double& number : x) {
      number = random.Normal();
      text += fmt::format("{:.4f},", number);
    }
    const double asked = (x[0] > 0.2 ? 1.0 : -1.0) * (x[1] > -0.4 ? 1.0 : -1.0) + 0.3 * random.Normal();
    const double y = smooth ? std::sin(x[0]) + 0.2 * x[1] : asked;
    text += classes ? (y > 0 ? "yes\n" : "no\n") : fmt::format("{:.5f}\n", y);
  }
  TrainSettings settings;
  settings.data = folder.Path(fmt::format("{}{}{}.csv", classes ? "classes" : "numbers", rows, smooth ? "s" : ""));
  WriteFileAtomically(settings.data, text);
  settings.threads = 1;
  return settings;
}

struct Outcome {
  Model model;
  double test_loss = 0;
};

Outcome OutcomeOf(const TrainSettings& settings) {
  TrainSession session(settings);
  const TrainResult result = session.Run({});
  return {session.model(), result.test ? result.test->loss : 0};
}

double ShareOf(const Outcome& run) { return run.model.training["trees"]["share"].get<double>(); }

TEST(TreesBeside, HelpWhereAnswersAreQuestions) {
  const TemporaryFolder folder;
  for (const bool classes : {false, true}) {
    for (const int rows : {500, 2000}) {  // a kernel machine alone, and with a network
      TrainSettings settings = TreeRun(folder, classes, rows);
      const Outcome with = OutcomeOf(settings);
      settings.trees = "no";
      const Outcome without = OutcomeOf(settings);
      EXPECT_FALSE(without.model.training.contains("trees"));
      EXPECT_EQ(with.model.networks(), without.model.networks() + 1);
      EXPECT_NEAR(std::accumulate(with.model.shares.begin(), with.model.shares.end(), 0.0), 1, 1e-12);
      EXPECT_GE(ShareOf(with), 0.3) << classes << rows;
      EXPECT_LE(ShareOf(with), 0.95);  // the most that trees may count
      if (!classes) {
        EXPECT_GT(ShareOf(with), 0.5) << rows << ": trees alone are far better";
      }
      EXPECT_NEAR(with.model.shares.back(), ShareOf(with), 1e-12);
      EXPECT_LT(with.test_loss, 0.95 * without.test_loss) << classes << rows;
      EXPECT_EQ(ParameterBytes(with.model.network), ParameterBytes(without.model.network));
    }
  }
}

// They count nothing, and the model has none.
TEST(TreesBeside, AreLeftOutWhereTheyDoNotHelp) {
  const TemporaryFolder folder;
  const Outcome run = OutcomeOf(TreeRun(folder, /*classes=*/false, 500, /*smooth=*/true));
  EXPECT_EQ(ShareOf(run), 0);
  EXPECT_EQ(run.model.networks(), 1);
  EXPECT_TRUE(run.model.shares.empty());
}

TEST(TreesBeside, AreNotTrainedWhereNothingCanTell) {
  const TemporaryFolder folder;
  for (const auto& [name, text] : {std::pair("trees", "no"),
                                   {"class-weights", "balanced"},
                                   {"group", "f"},
                                   {"split-by", "f"},
                                   {"recipe", "tabular"},
                                   {"method", "rfm"},
                                   {"effort", "quick"}}) {
    TrainSettings settings = TreeRun(folder, /*classes=*/true, 300);
    SetSetting(settings, name, text);
    EXPECT_FALSE(OutcomeOf(settings).model.training.contains("trees")) << name;
  }
  EXPECT_FALSE(OutcomeOf(TreeRun(folder, /*classes=*/true, 110)).model.training.contains("trees")) << "of 88 rows";
  EXPECT_TRUE(OutcomeOf(TreeRun(folder, /*classes=*/true, 130)).model.training.contains("trees")) << "of 104 rows";
}

TEST(TreesBeside, StandBesideANetworkThatIsAskedFor) {
  const TemporaryFolder folder;
  TrainSettings settings = TreeRun(folder, /*classes=*/true, 800);
  settings.recipe = "tabular";
  settings.epochs = 4;
  settings.trees = "yes";
  settings.model = folder.Path("m");
  const Outcome run = OutcomeOf(settings);
  EXPECT_EQ(run.model.networks(), 2);
  EXPECT_GT(ShareOf(run), 0.3);
  EXPECT_EQ(LoadModel(settings.model).shares, run.model.shares);
}

TEST(TreesBeside, HaveTheSameBitsOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  for (const int rows : {300, 1500}) {
    TrainSettings settings = TreeRun(folder, /*classes=*/true, rows);
    settings.trees = "yes";
    settings.recipe = rows > 1000 ? "mixed" : "auto";
    settings.epochs = rows > 1000 ? std::optional<int64_t>(3) : std::nullopt;
    const Outcome one = OutcomeOf(settings);
    settings.threads = 3;
    const Outcome three = OutcomeOf(settings);
    ASSERT_EQ(one.model.networks(), three.model.networks());
    for (int64_t n = 0; n < one.model.networks(); ++n) {
      EXPECT_EQ(ParameterBytes(one.model.network_at(n)), ParameterBytes(three.model.network_at(n))) << n;
    }
    EXPECT_EQ(one.model.shares, three.model.shares);
  }
}

// Two of six columns ask one question together in every cell of a grid; or each number counts by itself.
Dataset DeepOrFlat(int64_t rows, bool deep, uint64_t seed) {
  Random random(seed);
  Dataset data;
  data.features = Matrix(rows, 6, DType::kF32);
  data.targets = Matrix(rows, 1, DType::kF32);
  for (int64_t i = 0; i < rows; ++i) {
    auto* const x = data.features.Row<float>(i);
    double sum = 0;
    for (int64_t j = 0; j < 6; ++j) {
      x[j] = static_cast<float>(random.Normal());
      sum += x[j] > 0 ? 1 : -1;
    }
    const auto cell = static_cast<int64_t>(std::floor(2 * x[0]) + std::floor(2 * x[1]));
    const double y = deep ? (cell % 2 == 0 ? 1 : -1) : sum;
    data.targets.Row<float>(i)[0] = static_cast<float>(y + 0.5 * random.Normal());
  }
  return data;
}

TEST(TreeTraining, DeepTreesWhereRowsLeftOutSaySo) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  TrainSettings settings;
  const auto leaves = [&](int64_t rows, bool deep) {
    const std::optional<TreeTraining> trees =
        TrainTrees(settings, DeepOrFlat(rows, deep, 1), DeepOrFlat(500, deep, 2), *backend, {});
    return trees->found["leaves"].get<int64_t>();
  };
  EXPECT_EQ(leaves(kLeastRowsOfDeepTrees, true), kDeepTreeLeaves);
  EXPECT_EQ(leaves(kLeastRowsOfDeepTrees - 1, true), kTreeLeaves);
  EXPECT_EQ(leaves(kLeastRowsOfDeepTrees, false), kTreeLeaves);
  settings.tree_leaves = 5;
  EXPECT_EQ(leaves(kLeastRowsOfDeepTrees, true), 5);
}

// Sums of two columns say the stripe of a row; or each number counts by itself.
Dataset StripesOrFlat(int64_t rows, bool stripes, uint64_t seed) {
  Dataset data = DeepOrFlat(rows, false, seed);
  for (int64_t i = 0; stripes && i < rows; ++i) {
    const auto* const x = data.features.Row<float>(i);
    data.targets.Row<float>(i)[0] = std::sin(3 * (x[2] - x[4]));
  }
  return data;
}

TEST(TreeTraining, SumsOfColumnsWhereRowsLeftOutSaySo) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  TrainSettings settings;
  const auto sums = [&](int64_t rows, bool stripes, bool learn_both = false) {
    const std::optional<TreeTraining> trees =
        TrainTrees(settings, StripesOrFlat(rows, stripes, 1), StripesOrFlat(500, stripes, 2), *backend, {}, learn_both);
    EXPECT_EQ(trees->network.layers().size(), trees->found["sums"].get<int64_t>() > 0 ? 4U : 3U);
    return trees->found["sums"].get<int64_t>();
  };
  EXPECT_GT(sums(kLeastRowsOfDeepTrees, true), 0);
  EXPECT_GT(sums(kLeastRowsOfDeepTrees, true, /*learn_both=*/true), 0);
  EXPECT_EQ(sums(kLeastRowsOfDeepTrees, false), 0);
  EXPECT_EQ(sums(kLeastRowsOfDeepTrees - 1, true), 0);
  settings.tree_pairs = 1;
  EXPECT_GT(sums(500, true), 0) << "what is asked for is tried with any rows";
  settings.tree_pairs = 0;
  EXPECT_EQ(sums(kLeastRowsOfDeepTrees, true), 0);
}

// A wave of one number, as a number or as one of two classes.
Dataset Waves(int64_t rows, bool classes, uint64_t seed) {
  Random random(seed);
  Dataset data;
  data.features = Matrix(rows, 1, DType::kF32);
  data.targets = Matrix(rows, classes ? 2 : 1, DType::kF32);
  for (int64_t i = 0; i < rows; ++i) {
    const double x = random.Uniform();
    const double y = std::sin(200 * x);
    data.features.Row<float>(i)[0] = static_cast<float>(x);
    if (classes) {
      data.labels.push_back(y > 0 ? 1 : 0);
      data.targets.Row<float>(i)[data.labels.back()] = 1;
    } else {
      data.targets.Row<float>(i)[0] = static_cast<float>(y);
    }
  }
  return data;
}

TEST(TreeTraining, NumbersHaveMoreBinsThanClasses) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  const auto questions = [&](int64_t rows, bool classes) {
    return TrainTrees({}, Waves(rows, classes, 1), Waves(500, classes, 2), *backend, {})->network.layers()[0].outputs;
  };
  EXPECT_LT(questions(8000, true), kBinsForClasses);
  const int64_t of_numbers = questions(8000, false);
  EXPECT_LT(of_numbers, kBinsForNumbers);
  EXPECT_GT(of_numbers, 2 * kBinsForClasses);
  EXPECT_LT(questions(480, false), 30) << "bins of 16 rows";
}

TEST(TreeTraining, ThoseBesideKernelsLearnTheValidationRows) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  const TrainSettings settings;
  const Dataset train = DeepOrFlat(1000, false, 1);
  const Dataset validation = DeepOrFlat(300, false, 2);
  const std::optional<TreeTraining> apart = TrainTrees(settings, train, validation, *backend, {});
  const std::optional<TreeTraining> both = TrainTrees(settings, train, validation, *backend, {}, /*learn_both=*/true);
  EXPECT_EQ(both->found, apart->found);
  EXPECT_NE(ParameterBytes(both->network), ParameterBytes(apart->network));
  ASSERT_EQ(both->left_out.rows(), 300);
  EXPECT_EQ(std::memcmp(both->left_out.data(), apart->left_out.data(), 300 * sizeof(double)), 0);
  Model model;
  model.network = both->network;
  const Matrix answers = NetworkOutputs(model, *backend, validation.features);
  double apart_loss = 0;
  double both_loss = 0;
  for (int64_t i = 0; i < 300; ++i) {
    const double target = validation.targets.Row<float>(i)[0];
    apart_loss += std::pow(apart->left_out.Row<double>(i)[0] - target, 2) / 300;
    both_loss += std::pow(static_cast<double>(answers.Row<float>(i)[0]) - target, 2) / 300;
  }
  EXPECT_NEAR(apart_loss, both->found["left_out_loss"].get<double>(), 1e-6);
  EXPECT_LT(both_loss, 0.8 * apart_loss) << "of rows that it has learned";
}

// A stop among the trees keeps the network, and another run has the bits of one.
TEST(TreesBeside, StoppedAmongThemTheNetworkStays) {
  const TemporaryFolder folder;
  TrainSettings settings = TreeRun(folder, /*classes=*/true, 800);
  settings.recipe = "tabular";
  settings.epochs = 3;
  settings.trees = "yes";
  const Outcome whole = OutcomeOf(settings);
  settings.model = folder.Path("m");
  TrainSession session(settings);
  int asked = 0;
  const TrainResult result = session.Run({.stop_requested = [&] { return session.only_others_left() && ++asked > 5; }});
  EXPECT_EQ(result.history.stop_reason, "interrupted");
  EXPECT_TRUE(session.only_others_left());
  EXPECT_EQ(session.model().networks(), 1);
  session.Run({});
  EXPECT_EQ(session.model().shares, whole.model.shares);
  for (int64_t n = 0; n < whole.model.networks(); ++n) {
    EXPECT_EQ(ParameterBytes(session.model().network_at(n)), ParameterBytes(whole.model.network_at(n))) << n;
  }
}

TEST(TreesBeside, RefuseWhatCannotBe) {
  const TemporaryFolder folder;
  const auto refusal = [&](TrainSettings settings, const std::vector<std::pair<std::string, std::string>>& more) {
    settings.trees = "yes";
    for (const auto& [name, text] : more) {
      SetSetting(settings, name, text);
    }
    return std::string(CaughtError([&] { OutcomeOf(settings); }).what());
  };
  const TrainSettings table = TreeRun(folder, /*classes=*/true, 300);
  const std::pair<std::string, std::string> network{"recipe", "tabular"};
  for (const auto& [name, text] : {std::pair("calibrate", "yes"), {"quantize-aware", "2"}, {"loss", "mse"}}) {
    EXPECT_TRUE(
        Mentions(refusal(table, {network, {name, text}}), fmt::format("--{} cannot be combined with --trees", name)));
  }
  EXPECT_TRUE(Mentions(refusal(table, {network}), "60 validation rows say how much trees count, and 100 are needed"));
  EXPECT_TRUE(Mentions(refusal(table, {{"method", "rfm"}, {"class-weights", "balanced"}}), "rows have weights"));
  EXPECT_TRUE(Mentions(refusal(table, {{"method", "knn"}}), "--trees has no effect with --method knn"));
  EXPECT_TRUE(Mentions(refusal(TreeRun(folder, true, 1800), {{"method", "rfm"}}), "up to 1,000 training rows"));
  EXPECT_TRUE(Mentions(refusal(table, {network, {"output-activation", "sigmoid"}}), "--trees: "));
  TrainSettings boost = table;
  boost.method = "boost";
  boost.hidden = {5};
  EXPECT_TRUE(Mentions(CaughtError([&] { OutcomeOf(boost); }).what(), "--hidden has no effect with --method boost"));
}

}  // namespace
}  // namespace lamina
