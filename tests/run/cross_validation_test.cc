// Cross-validation from a file to the model on all rows.
#include "lamina/run/cross_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "lamina/settings/validation.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// Two clouds, "no" and "yes"; with `values` a sum and noise.
std::string CloudsCsv(int rows, bool values) {
  Random random(3);
  std::string text = "a,b,answer\n";
  for (int i = 0; i < rows; ++i) {
    const double a = random.Normal() + (i % 2) * 3;
    const double b = random.Normal() - (i % 2) * 3;
    text += values ? fmt::format("{},{},{}\n", a, b, 3 * a - 2 * b + 0.5 * random.Normal())
                   : fmt::format("{},{},{}\n", a, b, i % 2 == 0 ? "no" : "yes");
  }
  return text;
}

TrainSettings FoldSettings(const TemporaryFolder& folder, bool values) {
  TrainSettings settings;
  settings.data = folder.Write("x.csv", CloudsCsv(90, values));
  settings.folds = 3;
  settings.recipe = "plain";
  settings.hidden = {8};
  settings.epochs = 20;
  settings.learning_rate = 0.05;
  settings.threads = 1;
  settings.out_of_fold = folder.Path("oof.csv");
  return settings;
}

TEST(CrossValidationTest, MetricsAreOfTheAnswersWritten) {
  const TemporaryFolder folder;
  const TrainSettings settings = FoldSettings(folder, false);
  const RawData raw = ReadRawData(settings);
  std::vector<int64_t> started;
  const CrossValidation result =
      CrossValidate(settings, raw, {.started = [&](int64_t fold, const TrainSession&) { started.push_back(fold); }});
  EXPECT_EQ(started, (std::vector<int64_t>{1, 2, 3}));
  ASSERT_EQ(result.out_of_fold.rows.size(), 90U);
  std::vector<double> right(3);
  std::vector<double> rows(3);
  for (const OutOfFold::Row& row : result.out_of_fold.rows) {
    const auto fold = static_cast<size_t>(row.fold - 1);
    EXPECT_EQ(row.truth, row.row % 2 == 0 ? "no" : "yes");
    rows[fold] += 1;
    right[fold] += row.truth == row.predicted ? 1 : 0;
    EXPECT_NEAR(row.numbers[0] + row.numbers[1], 1, 1e-6);
  }
  EXPECT_EQ(result.metrics[0].all.metric.Text(), "accuracy");
  double mean = 0;
  for (size_t f = 0; f < 3; ++f) {
    EXPECT_EQ(rows[f], 30);
    EXPECT_NEAR(result.folds[f].metrics[0].value, right[f] / rows[f], 1e-12);
    mean += right[f] / rows[f] / 3;
  }
  double squares = 0;
  for (size_t f = 0; f < 3; ++f) {
    squares += std::pow(right[f] / rows[f] - mean, 2);
  }
  EXPECT_NEAR(result.metrics[0].mean, mean, 1e-12);
  EXPECT_NEAR(result.metrics[0].deviation, std::sqrt(squares / 2), 1e-12);
  EXPECT_NEAR(result.metrics[0].all.value, mean, 1e-12) << "folds of equal size";
  EXPECT_GT(mean, 0.9);
  const Evaluation& together = result.evaluation;
  ASSERT_TRUE(together.classification.has_value());
  EXPECT_EQ(together.classification->samples, 90);
  EXPECT_NEAR(together.classification->accuracy, mean, 1e-12);
  EXPECT_TRUE(std::isnan(together.loss));
  const std::string csv = ReadFile(settings.out_of_fold);
  EXPECT_TRUE(csv.starts_with("row,fold,answer,predicted,p_no,p_yes\n0,")) << csv.substr(0, 80);
}

TEST(CrossValidationTest, TheModelKeptIsTrainedOnAllRows) {
  const TemporaryFolder folder;
  TrainSettings settings = FoldSettings(folder, true);
  settings.intervals = 0.8;
  settings.model = folder.Path("m");
  const RawData raw = ReadRawData(settings);
  const CrossValidation result = CrossValidate(settings, raw, {});
  EXPECT_FALSE(std::filesystem::exists(settings.model)) << "the folds' models are not it";
  double best = 0;
  for (const FoldResult& fold : result.folds) {
    best += static_cast<double>(fold.best_epoch) / 3;
  }
  EXPECT_EQ(result.final_settings.epochs, std::llround(best));
  TrainSession session(result.final_settings, raw, result.found);
  EXPECT_EQ(session.train().size(), 90);
  session.Run({});
  const Model model = LoadModel(settings.model);
  ASSERT_TRUE(model.intervals.has_value());
  EXPECT_EQ(model.intervals->rows, 90) << "of all out-of-fold rows";
  std::vector<double> distances;
  for (const OutOfFold::Row& row : result.out_of_fold.rows) {
    distances.push_back(std::abs(std::stod(row.truth) - row.numbers[0]));
  }
  const Evaluation& together = result.evaluation;
  EXPECT_EQ(together.samples, 90);
  ASSERT_EQ(together.regression.size(), 1U);
  EXPECT_EQ(together.points[0].size(), 90U);
  EXPECT_NEAR(together.regression[0].mae, std::accumulate(distances.begin(), distances.end(), 0.0) / 90, 1e-6);
  std::sort(distances.begin(), distances.end());
  EXPECT_NEAR(model.intervals->half_widths[0], distances[72], 1e-6) << "ceil(91 * 0.8) = 73rd";
  EXPECT_EQ(model.training["cross_validation"]["folds"].size(), 3U);
}

TEST(CrossValidationTest, ABagAnswersTheMeanOfTheFoldsNetworks) {
  for (const bool values : {false, true}) {
    SCOPED_TRACE(values);
    const TemporaryFolder folder;
    TrainSettings settings = FoldSettings(folder, values);
    settings.bag = true;
    settings.model = folder.Path("m");
    settings.calibrate = !values;
    if (values) {
      settings.intervals = 0.8;
    }
    const RawData raw = ReadRawData(settings);
    const CrossValidation result = CrossValidate(settings, raw, {});
    TrainSession session(result.final_settings, raw, result.found);
    EXPECT_EQ(session.Run({}).history.stop_reason, "folds");
    const Model model = LoadModel(settings.model);
    ASSERT_EQ(model.networks(), 3);
    EXPECT_EQ(model.training["cross_validation"]["folds"].size(), 3U);
    EXPECT_EQ(model.intervals.has_value(), values);
    const Matrix& x = session.train().features;
    ASSERT_EQ(x.rows(), 90);
    const Matrix answers = NetworkOutputs(model, session.backend(), x);
    Model one;
    std::vector<double> sums(static_cast<size_t>(x.rows()));
    for (const Network& network : result.found.networks) {
      one.network = network;
      const Matrix outputs = NetworkOutputs(one, session.backend(), x);
      for (int64_t i = 0; i < x.rows(); ++i) {
        sums[static_cast<size_t>(i)] += outputs.Row<float>(i)[0];
      }
    }
    for (int64_t i = 0; i < x.rows(); ++i) {
      EXPECT_NEAR(answers.Row<float>(i)[0], sums[static_cast<size_t>(i)] / 3, 1e-6);
    }
    // Each answer out of the folds is that of the network which had not seen the row.
    for (const OutOfFold::Row& row : result.out_of_fold.rows) {
      one = model;
      one.others.clear();
      one.shares.clear();
      one.network = result.found.networks[static_cast<size_t>(row.fold - 1)];
      const auto place = std::find(session.train().rows.begin(), session.train().rows.end(), row.row);
      const Matrix outputs = InTargetUnits(one, NetworkOutputs(one, session.backend(), x));
      const auto i = place - session.train().rows.begin();
      EXPECT_NEAR(outputs.Row<double>(i)[0], row.numbers[0], values ? 1e-4 : 1e-6);
    }
  }
}

// Without a validation share the rows that a network is tested on tell its best epoch, and a remark says so.
TEST(CrossValidationTest, TestedRowsOfABagMayValidate) {
  const TemporaryFolder folder;
  for (const bool bag : {true, false}) {
    for (const double share : {0.0, 0.2}) {
      TrainSettings settings = FoldSettings(folder, true);
      settings.bag = bag;
      settings.split = {1 - share, share, 0};
      const RawData raw = ReadRawData(settings);
      const CrossValidation result = CrossValidate(settings, raw, {});
      const bool tells = bag && share == 0;
      for (const FoldResult& fold : result.folds) {
        EXPECT_EQ(fold.validation_rows == fold.test_rows, tells);
        EXPECT_EQ(fold.validation_rows > 0, tells || share > 0);
      }
      const auto says = [](const std::string& remark) { return Mentions(remark, "best epoch"); };
      EXPECT_EQ(std::any_of(result.remarks.begin(), result.remarks.end(), says), tells);
    }
  }
}

TEST(CrossValidationTest, ABagNeedsAllFolds) {
  const TemporaryFolder folder;
  TrainSettings settings = FoldSettings(folder, true);
  settings.bag = true;
  settings.fold = 2;
  EXPECT_TRUE(Mentions(CaughtError([&] { ValidateSettings(settings); }).what(), "--fold trains one"));
  EXPECT_TRUE(Mentions(CaughtError([&] { TrainSession session(settings); }).what(), "--fold trains one"));
  settings.folds = settings.fold = 0;
  settings.out_of_fold = "";
  EXPECT_TRUE(Mentions(CaughtError([&] { ValidateSettings(settings); }).what(), "needs --folds"));
}

TEST(CrossValidationTest, AFoldWithOneClassHasNoAuc) {
  const TemporaryFolder folder;
  TrainSettings settings = FoldSettings(folder, false);
  std::string text = "t,a,answer\n";  // in order: the last third is all "yes"
  for (int i = 0; i < 80; ++i) {
    text += fmt::format("{},{},{}\n", i, i % 7, i < 60 && i % 2 == 0 ? "no" : "yes");
  }
  settings.data = folder.Write("t.csv", text);
  settings.split_by = "t";
  settings.metrics = {"auc"};
  const CrossValidation result = CrossValidate(settings, ReadRawData(settings), {});
  EXPECT_EQ(result.metrics[0].undefined, 1);
  EXPECT_TRUE(Mentions(result.metrics[0].Text(), "fold 3: all rows have the same class"));
  EXPECT_EQ(result.out_of_fold.rows[0].fold, 0) << "the first rows are trained on only";
  EXPECT_TRUE(Mentions(result.out_of_fold.Csv(), "\n0,,,,,\n"));
}

TEST(CrossValidationTest, Interrupted) {
  const TemporaryFolder folder;
  CrossValidationCallbacks stop;
  int asked = 0;
  stop.train.stop_requested = [&] { return ++asked > 30; };
  const TrainSettings settings = FoldSettings(folder, false);
  EXPECT_TRUE(CrossValidate(settings, ReadRawData(settings), stop).interrupted);
  EXPECT_EQ(folder.Count(), 1) << "the data alone";
}

TEST(CrossValidationTest, MonitorKeepsTheBestEpochOfItsMetric) {
  const TemporaryFolder folder;
  TrainSettings settings = FoldSettings(folder, false);
  settings.folds = 0;
  settings.out_of_fold = "";
  settings.monitor = "auc";
  TrainSession session(settings);
  const TrainResult result = session.Run({});
  double best = 0;
  int64_t epoch = 0;
  for (const EpochRecord& record : result.history.epochs) {
    if (record.monitored > best) {
      best = record.monitored;
      epoch = record.epoch;
    }
  }
  EXPECT_EQ(result.history.best_epoch, epoch);
  const ScoredRows kept =
      ScoreDataset(session.model(), NetworkOutputs(session.model(), session.backend(), session.validation().features),
                   session.validation())[0];
  EXPECT_NEAR(Metric::Parse("auc").Measure(kept), best, 1e-9);
  EXPECT_EQ(History::FromJson(result.history.ToJson()).epochs[0].monitored, result.history.epochs[0].monitored);
  EXPECT_TRUE(Mentions(result.history.ToCsv(), "monitored"));
  settings.monitor = "rmse";
  EXPECT_EQ(CaughtError([&] { TrainSession{settings}; }).code(), ErrorCode::kInvalidArgument);
  settings.monitor = "auc";
  settings.split = {0.8, 0, 0.2};
  EXPECT_TRUE(Mentions(CaughtError([&] { TrainSession{settings}; }).what(), "needs validation rows"));
}

}  // namespace
}  // namespace lamina
