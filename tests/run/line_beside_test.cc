// A line beside others: how much it counts, and when there is none.
#include "lamina/run/line_beside.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/convert.h"
#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "lamina/run/cross_validation.h"
#include "lamina/run/kernel_text.h"
#include "lamina/run/session.h"
#include "lamina/run/share_beside.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// Eight columns: the answer is a sum of them, or a product of two, and noise.
TrainSettings SumRun(const TemporaryFolder& folder, int rows, bool product) {
  Random random(21);
  std::string text = "a,b,c,d,e,f,g,h,y\n";
  for (int i = 0; i < rows; ++i) {
    double x[8];
    double sum = 0;
    for (int j = 0; j < 8; ++j) {
      x[j] = random.Normal();
      sum += (j - 3.5) * x[j];
      text += fmt::format("{:.5f},", x[j]);
    }
    text += fmt::format("{:.5f}\n", (product ? 5 * x[0] * x[1] : sum) + 3 * random.Normal());
  }
  TrainSettings settings;
  settings.data = folder.Path(fmt::format("{}_{}.csv", rows, product));
  WriteFileAtomically(settings.data, text);
  settings.threads = 1;
  return settings;
}

struct SumOutcome {
  Model model;
  double loss = 0;
  std::vector<std::string> lines;
};

SumOutcome SumOutcomeOf(const TrainSettings& settings) {
  TrainSession session(settings);
  const TrainResult result = session.Run({});
  return {session.model(), result.test->loss, FoundLines(session)};
}

TEST(LineBeside, CountsWhereItHelps) {
  const TemporaryFolder folder;
  for (const int rows : {400, 1600}) {  // beside a kernel machine, and beside a network, too
    TrainSettings settings = SumRun(folder, rows, /*product=*/false);
    const SumOutcome with = SumOutcomeOf(settings);
    const std::string text = LineBesideText(with.model.training);
    EXPECT_NE(text.find("a line beside, which counts "), std::string::npos);
    EXPECT_EQ(with.lines.back(), text);
    EXPECT_TRUE(CheckEnsemble(with.model));
    EXPECT_NEAR(std::accumulate(with.model.shares.begin(), with.model.shares.end(), 0.0), 1, 1e-12);
    EXPECT_EQ(with.model.others.back().layers().size(), 1U);
    SaveModel(folder.Path("m"), with.model);
    EXPECT_EQ(LoadModel(folder.Path("m")).shares, with.model.shares);

    settings.line = "first";
    const SumOutcome without = SumOutcomeOf(settings);
    EXPECT_EQ(LineBesideText(without.model.training), "");
    EXPECT_LT(with.loss, without.loss) << rows;
  }
}

TEST(LineBeside, IsNotThereWhereItDoesNotHelp) {
  const TemporaryFolder folder;
  EXPECT_EQ(LineBesideText(SumOutcomeOf(SumRun(folder, 400, /*product=*/true)).model.training), "");
  TrainSettings settings = SumRun(folder, 110, /*product=*/false);  // fewer than 100 rows are left out
  EXPECT_EQ(LineBesideText(SumOutcomeOf(settings).model.training), "");
  settings = SumRun(folder, 800, /*product=*/false);
  settings.recipe = "tabular";
  settings.line = "possible";
  settings.epochs = 3;
  EXPECT_NE(LineBesideText(SumOutcomeOf(settings).model.training), "");
  settings.bag = true;
  settings.folds = 3;
  EXPECT_EQ(CrossValidate(settings, ReadRawData(settings), {}).found.networks.size(), 3U);  // alone
  settings = SumRun(folder, 400, /*product=*/false);
  settings.line = "no";
  EXPECT_EQ(LineBesideText(SumOutcomeOf(settings).model.training), "");
}

// A model of one output and no networks beside; nobody asks what it computes.
struct OneOutput {
  Model model;
  Matrix answers{400, 1, DType::kF32};
  Matrix beside{400, 1, DType::kF64};
  Matrix targets{400, 1, DType::kF32};

  OneOutput() {
    model.network = Network({{1, 1, Synapse::kDot, Activation()}}, DType::kF32);
    model.loss = Loss::kMse;
    Random random(4);
    for (int i = 0; i < 400; ++i) {
      const double truth = random.Normal();
      targets.Row<float>(i)[0] = static_cast<float>(truth);
      answers.Row<float>(i)[0] = static_cast<float>(truth + random.Normal());
      beside.Row<double>(i)[0] = truth + random.Normal();
    }
  }

  double Add(double usual, double most) {
    return AddBeside(model.network, beside, targets, {usual, 0, most}, answers, model);
  }
};

TEST(ShareBeside, IsTheLikeliest) {
  OneOutput equal;  // as wrong as the model, and by chance elsewhere
  EXPECT_NEAR(equal.Add(0, 0.95), 0.5, 0.051);
  EXPECT_EQ(equal.model.shares.size(), 2U);
  double squares = 0;
  for (int i = 0; i < 400; ++i) {
    squares += std::pow(equal.answers.Row<float>(i)[0] - equal.targets.Row<float>(i)[0], 2) / 400;
  }
  EXPECT_NEAR(squares, 0.5, 0.1);  // the answers are those of both

  OneOutput right;
  ConvertMatrix(right.targets.view(), right.beside.view());
  EXPECT_EQ(right.Add(0, 0.95), 0.95);
  OneOutput limited;
  ConvertMatrix(limited.targets.view(), limited.beside.view());
  EXPECT_EQ(limited.Add(0.25, 0.5), 0.5);
}

TEST(ShareBeside, IsNothingWhereThatIsLikelier) {
  OneOutput wrong;
  ConvertMatrix(wrong.targets.view(), wrong.answers.view());
  EXPECT_EQ(wrong.Add(0, 0.95), 0);
  EXPECT_TRUE(wrong.model.shares.empty());
  EXPECT_TRUE(wrong.model.others.empty());
}

TEST(ShareBeside, RowsWithoutAnAnswerAreNotAsked) {
  OneOutput some;
  for (int i = 0; i < 390; ++i) {
    some.beside.Row<double>(i)[0] = NAN;
  }
  for (int i = 390; i < 400; ++i) {
    some.answers.Row<float>(i)[0] = some.targets.Row<float>(i)[0] + 1;
    some.beside.Row<double>(i)[0] = some.targets.Row<float>(i)[0] - 1;
  }
  EXPECT_NEAR(some.Add(0, 0.95), 0.5, 0.051);
}

}  // namespace
}  // namespace lamina
