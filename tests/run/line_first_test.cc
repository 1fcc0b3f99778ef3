// A line that answers first: when it does, what it brings, and that everything else goes on as without it.
#include "lamina/run/line_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "lamina/model/evaluate.h"
#include "lamina/run/cross_validation.h"
#include "lamina/run/kernel_text.h"
#include "lamina/run/session.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// A sum of four columns, and `curve` times what no line has.
TrainSettings LineRun(const TemporaryFolder& folder, int rows, double curve) {
  Random random(11);
  std::string text = "a,b,c,d,w,y\n";
  for (int i = 0; i < rows; ++i) {
    double x[4];
    for (double& number : x) {
      number = 2 * random.Uniform() - 1;
      text += fmt::format("{:.5f},", number);
    }
    text +=
        fmt::format("{},{:.6f}\n", i % 2 + 1, 300 * x[0] - 200 * x[1] + 70 * x[2] + 1000 + curve * std::sin(3 * x[3]));
  }
  TrainSettings settings;
  settings.data = folder.Path(fmt::format("{}_{}.csv", rows, curve));
  WriteFileAtomically(settings.data, text);
  settings.threads = 1;
  return settings;
}

struct LineOutcome {
  Model model;
  TrainResult result;
  std::vector<std::string> lines;
};

LineOutcome LineOutcomeOf(const TrainSettings& settings) {
  TrainSession session(settings);
  TrainResult result = session.Run({});
  return {session.model(), std::move(result), FoundLines(session)};
}

bool HasLine(const Model& model) { return !LineText(model.training).empty(); }

TEST(LineFirst, IsThereWhereItLeavesAThousandth) {
  const TemporaryFolder folder;
  for (const int rows : {400, 1600}) {  // a kernel machine, and with a network
    TrainSettings settings = LineRun(folder, rows, 5);
    const LineOutcome with = LineOutcomeOf(settings);
    ASSERT_TRUE(HasLine(with.model));
    EXPECT_NE(with.lines.front().find("a line answers all but 0.0"), std::string::npos) << with.lines.front();
    EXPECT_TRUE(CheckEnsemble(with.model));
    EXPECT_EQ(with.model.shares.back(), kShareOfLine);
    EXPECT_NEAR(std::accumulate(with.model.shares.begin(), with.model.shares.end(), 0.0), 1, 1e-12);

    settings.line = "no";
    const LineOutcome without = LineOutcomeOf(settings);
    EXPECT_FALSE(HasLine(without.model));
    EXPECT_LT(with.result.test->loss, 0.1 * without.result.test->loss) << rows;

    // What is left was learned, too: a line alone leaves sin(3 d).
    settings.line = "possible";
    settings.recipe = "plain";
    settings.method = "backpropagation";
    settings.hidden = {};
    const LineOutcome alone = LineOutcomeOf(settings);
    EXPECT_LT(with.result.test->loss, 0.5 * alone.result.test->loss) << rows;
  }
}

TEST(LineFirst, IsNotThereElsewhere) {
  const TemporaryFolder folder;
  EXPECT_FALSE(HasLine(LineOutcomeOf(LineRun(folder, 400, 100)).model));  // it leaves more
  TrainSettings settings = LineRun(folder, 400, 0);
  settings.hidden = {8};  // a network of the user's own
  EXPECT_FALSE(HasLine(LineOutcomeOf(settings).model));
  settings.line = "possible";
  EXPECT_TRUE(HasLine(LineOutcomeOf(settings).model));
  settings.loss = "mae";
  EXPECT_FALSE(HasLine(LineOutcomeOf(settings).model));
  settings.loss = "auto";
  settings.weight_column = "w";
  EXPECT_FALSE(HasLine(LineOutcomeOf(settings).model));
}

TEST(LineFirst, LossesAreInUnitsOfTheTargets) {
  const TemporaryFolder folder;
  TrainSettings settings = LineRun(folder, 1600, 5);
  settings.recipe = "tabular";  // a network alone, which keeps the weights of its best epoch
  settings.line = "possible";
  TrainSession session(settings);
  double told = -1;
  TrainCallbacks callbacks;
  callbacks.epoch_done = [&](const EpochRecord& record) { told = record.validation_loss; };
  const TrainResult result = session.Run(callbacks);
  ASSERT_TRUE(HasLine(session.model()));
  const History& history = result.history;
  EXPECT_EQ(told, history.epochs.back().validation_loss);
  const double best = history.epochs[static_cast<size_t>(history.best_epoch - 1)].validation_loss;
  EXPECT_NEAR(Evaluate(session.model(), session.backend(), session.validation()).loss, best, 1e-3 * best);
}

// As many bits as without a stop, and in between a model that answers.
TEST(LineFirst, GoesOnWhereItWasStopped) {
  const TemporaryFolder folder;
  TrainSettings settings = LineRun(folder, 1600, 5);
  const LineOutcome whole = LineOutcomeOf(settings);
  TrainSession session(settings);
  int steps = 0;
  TrainCallbacks callbacks;
  callbacks.stop_requested = [&] { return ++steps == 60; };
  ASSERT_EQ(session.Run(callbacks).history.stop_reason, "interrupted");
  ASSERT_TRUE(HasLine(session.model()));
  EXPECT_EQ(session.model().networks(), 2);
  EXPECT_LT(Evaluate(session.model(), session.backend(), session.validation()).loss, 0.01);
  session.Run({});
  ASSERT_EQ(session.model().networks(), whole.model.networks());
  for (int64_t i = 0; i < whole.model.networks(); ++i) {
    EXPECT_EQ(ParameterBytes(session.model().network_at(i)), ParameterBytes(whole.model.network_at(i))) << i;
  }
}

TEST(LineFirst, IntervalsAreAroundTheWholeAnswer) {
  const TemporaryFolder folder;
  TrainSettings settings = LineRun(folder, 1600, 5);
  settings.line = "possible";
  settings.recipe = "tabular";
  settings.intervals = 0.8;
  const LineOutcome run = LineOutcomeOf(settings);
  ASSERT_TRUE(HasLine(run.model));
  EXPECT_LT(run.model.intervals->half_widths[0], 10);  // targets spread over a thousand
  EXPECT_GT(run.result.coverage[0], 0.6);
}

TEST(LineFirst, FoldsAndBestHaveOne) {
  const TemporaryFolder folder;
  TrainSettings settings = LineRun(folder, 250, 3);
  settings.folds = 3;
  const RawData raw = ReadRawData(settings);
  const CrossValidation folds = CrossValidate(settings, raw, {});
  EXPECT_LT(folds.evaluation.regression[0].rmse, 3);

  settings.folds = 0;
  settings.effort = "best";
  settings.time_limit = "3s";
  settings.state = folder.Path("state");
  const auto check = [&](const CrossValidation& best) {
    EXPECT_LT(best.evaluation.regression[0].rmse, 1);
    EXPECT_NEAR(std::accumulate(best.found.shares.begin(), best.found.shares.end(), 0.0), 1, 1e-9);
    EXPECT_NEAR(best.found.shares.back(), kShareOfLine, 1e-9);
    TrainSession session(best.final_settings, raw, best.found);
    session.Run({});
    EXPECT_LT(Evaluate(session.model(), session.backend(), session.train()).loss, 1e-4);
    EXPECT_TRUE(
        std::ranges::any_of(best.remarks, [](const std::string& r) { return r.starts_with("a line answers"); }));
  };
  check(CrossValidate(settings, raw, {}));
  check(CrossValidate(settings, raw, {}));  // what the folder keeps
}

}  // namespace
}  // namespace lamina
