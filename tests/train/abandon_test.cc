// Steps and validation that are called off in the middle. What was begun leaves no trace; going on ends with the bits
// of a run that was never stopped.
#include "lamina/base/abandon.h"

#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/train/step_backup.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

std::string Bytes(const AlignedBuffer& buffer) {
  return {static_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size_bytes())};
}

// A network, rows and options of which one step takes some tenths of a second.
struct LongRun {
  std::string backend;
  int64_t rows;
  int64_t inputs;
  int64_t hidden;
  DType dtype = DType::kF32;
  bool lbfgs = false;
  Precision precision = Precision::kExact;
  int shards = 0;
};

std::string NameOf(const LongRun& run) {
  std::string name = run.backend + "_" + std::to_string(run.rows) + "x" + std::to_string(run.hidden) + "_" +
                     std::string(DTypeName(run.dtype));
  name += run.lbfgs ? "_lbfgs" : "";
  name += run.precision == Precision::kExact ? "" : "_bf16";
  name += run.shards > 0 ? "_shards" : "";
  return name;
}

class LongSteps : public testing::TestWithParam<LongRun> {
 protected:
  LongSteps()
      : backend_(MakeBackend(GetParam().backend)),
        data_(RandomDataset(GetParam().rows, GetParam().inputs, 3, GetParam().dtype, 1)),
        start_(NetworkFor(data_, GetParam().hidden, "softmax")) {
    options_.step.loss = Loss::kCrossEntropy;
    options_.step.precision = GetParam().precision;
    options_.shards = GetParam().shards;
    options_.rule.kind = UpdateKind::kAdam;
    options_.lbfgs = GetParam().lbfgs;
    if (options_.lbfgs) {
      options_.rule = {};
    }
    options_.epochs = 2;
    options_.batch = GetParam().rows;
  }

  std::unique_ptr<Backend> backend_;
  Dataset data_;
  Network start_;
  TrainOptions options_;
};

TEST_P(LongSteps, AreCalledOffInTheMiddleAndDoneAgainToTheSameBits) {
  const std::clock_t begin = std::clock();
  const Trained whole = Train(*backend_, options_, start_, data_);
  const double step_clocks = static_cast<double>(std::clock() - begin) / 2;  // processor time: others may be at work
  const bool both = whole.history.epochs[0].train_seconds > 3 * StepBackup::kShort_seconds;
  for (const int64_t whole_steps : both ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}) {
    TrainState state;
    int asked = 0;
    bool begun = whole_steps == 0;
    std::clock_t told = 0;
    TrainCallbacks callbacks;
    callbacks.epoch_done = [&](const EpochRecord&) { begun = true; };
    callbacks.abandon_requested = [&] {
      if (begun && ++asked == 2) {  // the first one tells that kernels ask at all
        told = std::clock();
      }
      return asked >= 2;
    };
    callbacks.checkpoint = [&](TrainState&& at) { state = std::move(at); };
    const Trained stopped = Train(*backend_, options_, start_, data_, nullptr, callbacks);
    const auto clocks = static_cast<double>(std::clock() - told);
    ASSERT_EQ(stopped.history.stop_reason, "interrupted");
    EXPECT_EQ(state.updates, whole_steps);
    EXPECT_EQ(state.step, 0);
    EXPECT_EQ(state.sums.samples, 0);
    if (whole_steps == 0) {
      EXPECT_EQ(Bytes(state.parameters), ParameterBytes(start_));
      EXPECT_EQ(ParameterBytes(stopped.network), ParameterBytes(start_));
    }
    // What is told leaves soon, however long the step is.
    EXPECT_LT(clocks, 0.6 * step_clocks);
    Network network = start_;
    Trainer trainer(network, *backend_, options_);
    trainer.Resume(state);
    trainer.Run(data_, nullptr, {});
    EXPECT_EQ(ParameterBytes(network), ParameterBytes(whole.network));
  }
}

INSTANTIATE_TEST_SUITE_P(Abandon, LongSteps,
                         testing::Values(LongRun{"cpu", 12000, 1024, 1024},
                                         LongRun{"cpu", 8192, 512, 1024, DType::kF64},
                                         LongRun{"cpu", 12000, 1024, 1024, DType::kF32, false, Precision::kBFloat16},
                                         LongRun{"cpu", 2000000, 20, 24},  // blocks of rows through the whole network
                                         LongRun{"cpu", 8192, 1024, 512, DType::kF32, true},
                                         LongRun{"cpu", 16384, 1024, 512, DType::kF32, false, Precision::kExact, 4},
                                         LongRun{"serial", 512, 512, 512}, LongRun{"threads", 1024, 512, 512}),
                         [](const auto& info) { return NameOf(info.param); });

// Three steps, of which the last is short, and a validation that takes long.
TEST(Abandon, WithinValidationTheEpochsStepsAreKept) {
  const Dataset data = RandomDataset(100, 64, 3, DType::kF32, 1);
  const Dataset validation = RandomDataset(60000, 64, 3, DType::kF32, 2);
  const Network start = NetworkFor(data, 512, "softmax");
  const std::unique_ptr<Backend> backend = MakeBackend("cpu");
  TrainOptions options;
  options.step.loss = Loss::kCrossEntropy;
  options.epochs = 2;
  options.batch = 40;
  options.schedule.kind = ScheduleKind::kOneCycle;
  const Trained whole = Train(*backend, options, start, data, &validation);
  TrainState state;
  TrainCallbacks callbacks;
  int asked = 0;
  callbacks.abandon_requested = [&] { return ++asked > 0; };
  callbacks.checkpoint = [&](TrainState&& at) { state = std::move(at); };
  const Trained stopped = Train(*backend, options, start, data, &validation, callbacks);
  ASSERT_EQ(stopped.history.stop_reason, "interrupted");
  EXPECT_EQ(state.step, 3);
  EXPECT_EQ(state.sums.samples, 100);
  EXPECT_TRUE(stopped.history.epochs.empty());
  Network network = start;
  Trainer trainer(network, *backend, options);
  trainer.Resume(state);
  const History& history = trainer.Run(data, &validation, {});
  EXPECT_EQ(ParameterBytes(network), ParameterBytes(whole.network));
  EXPECT_EQ(LossesOf(history), LossesOf(whole.history));
  ASSERT_EQ(history.epochs.size(), 2U);
  EXPECT_EQ(history.epochs[0].learning_rate, whole.history.epochs[0].learning_rate);
}

TEST(Abandon, WhatTheQuestionThrowsComesBack) {
  const Dataset data = RandomDataset(4096, 512, 3, DType::kF32, 1);
  const Network start = NetworkFor(data, 1024, "softmax");
  TrainOptions options;
  options.step.loss = Loss::kCrossEntropy;
  options.batch = 4096;
  options.epochs = 1;
  TrainCallbacks callbacks;
  callbacks.abandon_requested = []() -> bool { throw std::runtime_error("asked"); };
  EXPECT_THROW(Train(*MakeBackend("cpu"), options, start, data, nullptr, callbacks), std::runtime_error);
}

}  // namespace
}  // namespace lamina
