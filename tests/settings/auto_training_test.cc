// Epochs, batches and patience by rows.
#include "lamina/settings/auto_training.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/settings.h"

namespace lamina {
namespace {

TEST(AutoTraining, FewRowsGetMoreEpochsAndSmallerBatches) {
  AutoTraining before = AutoTrainingFor({.train = 10, .validation = 5});
  for (int64_t rows = 20; rows <= 20'000'000; rows *= 2) {
    const AutoTraining now = AutoTrainingFor({rows, rows / 5});
    EXPECT_LE(now.epochs, before.epochs) << rows;
    EXPECT_GE(now.batch, before.batch) << rows;
    EXPECT_GE(now.epochs * rows / now.batch, before.epochs * (rows / 2) / before.batch * 9 / 10) << rows;  // steps
    EXPECT_GT(now.patience, 0) << rows;
    EXPECT_LT(now.patience, now.epochs) << rows;
    before = now;
  }
}

TEST(AutoTraining, NothingIsWatchedWithoutValidationRows) {
  const AutoTraining watched = AutoTrainingFor({1000, 200});
  const AutoTraining unwatched = AutoTrainingFor({1000, 0});
  EXPECT_EQ(unwatched.patience, 0);
  EXPECT_LT(unwatched.epochs, watched.epochs);
  EXPECT_EQ(unwatched.batch, watched.batch);
}

TEST(AutoTraining, QuickSeesManyRowsLessOften) {
  for (int64_t rows = 20; rows <= 20'000'000; rows *= 2) {
    for (const int64_t inputs : {0, 10, 784, 100'000}) {
      const AutoTraining usual = AutoTrainingFor({rows, rows / 5, false, inputs});
      const AutoTraining quick = QuickTrainingFor({rows, rows / 5, false, inputs});
      EXPECT_GE(quick.epochs, 10) << rows;
      EXPECT_LE(quick.epochs, 400) << rows;
      EXPECT_LE(quick.epochs * rows, std::max<int64_t>(1'000'000, 10 * rows)) << rows;
      EXPECT_EQ(quick.batch, usual.batch) << rows;
      EXPECT_EQ(quick.patience, 0) << rows;
    }
  }
  EXPECT_EQ(QuickTrainingFor({50'000, 10'000, true, 784}).epochs, 12);
  EXPECT_EQ(QuickTrainingFor({50'000, 10'000, true, 20}).epochs, 20);
}

TEST(AutoTraining, QuickHasOneCycleOfTheRate) {
  TrainSettings settings;
  settings.effort = "quick";
  settings.recipe = "plain";
  const TrainRows rows{50'000, 10'000, true, 784};
  const TrainOptions options = TrainOptionsFrom(Resolve(settings, true), Loss::kCrossEntropy, rows);
  EXPECT_EQ(options.schedule.kind, ScheduleKind::kOneCycle);
  EXPECT_EQ(options.rule.learning_rate, 0.005);
  EXPECT_EQ(options.patience, 0);
  EXPECT_EQ(options.epochs, QuickTrainingFor(rows).epochs);
}

TEST(AutoTraining, WhatIsGivenStays) {
  const TrainRows rows{1000, 200};
  TrainSettings settings;
  settings.recipe = "plain";
  const TrainOptions open = TrainOptionsFrom(Resolve(settings, rows.classes), Loss::kMse, rows);
  EXPECT_EQ(open.epochs, AutoTrainingFor(rows).epochs);
  EXPECT_EQ(open.batch, AutoTrainingFor(rows).batch);
  EXPECT_EQ(open.patience, AutoTrainingFor(rows).patience);
  settings.epochs = 20;
  TrainOptions given = TrainOptionsFrom(Resolve(settings, rows.classes), Loss::kMse, rows);
  EXPECT_EQ(given.epochs, 20);
  EXPECT_EQ(given.patience, 0);  // 20 epochs are 20 epochs
  EXPECT_EQ(given.batch, open.batch);
  settings.patience = 3;
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, rows.classes), Loss::kMse, rows).patience, 3);
  settings.epochs.reset();
  EXPECT_EQ(TrainOptionsFrom(Resolve(settings, rows.classes), Loss::kMse, rows).epochs, open.epochs);
}

}  // namespace
}  // namespace lamina
