// Training learns: XOR, linear regression, the user's own activations.
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"
#include "tests/temporary_folder.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

Dataset Xor(DType dtype) {
  Dataset data;
  data.features = Matrix(4, 2, dtype);
  data.targets = Matrix(4, 1, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < 4; ++i) {
      data.features.Row<T>(i)[0] = static_cast<T>(i & 1 ? 1 : -1);
      data.features.Row<T>(i)[1] = static_cast<T>(i & 2 ? 1 : -1);
      data.targets.Row<T>(i)[0] = static_cast<T>(i == 1 || i == 2 ? 1 : -1);
    }
  });
  return data;
}

// Points of a square; the class says whether a circle of half its area holds them.
Dataset Circle(int64_t rows) {
  Dataset data;
  data.features = RandomMatrix(rows, 2, DType::kF32, 5);
  data.targets = Matrix(rows, 2, DType::kF32);
  for (int64_t i = 0; i < rows; ++i) {
    const float* x = data.features.Row<float>(i);
    data.labels.push_back(x[0] * x[0] + x[1] * x[1] < 2 / M_PI ? 1 : 0);
    data.targets.Row<float>(i)[data.labels.back()] = 1;
  }
  return data;
}

TrainOptions XorOptions() {
  TrainOptions options;
  options.step.loss = Loss::kMse;
  options.epochs = 300;
  options.batch = 4;
  options.rule.kind = UpdateKind::kNesterov;
  options.rule.learning_rate = 0.05;
  options.rule.momentum = 0.9;
  options.step.class_threshold = 0;
  return options;
}

TEST(Learning, XorWithTanh) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Dataset data = Xor(dtype);
    const Network start = NetworkFor(data, 4, "tanh", 3);
    for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
      const Trained trained = Train(*backend, XorOptions(), start, data);
      EXPECT_LT(trained.history.epochs.back().train_loss, 0.01) << backend->name();
      EXPECT_GT(trained.history.epochs.front().train_loss, 0.5);
    }
  }
}

TEST(Learning, LinearRegressionFindsItsCoefficients) {
  const double coefficients[] = {2, -1.5, 0.25, 7};
  Dataset data = RandomDataset(50, 4, 0, DType::kF64, 1);
  for (int64_t i = 0; i < 50; ++i) {
    const double* x = data.features.Row<double>(i);
    data.targets.Row<double>(i)[0] = std::inner_product(x, x + 4, coefficients, 3.0);
  }
  TrainOptions options;
  options.step.loss = Loss::kMse;
  options.epochs = 400;
  options.batch = 50;
  options.rule.learning_rate = 0.3;
  options.rule.momentum = 0.5;
  for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
    Network start({{4, 1, Synapse::kDot, "identity", true}}, DType::kF64);
    start.Initialize(Initialization::kGlorotUniform, 1);
    const Trained trained = Train(*backend, options, start, data);
    for (int64_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(trained.network.Weights(0).Row<double>(0)[k], coefficients[k], 1e-9) << backend->name();
    }
    EXPECT_NEAR(*static_cast<const double*>(trained.network.Bias(0)), 3, 1e-9);
  }
}

// Without and with a penalty of the weights: (X'X/n + decay) w = X'y/n, to rounding; then there is nothing left to do.
TEST(Learning, LbfgsFindsTheLeastSquares) {
  Dataset data = RandomDataset(60, 3, 0, DType::kF64, 4);
  for (int64_t i = 0; i < 60; ++i) {
    const double* x = data.features.Row<double>(i);
    data.targets.Row<double>(i)[0] = 2 * x[0] - x[1] + 0.5 * x[2] + (i % 2 == 0 ? 0.3 : -0.3);
  }
  for (const double decay : {0.0, 0.1}) {
    TrainOptions options;
    options.step.loss = Loss::kMse;
    options.lbfgs = true;
    options.epochs = 100;
    options.rule.weight_decay = decay;
    Network start({{3, 1, Synapse::kDot, "identity", false}}, DType::kF64);
    start.Initialize(Initialization::kGlorotUniform, 1);
    const Trained trained = Train(*MakeBackend("serial"), options, start, data);
    EXPECT_EQ(trained.history.stop_reason, "converged");
    EXPECT_LT(trained.history.epochs.size(), 40U);
    const double* w = trained.network.Weights(0).Row<double>(0);
    for (int64_t k = 0; k < 3; ++k) {  // the slope along every weight
      double slope = decay * w[k];
      for (int64_t i = 0; i < 60; ++i) {
        const double* x = data.features.Row<double>(i);
        slope += 2.0 / 60 * (std::inner_product(x, x + 3, w, 0.0) - data.targets.Row<double>(i)[0]) * x[k];
      }
      EXPECT_NEAR(slope, 0, 1e-7) << "decay " << decay;
    }
  }
}

// However it ended: gone on from its end, a run has the same weights at once.
TEST(Learning, WhatHasEndedTrainsNoMore) {
  const Dataset data = RandomDataset(60, 3, 0, DType::kF64, 4);
  const Dataset validation = RandomDataset(30, 3, 0, DType::kF64, 9);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  for (const std::string reason : {"epochs", "early_stopping", "converged"}) {
    TrainOptions options;
    options.step.loss = Loss::kMse;
    options.lbfgs = reason == "converged";
    options.patience = reason == "early_stopping" ? 2 : 0;
    options.min_improvement = reason == "early_stopping" ? 1e9 : 0;  // only the first epoch counts as better
    options.epochs = reason == "epochs" ? 3 : 300;
    options.rule.learning_rate = 0.1;
    Network network({{3, 1, Synapse::kDot, "identity", false}}, DType::kF64);
    network.Initialize(Initialization::kGlorotUniform, 1);
    Network again = network;
    TrainState end;
    Trainer trainer(network, *backend, options);
    const History whole =
        trainer.Run(data, &validation, {.ended = [&](TrainState&& state) { end = std::move(state); }});
    ASSERT_EQ(whole.stop_reason, reason);
    Trainer other(again, *backend, options);
    other.Resume(end);
    int epochs = 0;
    const History rest = other.Run(data, &validation, {.epoch_done = [&](const EpochRecord&) { ++epochs; }});
    EXPECT_EQ(epochs, 0) << reason;
    EXPECT_EQ(rest.stop_reason, reason);
    EXPECT_EQ(rest.epochs.size(), whole.epochs.size()) << reason;
    EXPECT_EQ(ParameterBytes(again), ParameterBytes(network)) << reason;
  }
}

TEST(Learning, LbfgsNeverGetsWorseAndTellsACircle) {
  const Dataset data = Circle(200);
  TrainOptions options;
  options.lbfgs = true;
  options.epochs = 60;
  for (const char* backend : {"serial", "cpu"}) {
    const Trained trained = Train(*MakeBackend(backend), options, NetworkFor(data, 16, "softmax", 3), data, &data);
    const std::vector<EpochRecord>& epochs = trained.history.epochs;
    for (size_t i = 1; i < epochs.size(); ++i) {
      EXPECT_LE(epochs[i].train_loss, epochs[i - 1].train_loss * (1 + 1e-6)) << backend << ", iteration " << i;
    }
    EXPECT_GE(epochs.back().validation_accuracy, 0.98) << backend;
  }
}

// Every update rule with its own learning rate, or ten times that, finds what classes a circle tells apart.
TEST(Learning, EveryUpdateRuleLearnsACircle) {
  const Dataset data = Circle(200);
  const Network start = NetworkFor(data, 16, "softmax", 3);
  for (const std::string& name : UpdateKindNames()) {
    TrainOptions options;
    options.epochs = 60;
    options.batch = 10;
    options.rule.kind = ParseUpdateKind(name);
    options.rule.learning_rate = 10 * DefaultLearningRate(options.rule.kind);
    options.rule.beta2 = DefaultBeta2(options.rule.kind);
    for (const double clip_norm : {0.0, 0.5}) {
      for (const double smoothing : {0.0, 0.1}) {
        options.step.clip_norm = clip_norm;
        options.step.label_smoothing = smoothing;
        const Trained trained = Train(*MakeBackend("cpu"), options, start, data, &data);
        EXPECT_GE(trained.history.epochs.back().validation_accuracy, 0.93)
            << name << ", clip " << clip_norm << ", smoothing " << smoothing;
      }
    }
  }
}

// Wild targets move mse; mae and huber find the line that all others lie on.
TEST(Learning, MaeAndHuberForgiveOutliers) {
  Dataset data = RandomDataset(100, 3, 0, DType::kF64, 1);
  const double coefficients[] = {2, -1.5, 0.25};
  for (int64_t i = 0; i < 100; ++i) {
    const double* x = data.features.Row<double>(i);
    data.targets.Row<double>(i)[0] = std::inner_product(x, x + 3, coefficients, 1.0) + (i % 10 == 0 ? 50 : 0);
  }
  Network start({{3, 1, Synapse::kDot, "identity", true}}, DType::kF64);
  start.Initialize(Initialization::kGlorotUniform, 1);
  TrainOptions options;
  options.epochs = 300;
  options.batch = 10;
  options.rule.kind = UpdateKind::kAdam;
  options.rule.learning_rate = 0.05;
  options.schedule.kind = ScheduleKind::kCosine;
  const auto worst = [&](const Loss& loss) {
    options.step.loss = loss;
    const Trained trained = Train(*MakeBackend("cpu"), options, start, data);
    double error = std::abs(*static_cast<const double*>(trained.network.Bias(0)) - 1);
    for (int64_t k = 0; k < 3; ++k) {
      error = std::max(error, std::abs(trained.network.Weights(0).Row<double>(0)[k] - coefficients[k]));
    }
    return error;
  };
  EXPECT_LT(worst(Loss::kMae), 0.05);
  EXPECT_LT(worst(Loss::Parse("huber(delta=0.1)")), 0.1);
  EXPECT_GT(worst(Loss::kMse), 1);
}

TEST(Learning, EveryActivationLearnsACircle) {
  const Dataset data = Circle(200);
  for (const std::string& name : ActivationNames()) {
    if (name == "softmax" || name == "identity" || Activation(name).radius() > 0) {
      continue;  // linear, or a curve of distances
    }
    Network start({{2, 16, Synapse::kDot, Activation(name), true}, {16, 2, Synapse::kDot, "softmax", true}},
                  DType::kF32);
    start.Initialize(Initialization::kGlorotUniform, 3);
    TrainOptions options;
    options.epochs = 300;
    options.batch = 10;
    options.rule.kind = UpdateKind::kAdamW;
    // linsat is linear until weights are large; selu, steep around 0, swings at 0.02.
    options.rule.learning_rate = name == "linsat" ? 0.1 : name == "selu" ? 0.005 : 0.02;
    options.rule.weight_decay = 1e-3;
    const Trained trained = Train(*MakeBackend("cpu"), options, start, data);
    EXPECT_GE(trained.history.epochs.back().train_accuracy, 0.93) << name;
  }
}

// Trained on every backend, saved, and loaded again with the formula at hand.
TEST(Learning, CustomActivations) {
  const Activation customs[] = {Activation::Custom<Softplus>(), Activation::Custom(Swish{.beta = 2})};
  const TemporaryFolder folder;
  for (const Activation& custom : customs) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const Table table = RandomTable(60, 3, 0, 1);
      Model model = SmallModel(table, dtype, custom, Task::kRegression);
      const Dataset data = BoundTable(model.preprocessor, table).Encode(RowsOf(table), dtype);
      TrainOptions options;
      options.step.loss = Loss::kMse;
      options.epochs = 60;
      options.rule.kind = UpdateKind::kAdam;
      options.rule.learning_rate = 0.02;
      for (const std::unique_ptr<Backend>& backend : HostBackends(2)) {
        const Trained trained = Train(*backend, options, model.network, data);
        EXPECT_LT(trained.history.epochs.back().train_loss, 0.05 * trained.history.epochs.front().train_loss)
            << backend->name() << " " << custom.Text();
        Model saved = SmallModel(table, dtype, custom, Task::kRegression);
        saved.network = trained.network;
        SaveModel(folder.Path("m"), saved);
        EXPECT_EQ(ParameterBytes(LoadModel(folder.Path("m"), customs).network), ParameterBytes(trained.network));
        EXPECT_TRUE(Mentions(CaughtError([&] { LoadModel(folder.Path("m")); }).what(), custom.name()));
      }
    }
  }
}

}  // namespace
}  // namespace lamina
