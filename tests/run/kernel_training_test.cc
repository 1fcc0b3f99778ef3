// Recipe mixed: a network and a kernel machine in one model, by shares that fit the validation rows.
#include "lamina/run/kernel_training.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/model/evaluate.h"
#include "lamina/run/cross_validation.h"
#include "lamina/run/resume.h"
#include "lamina/run/session.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/settings_text.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// A number or a class that is a smooth function of two columns.
TrainSettings MixedRun(const TemporaryFolder& folder, bool classes, int rows = 90) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < rows; ++i) {
    const double a = std::sin(1.7 * i);
    const double b = i % 13 / 6.0 - 1;
    const double y = std::cos(3 * a) + b;
    text += fmt::format("{:.4f},{:.4f},{}\n", a, b, classes ? (y > 0.3 ? "yes" : "no") : fmt::format("{:.4f}", y));
  }
  TrainSettings settings;
  settings.data = folder.Path(classes ? "classes.csv" : "numbers.csv");
  WriteFileAtomically(settings.data, text);
  settings.recipe = kMixedRecipe;
  settings.epochs = 6;
  settings.threads = 1;
  settings.trees = "no";
  settings.split = {0.6, 0.2, 0.2};
  return settings;
}

Model Trained(const TrainSettings& settings) {
  TrainSession session(settings);
  session.Run({});
  return session.model();
}

void ExpectSameBits(const Model& model, const Model& other) {
  ASSERT_EQ(model.networks(), 2);
  for (int64_t n = 0; n < 2; ++n) {
    EXPECT_EQ(ParameterBytes(model.network_at(n)), ParameterBytes(other.network_at(n))) << n;
  }
  EXPECT_EQ(model.shares, other.shares);
}

TEST(MixedRecipe, AnswersHalfByEachWhereFewRowsValidate) {
  const TemporaryFolder folder;
  for (const bool classes : {false, true}) {
    TrainSettings settings = MixedRun(folder, classes);
    TrainSession session(settings);
    const TrainResult result = session.Run({});
    const Model& model = session.model();
    ASSERT_EQ(model.networks(), 2);
    EXPECT_EQ(model.shares, (std::vector{0.5, 0.5}));
    EXPECT_EQ(model.others[0].layers().back().inputs, 72) << "validation rows are its neurons, too";
    EXPECT_TRUE(model.training["method"].contains("left_out_error"));
    ASSERT_TRUE(result.test);
    settings.recipe = "tabular";
    const Model alone = Trained(settings);
    EXPECT_EQ(ParameterBytes(alone.network), ParameterBytes(model.network));
    Model kernels = alone;
    kernels.network = model.others[0];
    const Matrix both = NetworkOutputs(model, session.backend(), session.test().features);
    const Matrix of_network = NetworkOutputs(alone, session.backend(), session.test().features);
    const Matrix of_kernels = NetworkOutputs(kernels, session.backend(), session.test().features);
    for (int64_t i = 0; i < both.rows(); ++i) {
      EXPECT_NEAR(both.Row<float>(i)[0], (of_network.Row<float>(i)[0] + of_kernels.Row<float>(i)[0]) / 2, 1e-5);
    }
  }
}

// Shares stay between a quarter and three quarters, and a network that has learned little counts less than half.
TEST(MixedRecipe, TheBetterOneCountsMore) {
  const TemporaryFolder folder;
  for (const bool classes : {false, true}) {
    for (const int64_t epochs : {1, 60}) {  // a network that has learned little, and one that has learned enough
      TrainSettings settings = MixedRun(folder, classes, 600);
      settings.epochs = epochs;
      const Model model = Trained(settings);
      const double share = model.training["method"]["share"].get<double>();
      ASSERT_EQ(model.shares, (std::vector{1 - share, share}));
      EXPECT_GE(share, 0.25);
      EXPECT_LE(share, 0.75);
      if (epochs == 1) {
        EXPECT_GT(share, 0.5) << classes;
      }
    }
  }
}

TEST(MixedRecipe, HasTheSameBitsOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  TrainSettings settings = MixedRun(folder, /*classes=*/true);
  const Model one = Trained(settings);
  for (const int64_t threads : {2, 3}) {
    settings.threads = threads;
    const Model more = Trained(settings);
    for (int64_t n = 0; n < 2; ++n) {
      EXPECT_EQ(ParameterBytes(one.network_at(n)), ParameterBytes(more.network_at(n))) << threads << " " << n;
    }
  }
}

TEST(MixedRecipe, GoesOnFromACheckpoint) {
  const TemporaryFolder folder;
  TrainSettings settings = MixedRun(folder, /*classes=*/false);
  const Model whole = Trained(settings);
  settings.model = folder.Path("m");
  int epochs = 0;
  {
    TrainSession stopped(settings);
    const TrainResult result = stopped.Run(
        {.epoch_done = [&](const EpochRecord&) { ++epochs; }, .stop_requested = [&] { return epochs == 3; }});
    EXPECT_EQ(result.history.stop_reason, "interrupted");
    ASSERT_TRUE(stopped.can_go_on());
  }
  const std::string checkpoint = settings.model + ".checkpoint";
  TrainSession session(ResumeSettings(checkpoint).settings, checkpoint);
  EXPECT_EQ(session.first_epoch(), 4);
  session.Run({});
  for (int64_t n = 0; n < 2; ++n) {
    EXPECT_EQ(ParameterBytes(whole.network_at(n)), ParameterBytes(session.model().network_at(n))) << n;
  }
}

// The network is done, and its bits stay: in this session, and in the checkpoint that another one begins from.
TEST(MixedRecipe, StoppedInTheKernelMachineItKeepsTheNetwork) {
  const TemporaryFolder folder;
  TrainSettings settings = MixedRun(folder, /*classes=*/false);
  const Model whole = Trained(settings);
  settings.model = folder.Path("m");
  TrainSession session(settings);
  int asked_of_kernels = 0;
  const auto in_kernels = [&] { return session.only_others_left() && ++asked_of_kernels > 3; };
  const TrainResult result = session.Run({.stop_requested = in_kernels});
  EXPECT_EQ(result.history.stop_reason, "interrupted");
  EXPECT_EQ(result.history.epochs.size(), 6U);
  EXPECT_GT(asked_of_kernels, 3) << "it has begun";
  EXPECT_TRUE(session.only_others_left());
  ASSERT_TRUE(session.can_go_on());
  EXPECT_EQ(session.model().networks(), 1);
  EXPECT_EQ(ParameterBytes(session.model().network), ParameterBytes(whole.network));
  EXPECT_FALSE(std::filesystem::exists(settings.model));
  const std::string checkpoint = session.CheckpointPath();
  {
    TrainSession other(ResumeSettings(checkpoint).settings, checkpoint);
    EXPECT_EQ(other.first_epoch(), 7);
    int epochs = 0;
    other.Run({.epoch_done = [&](const EpochRecord&) { ++epochs; }});
    EXPECT_EQ(epochs, 0);
    ExpectSameBits(other.model(), whole);
  }
  EXPECT_EQ(session.Run({}).history.epochs.size(), 6U);
  ExpectSameBits(session.model(), whole);
  EXPECT_FALSE(session.can_go_on());
}

// Whoever stops by the clock leaves the machine a run of its own; it is trained in one.
TEST(MixedRecipe, ManyShortRunsHaveTheBitsOfOne) {
  const TemporaryFolder folder;
  for (const bool classes : {false, true}) {
    for (const int64_t patience : {0, 2}) {
      TrainSettings settings = MixedRun(folder, classes);
      settings.epochs = 12;
      settings.patience = patience;
      const Model whole = Trained(settings);
      TrainSession session(settings);
      int runs = 0;
      int of_kernels = 0;
      std::string reason = "interrupted";
      while (reason == "interrupted" && runs < 200) {
        ++runs;
        of_kernels += session.only_others_left() ? 1 : 0;
        reason = session
                     .Run(session.only_others_left() ? TrainCallbacks()
                                                     : TrainCallbacks{.stop_requested = [] { return true; }})
                     .history.stop_reason;
      }
      EXPECT_GT(runs, 4);
      EXPECT_EQ(of_kernels, 1);
      ExpectSameBits(session.model(), whole);
    }
  }
}

TEST(MixedRecipe, FoldsAndTheModelOfAllRowsHaveIt) {
  const TemporaryFolder folder;
  TrainSettings settings = MixedRun(folder, /*classes=*/true);
  settings.folds = 3;
  settings.split = {0.8, 0.2, 0};
  const RawData raw = ReadRawData(settings);
  const CrossValidation folds = CrossValidate(settings, raw, {}, {});
  TrainSession session(folds.final_settings, raw, folds.found);
  session.Run({});
  ASSERT_EQ(session.model().networks(), 2);
  EXPECT_EQ(session.model().others[0].layers().back().inputs, 90);
  settings.bag = true;
  EXPECT_TRUE(Mentions(CaughtError([&] { CrossValidate(settings, raw, {}, {}); }).what(), "ensemble of 2 networks"));
}

TEST(MixedRecipe, RefusesWhatNoKernelMachineCanStandBeside) {
  const TemporaryFolder folder;
  for (const auto& [name, text] :
       {std::pair("calibrate", "yes"), {"quantize-aware", "2"}, {"loss", "mse"}, {"output-activation", "sigmoid"}}) {
    TrainSettings settings = MixedRun(folder, /*classes=*/true);
    SetSetting(settings, name, text);
    EXPECT_TRUE(Mentions(CaughtError([&] { Trained(settings); }).what(), "--recipe mixed")) << name;
  }
  TrainSettings settings = MixedRun(folder, /*classes=*/false);
  settings.intervals = 0.5;
  EXPECT_TRUE(Mentions(CaughtError([&] { Trained(settings); }).what(), "--intervals"));
}

}  // namespace
}  // namespace lamina
