// The training loop: determinism, batches and their order, schedules, early stopping, divergence, sample weights.
#include "lamina/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

TrainOptions OptionsFor(Loss loss, UpdateKind kind = UpdateKind::kAdam, double rate = 0.01) {
  TrainOptions options;
  options.step.loss = loss;
  options.rule.kind = kind;
  options.rule.learning_rate = rate;
  options.epochs = 4;
  options.batch = 4;
  return options;
}

TEST(Trainer, SameSeedBackendAndThreadsGiveTheSameBits) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Dataset data = RandomDataset(50, 6, 3, dtype, 1);
    const Network start = NetworkFor(data, 17, "softmax");
    for (const int threads : {1, 2}) {
      for (const std::unique_ptr<Backend>& backend : AllBackends(threads)) {
        TrainOptions options = OptionsFor(Loss::kCrossEntropy);
        options.batch = 16;
        const Trained first = Train(*backend, options, start, data, &data);
        const Trained second = Train(*backend, options, start, data, &data);
        EXPECT_EQ(ParameterBytes(first.network), ParameterBytes(second.network)) << backend->Describe();
        EXPECT_EQ(first.history.epochs[3].validation_loss, second.history.epochs[3].validation_loss);
        options.step.seed = 2;
        EXPECT_NE(ParameterBytes(Train(*backend, options, start, data).network), ParameterBytes(first.network));
        EXPECT_NE(ParameterBytes(start), ParameterBytes(first.network));
      }
    }
  }
}

// One bias b and nothing else, so that every step moves it by -2 eta (b - mean of the batch's targets).
struct OneBias {
  explicit OneBias(std::vector<double> values) : targets(std::move(values)), network(Layers(), DType::kF64) {
    const auto rows = static_cast<int64_t>(targets.size());
    data.features = Matrix(rows, 1, DType::kF64);  // zeros
    data.targets = Matrix(rows, 1, DType::kF64);
    std::copy(targets.begin(), targets.end(), data.targets.Row<double>(0));
  }
  static std::vector<LayerSpec> Layers() { return {{1, 1, Synapse::kDot, "identity", true}}; }
  static double BiasOf(const Network& network) { return *static_cast<const double*>(network.Bias(0)); }
  double BiasOf(const TrainState& state) const {
    return static_cast<const double*>(state.parameters.data())[network.offsets()[0].bias];
  }

  std::vector<double> targets;
  Dataset data;
  Network network;
};

std::unique_ptr<Backend> Serial() { return MakeBackend("serial"); }

TEST(Trainer, WithoutShuffleTheBatchesComeInOrderAndTheLastIsShort) {
  const OneBias one({1, 2, 3, 4, 5, 6, 7, 8, 9, 100});
  TrainOptions options = OptionsFor(Loss::kMse, UpdateKind::kSgd, 0.05);
  options.shuffle = false;
  double b = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (const double mean : {2.5, 6.5, 54.5}) {
      b -= 2 * 0.05 * (b - mean);
    }
  }
  EXPECT_NEAR(OneBias::BiasOf(Train(*Serial(), options, one.network, one.data).network), b, 1e-12);
}

TEST(Trainer, ABatchLargerThanTheDataIsAllOfIt) {
  const OneBias one({1, 2, 3});
  TrainOptions options = OptionsFor(Loss::kMse, UpdateKind::kSgd, 0.05);
  double b = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    b -= 2 * 0.05 * (b - 2);
  }
  for (const int64_t batch : {int64_t{3}, int64_t{4}, int64_t{1} << 40}) {
    options.batch = batch;
    const Trained trained = Train(*Serial(), options, one.network, one.data);
    EXPECT_NEAR(OneBias::BiasOf(trained.network), b, 1e-12);
    EXPECT_NEAR(trained.history.epochs[0].train_loss, (1 + 4 + 9) / 3.0, 1e-12);
    EXPECT_TRUE(std::isnan(trained.history.epochs[0].train_accuracy));
    EXPECT_TRUE(std::isnan(trained.history.epochs[0].validation_loss));
  }
}

TEST(Trainer, EveryEpochVisitsEveryRowOnceInAnotherOrder) {
  const OneBias one({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  TrainOptions options = OptionsFor(Loss::kMse, UpdateKind::kSgd, 0.25);
  options.batch = 1;
  options.epochs = 3;
  std::set<std::vector<int>> orders;
  std::vector<int> order;
  double before = 0;
  for (int step = 1; step <= 36; ++step) {
    const double after = one.BiasOf(StateAfter(step, *Serial(), options, one.network, one.data));
    order.push_back(static_cast<int>(std::lround(2 * after - before)));  // after = before - (before - y) / 2
    before = after;
    if (order.size() == 12) {
      orders.insert(order);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
      order.clear();
    }
  }
  EXPECT_EQ(orders.size(), 3U);
}

std::vector<double> RatesOf(const History& history) {
  std::vector<double> rates;
  for (const EpochRecord& record : history.epochs) {
    rates.push_back(record.learning_rate);
  }
  return rates;
}

void ExpectRates(const TrainOptions& options, const std::vector<double>& expected) {
  const OneBias one({1, 2, 3, 4});
  const Trained trained = Train(*Serial(), options, one.network, one.data);
  const std::vector<double> rates = RatesOf(trained.history);
  ASSERT_EQ(rates.size(), expected.size());
  double b = 0;
  for (size_t e = 0; e < rates.size(); ++e) {
    EXPECT_NEAR(rates[e], expected[e], 1e-15) << "epoch " << e + 1;
    b -= 2 * expected[e] * (b - 2.5);
  }
  EXPECT_NEAR(OneBias::BiasOf(trained.network), b, 1e-12) << "the rate is the one used";
}

TEST(Trainer, SchedulesSetTheRateOfEachEpoch) {
  TrainOptions options = OptionsFor(Loss::kMse, UpdateKind::kSgd, 0.1);
  options.epochs = 6;
  ExpectRates(options, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  options.schedule = {ScheduleKind::kStep, 0.5, 2, 5};
  ExpectRates(options, {0.1, 0.1, 0.05, 0.05, 0.025, 0.025});
  options.schedule = {ScheduleKind::kCosine, 0.1, 10, 5};
  options.epochs = 5;
  ExpectRates(options, {0.1, 0.01 + 0.045 * (1 + std::sqrt(0.5)), 0.055, 0.01 + 0.045 * (1 - std::sqrt(0.5)), 0.01});
  options.schedule = {ScheduleKind::kPlateau, 0.5, 10, 2};
  options.epochs = 7;
  options.min_improvement = 1e9;  // only the first epoch counts as better
  ExpectRates(options, {0.1, 0.1, 0.1, 0.05, 0.05, 0.025, 0.025});
  options.min_improvement = 0;
  ExpectRates(options, std::vector<double>(7, 0.1));
}

// The bias follows the rates of single steps, whether steps are computed whole or layer by layer.
TEST(Trainer, RatesOfStepsAreTheOnesUsed) {
  const OneBias one({1, 2, 3, 4});
  for (const auto& [backend, bias_rate] : {std::pair{"serial", 1.0}, {"cpu", 1.0}, {"cpu", 0.5}}) {
    TrainOptions options = OptionsFor(Loss::kMse, UpdateKind::kSgd, 0.1);
    options.epochs = 3;
    options.schedule = {.kind = ScheduleKind::kFlatCos, .warmup = 0.3};
    options.step.bias_rate = bias_rate;
    const Trained trained = Train(*MakeBackend(backend), options, one.network, one.data);
    double b = 0;
    for (int e = 0; e < 3; ++e) {
      const double rate = StepRateAt(options.schedule, 0.1, 0.1, (e + 0.5) / 3);
      EXPECT_NEAR(RatesOf(trained.history)[static_cast<size_t>(e)], rate, 1e-15);
      b -= 2 * bias_rate * rate * (b - 2.5);
    }
    EXPECT_NEAR(OneBias::BiasOf(trained.network), b, 1e-12) << backend << " " << bias_rate;
  }
}

// A few rows with random classes, learned by heart: the validation loss falls at first, then rises.
struct Overfit {
  Overfit() : train(RandomDataset(12, 5, 2, DType::kF64, 1)), validation(RandomDataset(60, 5, 2, DType::kF64, 9)) {
    options = OptionsFor(Loss::kCrossEntropy, UpdateKind::kAdam, 0.02);
    options.epochs = 60;
    options.patience = 4;
  }
  double ValidationLoss(const Network& network) const {
    Executor executor(network, *backend, {.max_batch = validation.size(), .step = {.loss = Loss::kCrossEntropy}});
    LossSums sums;
    executor.Evaluate(validation.features.view(), validation.targets.view(), nullptr, &sums);
    return sums.loss / sums.weight;
  }
  std::unique_ptr<Backend> backend = Serial();
  Dataset train;
  Dataset validation;
  TrainOptions options;
};

TEST(Trainer, EarlyStoppingStopsAndKeepsTheBest) {
  const Overfit run;
  const Network start = NetworkFor(run.train, 64, "softmax");
  const Trained trained = Train(*run.backend, run.options, start, run.train, &run.validation);
  const History& history = trained.history;
  EXPECT_EQ(history.stop_reason, "early_stopping");
  ASSERT_LT(history.epochs.size(), 60U);
  EXPECT_EQ(std::ssize(history.epochs), history.best_epoch + run.options.patience);
  double best = INFINITY;
  int64_t best_epoch = 0;
  for (const EpochRecord& record : history.epochs) {
    if (record.validation_loss < best) {
      best = record.validation_loss;
      best_epoch = record.epoch;
    }
  }
  EXPECT_EQ(history.best_epoch, best_epoch);
  EXPECT_NEAR(run.ValidationLoss(trained.network), best, 1e-12);
}

TEST(Trainer, AWaveThatBringsNothingIsTheLast) {
  Overfit run;
  run.options.patience = 0;
  run.options.patience_waves = 1;
  run.options.schedule = {.kind = ScheduleKind::kCosLog4};
  const Network start = NetworkFor(run.train, 64, "softmax");
  const Trained trained = Train(*run.backend, run.options, start, run.train, &run.validation);
  const History& history = trained.history;
  EXPECT_EQ(history.stop_reason, "early_stopping");
  const int64_t done = std::ssize(history.epochs);
  EXPECT_TRUE(done == 12 || done == 28) << done;  // where the second or the third wave of 60 epochs ends
  EXPECT_LE(history.best_epoch, done == 12 ? 4 : 12);
  EXPECT_NEAR(run.ValidationLoss(trained.network),
              history.epochs[static_cast<size_t>(history.best_epoch - 1)].validation_loss, 1e-12);
}

TEST(Trainer, KeepSaysWhichWeightsRemain) {
  Overfit run;
  const Network start = NetworkFor(run.train, 64, "softmax");
  run.options.keep = Keep::kLast;
  Trained trained = Train(*run.backend, run.options, start, run.train, &run.validation);
  EXPECT_EQ(trained.history.stop_reason, "early_stopping");
  EXPECT_NEAR(run.ValidationLoss(trained.network), trained.history.epochs.back().validation_loss, 1e-12);
  run.options.patience = 0;
  run.options.epochs = 20;
  for (const Keep keep : {Keep::kLast, Keep::kAuto, Keep::kBest}) {
    run.options.keep = keep;
    trained = Train(*run.backend, run.options, start, run.train, &run.validation);
    EXPECT_EQ(trained.history.stop_reason, "epochs");
    ASSERT_EQ(trained.history.epochs.size(), 20U);
    ASSERT_LT(trained.history.best_epoch, 20);
    const int64_t kept = keep == Keep::kLast ? 20 : trained.history.best_epoch;  // there are validation rows
    EXPECT_NEAR(run.ValidationLoss(trained.network),
                trained.history.epochs[static_cast<size_t>(kept - 1)].validation_loss, 1e-12);
    EXPECT_EQ(ParseKeep(KeepName(keep)), keep);
  }
  EXPECT_THROW(ParseKeep("first"), Error);
}

TEST(Trainer, BestWaveJudgesTheEndsOfWaves) {
  Overfit run;
  const Network start = NetworkFor(run.train, 64, "softmax");
  run.options.patience = 0;
  run.options.epochs = 30;
  run.options.schedule.kind = ScheduleKind::kCosLog4;
  run.options.keep = Keep::kBestWave;
  const Trained trained = Train(*run.backend, run.options, start, run.train, &run.validation);
  const std::vector<EpochRecord>& epochs = trained.history.epochs;
  const auto loss = [&](int64_t epoch) { return epochs[static_cast<size_t>(epoch - 1)].validation_loss; };
  int64_t best = 2;
  for (const int64_t end : {6, 14, 30}) {
    best = loss(end) <= loss(best) ? end : best;
  }
  EXPECT_EQ(trained.history.best_epoch, best);
  EXPECT_NEAR(run.ValidationLoss(trained.network), loss(best), 1e-12);
  EXPECT_EQ(epochs[0].best_epoch, 1) << "any epoch before the first end";
  EXPECT_EQ(epochs[4].best_epoch, 2);
  EXPECT_EQ(epochs.back().best_epoch, best);
}

TEST(Trainer, PatienceNeedsValidationRows) {
  const Overfit run;
  const Network start = NetworkFor(run.train, 4, "softmax");
  const Dataset empty = RandomDataset(0, 5, 2, DType::kF64, 1);
  for (const Dataset* validation : {static_cast<const Dataset*>(nullptr), &empty}) {
    const Error error = CaughtError([&] { Train(*run.backend, run.options, start, run.train, validation); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_TRUE(Mentions(error.what(), "patience"));
  }
  EXPECT_EQ(CaughtError([&] { Train(*run.backend, run.options, start, empty, &run.validation); }).code(),
            ErrorCode::kBadData);
}

TEST(Trainer, DivergenceIsAnErrorThatLeavesTheNetworkAlone) {
  const Dataset data = RandomDataset(40, 3, 0, DType::kF64, 1);
  TrainOptions options = OptionsFor(Loss::kMse, UpdateKind::kSgd, 1e6);
  options.epochs = 100;
  options.checkpoint_epochs = 1;
  for (const std::unique_ptr<Backend>& backend : AllBackends(1)) {
    Network network({{3, 1, Synapse::kDot, "identity", true}}, DType::kF64);
    network.Initialize(Initialization::kGlorotUniform, 1);
    const std::string before = ParameterBytes(network);
    int checkpoints = 0;
    TrainCallbacks callbacks;
    callbacks.checkpoint = [&](const TrainState& state) {
      ++checkpoints;
      for (const double w : state.parameters.As<double>()) {
        EXPECT_TRUE(std::isfinite(w));
      }
    };
    Trainer trainer(network, *backend, options);
    const Error error = CaughtError([&] { trainer.Run(data, nullptr, callbacks); });
    EXPECT_EQ(error.code(), ErrorCode::kDiverged);
    EXPECT_TRUE(Mentions(error.what(), "in epoch " + std::to_string(checkpoints + 1) + ", step "));
    EXPECT_TRUE(Mentions(error.what(), "learning rate"));
    EXPECT_EQ(ParameterBytes(network), before);
  }
}

// The loss of a step is computed before its update: the very last one shows in the weights only.
TEST(Trainer, DivergenceInTheLastStepIsNoticed) {
  const Dataset data = RandomDataset(4, 3, 0, DType::kF32, 1);
  const Network start = NetworkFor(data, 4, "identity");
  TrainOptions options = OptionsFor(Loss::kMse, UpdateKind::kSgd, 1e300);
  options.epochs = 1;
  TrainCallbacks callbacks;
  callbacks.checkpoint = [](const TrainState&) { ADD_FAILURE() << "a checkpoint of infinite weights"; };
  for (const std::unique_ptr<Backend>& backend : AllBackends(1)) {
    for (const int64_t checkpoint_epochs : {0, 1}) {
      options.checkpoint_epochs = checkpoint_epochs;
      Network network = start;
      Trainer trainer(network, *backend, options);
      const Error error = CaughtError([&] { trainer.Run(data, nullptr, callbacks); });
      EXPECT_EQ(error.code(), ErrorCode::kDiverged);
      EXPECT_TRUE(Mentions(error.what(), "epoch 1, step 1 of 1"));
      EXPECT_EQ(ParameterBytes(network), ParameterBytes(start));
    }
  }
}

// The gradient is the sum over rows divided by their number, so the learning rate makes up for that.
Trained TrainFullBatch(const Dataset& data, const Network& start) {
  TrainOptions options = OptionsFor(Loss::kCrossEntropy, UpdateKind::kSgd, 0.01 * static_cast<double>(data.size()));
  options.batch = data.size();
  options.epochs = 5;
  return Train(*Serial(), options, start, data);
}

Dataset RowsOf(const Dataset& data, const std::vector<int64_t>& rows) {
  Dataset part;
  part.features = Matrix(std::ssize(rows), data.features.cols(), DType::kF64);
  part.targets = Matrix(std::ssize(rows), data.targets.cols(), DType::kF64);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto to = static_cast<int64_t>(i);
    std::copy_n(data.features.Row<double>(rows[i]), data.features.cols(), part.features.Row<double>(to));
    std::copy_n(data.targets.Row<double>(rows[i]), data.targets.cols(), part.targets.Row<double>(to));
    part.labels.push_back(data.labels[static_cast<size_t>(rows[i])]);
  }
  return part;
}

void ExpectNear(const Trained& a, const Trained& b) {
  const auto count = a.network.parameter_bytes() / 8;
  for (int64_t n = 0; n < count; ++n) {
    EXPECT_NEAR(static_cast<const double*>(a.network.parameters())[n],
                static_cast<const double*>(b.network.parameters())[n], 1e-12);
  }
  EXPECT_NEAR(a.history.epochs[4].train_loss, b.history.epochs[4].train_loss, 1e-12);
}

TEST(Trainer, AWeightOfTwoIsTheRowTwice) {
  Dataset data = RandomDataset(6, 3, 2, DType::kF64, 1);
  const Network start = NetworkFor(data, 4, "softmax");
  const Trained twice = TrainFullBatch(RowsOf(data, {0, 1, 2, 2, 3, 4, 5}), start);
  data.sample_weights = {1, 1, 2, 1, 1, 1};
  ExpectNear(TrainFullBatch(data, start), twice);
}

TEST(Trainer, AWeightOfZeroIsNoRow) {
  Dataset data = RandomDataset(6, 3, 2, DType::kF64, 1);
  const Network start = NetworkFor(data, 4, "softmax");
  const Trained without = TrainFullBatch(RowsOf(data, {0, 1, 3, 4, 5}), start);
  data.sample_weights = {1, 1, 0, 1, 1, 1};
  ExpectNear(TrainFullBatch(data, start), without);
  const std::string bits = ParameterBytes(TrainFullBatch(data, start).network);
  data.features.Row<double>(2)[0] = 77;
  EXPECT_EQ(ParameterBytes(TrainFullBatch(data, start).network), bits);
}

TEST(Trainer, DataThatDoesNotFitTheNetworkIsRefused) {
  const Dataset data = RandomDataset(6, 3, 2, DType::kF64, 1);
  const Network start = NetworkFor(data, 4, "softmax");
  Dataset short_weights = RandomDataset(6, 3, 2, DType::kF64, 1);
  short_weights.sample_weights = {1, 1};
  const Dataset wide = RandomDataset(6, 4, 2, DType::kF64, 1);
  const Dataset more_classes = RandomDataset(6, 3, 3, DType::kF64, 1);
  const Dataset single = RandomDataset(6, 3, 2, DType::kF32, 1);
  for (const Dataset* wrong : std::vector<const Dataset*>{&short_weights, &wide, &more_classes, &single}) {
    const TrainOptions options = OptionsFor(Loss::kCrossEntropy);
    EXPECT_EQ(CaughtError([&] { Train(*Serial(), options, start, *wrong); }).code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(CaughtError([&] { Train(*Serial(), options, start, data, wrong); }).code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace lamina
