// What an effort decides, and what it refuses beside itself.
#include "lamina/settings/effort.h"

#include "gtest/gtest.h"
#include "lamina/settings/settings_text.h"
#include "lamina/settings/validation.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

TrainSettings WithEffort(const char* effort) {
  TrainSettings settings;
  settings.data = "x.csv";
  settings.effort = effort;
  return settings;
}

std::string RefusedBeside(const char* effort, const char* name, const char* value) {
  TrainSettings settings = WithEffort(effort);
  SetSetting(settings, name, value);
  const Error error = CaughtError([&] { ValidateSettings(settings); });
  EXPECT_EQ(error.context().setting, name);
  return error.what();
}

TEST(Effort, RefusesWhatItDecidesByName) {
  for (const auto& [name, value] :
       {std::pair{"hidden", "8"}, {"method", "rfm"}, {"epochs", "3"}, {"recipe", "tabular"}}) {
    for (const char* effort : {"quick", "best"}) {
      EXPECT_TRUE(Mentions(RefusedBeside(effort, name, value), std::string("--") + name + " is decided by --effort"));
    }
  }
  for (const auto& [name, value] : {std::pair{"folds", "3"}, {"split", "0.8,0.2,0"}, {"calibrate", "yes"}}) {
    RefusedBeside("best", name, value);
    TrainSettings quick = WithEffort("quick");
    SetSetting(quick, name, value);
    ValidateSettings(quick);
  }
  EXPECT_TRUE(Mentions(RefusedBeside("normal", "time-limit", "10s"), "is for --effort best"));
  EXPECT_TRUE(Mentions(RefusedBeside("best", "time-limit", "soon"), "length of time"));
  const Error typo = CaughtError([] { ValidateSettings(WithEffort("bset")); });
  EXPECT_TRUE(Mentions(typo.what(), "best"));
}

TEST(Effort, LeavesTheRestOpen) {
  for (const auto& [name, value] : {std::pair{"seed", "3"},
                                    {"threads", "2"},
                                    {"target", "y"},
                                    {"class-weights", "balanced"},
                                    {"metrics", "auc"},
                                    {"group", "who"},
                                    {"time-limit", "1.5m"}}) {
    TrainSettings best = WithEffort("best");
    SetSetting(best, name, value);
    ValidateSettings(best);
  }
}

TEST(Effort, QuickIsOneNetworkOfRecipePlain) {
  const TrainSettings quick = WithQuick(WithEffort("quick"));
  EXPECT_EQ(quick.method, "backpropagation");
  EXPECT_EQ(quick.recipe, "plain");
  EXPECT_EQ(quick.effort, "quick");  // remarks must know who decided
  ValidateSettings(quick);
  EXPECT_EQ(WithQuick(WithEffort("normal")).method, "auto");
}

TEST(Effort, TimeLimits) {
  EXPECT_EQ(ParseTimeLimit_seconds(""), std::nullopt);
  EXPECT_EQ(ParseTimeLimit_seconds("90"), 90);
  EXPECT_EQ(ParseTimeLimit_seconds("1.5h"), 5400);
  for (const char* wrong : {"0s", "-1m", "1e999s", "10 m", "m", "nan"}) {
    EXPECT_TRUE(Mentions(CaughtError([&] { ParseTimeLimit_seconds(wrong); }).what(), "length of time")) << wrong;
  }
}

TEST(Effort, BestRunsOnFolds) {
  EXPECT_TRUE(RunsOnFolds(WithEffort("best")));
  EXPECT_FALSE(RunsOnFolds(WithEffort("quick")));
  TrainSettings folds = WithEffort("normal");
  folds.folds = 3;
  EXPECT_TRUE(RunsOnFolds(folds));
  folds.fold = 2;
  EXPECT_FALSE(RunsOnFolds(folds));
}

}  // namespace
}  // namespace lamina
