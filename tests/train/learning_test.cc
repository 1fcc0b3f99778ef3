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

TrainOptions XorOptions() {
  TrainOptions options;
  options.loss = Loss::kMse;
  options.epochs = 300;
  options.batch = 4;
  options.rule.kind = UpdateKind::kNesterov;
  options.rule.learning_rate = 0.05;
  options.rule.momentum = 0.9;
  options.class_threshold = 0;
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
  options.loss = Loss::kMse;
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

// Trained on every backend, saved, and loaded again with the formula at hand.
TEST(Learning, CustomActivations) {
  const Activation customs[] = {Activation::Custom<Softplus>(), Activation::Custom(Swish{.beta = 2})};
  const TemporaryFolder folder;
  for (const Activation& custom : customs) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const Table table = RandomTable(60, 3, 0, 1);
      Model model = SmallModel(table, dtype, custom, Task::kRegression);
      const Dataset data = model.preprocessor.Encode(table, RowsOf(table), dtype);
      TrainOptions options;
      options.loss = Loss::kMse;
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
