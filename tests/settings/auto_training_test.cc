// Epochs, batches and patience by rows.
#include "lamina/settings/auto_training.h"

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
