// Pausing, stopping and going on, without reading the data again.
#include "lamina/run/run_control.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "gtest/gtest.h"
#include "lamina/base/timing.h"
#include "lamina/run/run_plan.h"
#include "lamina/run/session.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/source_folder.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using std::chrono::milliseconds;

TrainSettings SmallSettings() {
  TrainSettings settings;
  settings.data = SourceFolder() + "/data/digits.csv.gz";
  settings.samples = 300;
  settings.recipe = "plain";
  settings.hidden = {16};
  settings.epochs = 6;
  settings.threads = 1;
  settings.momentum = 0.5;
  return settings;
}

TEST(RunControl, StopWinsOverPause) {
  RunControl control;
  EXPECT_FALSE(control.StopRequested());
  control.Pause();
  control.Stop();
  EXPECT_TRUE(control.StopRequested());
  control.Pause();
  EXPECT_TRUE(control.StopRequested()) << "does not wait once stopped";
  control.Reset();
  EXPECT_FALSE(control.StopRequested());
}

TEST(RunControl, APausedRunStandsStillAndItsTimeIsNotCounted) {
  TrainSettings settings = SmallSettings();
  TrainSession session(settings);
  RunControl control;
  std::atomic<int> asked = 0;
  TrainResult result;
  const Stopwatch whole;
  std::thread runner([&] {
    result = session.Run({.stop_requested = [&] {
      if (++asked == 4) {
        control.Pause();  // within the first epoch of 6 steps
      }
      return control.StopRequested();
    }});
  });
  while (asked < 4) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  const Stopwatch paused;
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(asked, 4);
  const double paused_seconds = paused.Elapsed_seconds();
  control.Continue();
  runner.join();
  EXPECT_EQ(result.history.stop_reason, "epochs");
  EXPECT_GT(asked, 30);
  EXPECT_LT(result.train_seconds, whole.Elapsed_seconds() - paused_seconds);

  TrainSession other(settings);
  other.Run({});
  EXPECT_EQ(ParameterBytes(session.model().network), ParameterBytes(other.model().network));
}

TEST(RunControl, ASessionGoesOnWhereItWasStopped) {
  const TrainSettings settings = SmallSettings();
  TrainSession whole(settings);
  const TrainResult expected = whole.Run({});
  EXPECT_FALSE(whole.can_go_on());

  TrainSession session(settings);
  for (const int steps : {3, 6, 9}) {
    int asked = 0;
    const TrainResult part = session.Run({.stop_requested = [&] { return ++asked == steps; }});
    EXPECT_EQ(part.history.stop_reason, "interrupted");
    EXPECT_FALSE(part.test.has_value());
    EXPECT_TRUE(session.can_go_on());
    EXPECT_EQ(session.first_epoch(), std::ssize(part.history.epochs) + 1);
    EXPECT_EQ(session.model().training["epochs"], part.history.epochs.size());
  }
  const TrainResult result = session.Run({});
  EXPECT_EQ(result.history.stop_reason, "epochs");
  EXPECT_EQ(result.history.epochs.size(), 6u);
  EXPECT_EQ(ParameterBytes(session.model().network), ParameterBytes(whole.model().network));
  EXPECT_EQ(result.test->loss, expected.test->loss);
  EXPECT_EQ(session.model().training["test"]["accuracy"], expected.test->classification->accuracy);
}

TEST(RunPlan, AMissingValueIsFoundWhereverItIs) {
  const TemporaryFolder folder;
  TrainSettings settings;
  for (int gap = 0; gap < 20; ++gap) {
    std::string text = "a,y\n";
    for (int row = 0; row < 20; ++row) {
      text += (row == gap ? "" : std::to_string(row)) + (row % 2 == 0 ? ",no\n" : ",yes\n");
    }
    settings.data = folder.Write("gap.csv", text);
    settings.missing = "error";
    const Error error = CaughtError([&] { PlanRun(settings, ReadRawData(settings)); });
    EXPECT_EQ(error.context().line, gap + 2) << error.what();
    settings.missing = "mean";
    EXPECT_EQ(PlanRun(settings, ReadRawData(settings)).train_rows, 16);
  }
}

TEST(RunControl, TablesReadOnceGiveTheSameRun) {
  const TrainSettings settings = SmallSettings();
  const RawData tables = ReadRawData(settings);
  const RunPlan plan = PlanRun(settings, tables);
  EXPECT_EQ(plan.train_rows, 180);
  EXPECT_EQ(plan.validation_rows, 60);
  EXPECT_EQ(plan.test_rows, 60);
  ASSERT_EQ(plan.network.layers.size(), 2u);
  EXPECT_EQ(plan.network.layers[0].inputs, 64);
  EXPECT_EQ(plan.network.layers[1].outputs, 10);
  EXPECT_EQ(plan.network.parameter_count(), 64 * 16 + 16 + 16 * 10 + 10);
  TrainSession from_tables(settings, tables);
  TrainSession from_files(settings);
  EXPECT_EQ(from_tables.train().size(), plan.train_rows);
  from_tables.Run({});
  from_files.Run({});
  EXPECT_EQ(ParameterBytes(from_tables.model().network), ParameterBytes(from_files.model().network));
}

}  // namespace
}  // namespace lamina
