// Single answers equal those of the executor and of the whole preprocessing, on many threads at once.
#include "lamina/model/predictor.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/model/evaluate.h"
#include "lamina/nn/executor.h"
#include "lamina/train/settings_text.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

void ExpectAsExecutor(const std::vector<LayerSpec>& layers, DType dtype) {
  SCOPED_TRACE(fmt::format("{} in {}", NeuronText(layers.front()), DTypeName(dtype)));
  Network network(layers, dtype);
  network.Initialize(Initialization::kGlorotUniform, 3);
  const Matrix x = RandomMatrix(9, network.inputs(), dtype, 1);
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  Executor executor(network, *serial, {.max_batch = 9});
  Matrix expected(9, network.outputs(), dtype);
  executor.Predict(x.view(), expected.view());
  const Predictor predictor(network);
  network.Initialize(Initialization::kGlorotUniform, 4);  // it has parameters of its own
  PredictorScratch scratch = predictor.MakeScratch();
  DispatchFloat(dtype, [&]<class T>(T) {
    std::vector<T> y(static_cast<size_t>(predictor.outputs()));
    for (int64_t i = 0; i < 9; ++i) {
      predictor.Predict(x.Row<T>(i), y.data(), scratch);
      for (size_t j = 0; j < y.size(); ++j) {
        ASSERT_NEAR(y[j], expected.Row<T>(i)[j], 64 * std::numeric_limits<T>::epsilon()) << i << ", " << j;
      }
    }
  });
}

TEST(Predictor, AnswersAsTheExecutor) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const std::string& synapse : SynapseNames()) {
      const LayerSpec first{13, 29, ParseSynapse(synapse), "gaussian(radius=3)", !IsDistance(ParseSynapse(synapse))};
      ExpectAsExecutor({first, {29, 3, Synapse::kDot, "softmax", true}}, dtype);
      ExpectAsExecutor({first}, dtype);
    }
    for (const std::string& name : ActivationNames()) {
      ExpectAsExecutor(
          {
              {13, 29, Synapse::kDot, name == "softmax" ? "tanh" : Activation(name), true},
              {29, 7, Synapse::kDot, Activation(name), false},
          },
          dtype);
    }
    ExpectAsExecutor({{13, 29, Synapse::kDot, Activation::Custom(Swish{}), true}, {29, 1, Synapse::kDot, "identity"}},
                     dtype);
    ExpectAsExecutor(ParseLayers("rbf(radius=9)-radius:70,dot-softmax:2", 13, true), dtype);
  }
}

TEST(Predictor, ServesManyThreadsAtOnce) {
  Network network({{40, 300, Synapse::kDot, "tanh", true}, {300, 5, Synapse::kDot, "softmax", true}}, DType::kF32);
  network.Initialize(Initialization::kGlorotUniform, 3);
  const Predictor predictor(network);
  const Matrix x = RandomMatrix(64, 40, DType::kF32, 1);
  Matrix alone(64, 5, DType::kF32);
  PredictorScratch scratch = predictor.MakeScratch();
  for (int64_t i = 0; i < 64; ++i) {
    predictor.Predict(x.Row<float>(i), alone.Row<float>(i), scratch);
  }
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      PredictorScratch own = predictor.MakeScratch();
      float y[5];
      for (int64_t n = 0; n < 2000; ++n) {
        const int64_t row = (n * 7 + static_cast<int64_t>(t)) % 64;
        predictor.Predict(x.Row<float>(row), y, own);
        wrong[t] += std::memcmp(y, alone.Row<float>(row), sizeof(y)) == 0 ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// Every row of `table`, asked alone, against the table asked as a whole.
void ExpectAsTheTable(const Table& table, const Model& model) {
  const DType dtype = model.network.dtype();
  const Dataset encoded = BoundTable(model.preprocessor, table).EncodeInputs(RowsOf(table), dtype);
  const Matrix expected = PredictRows(model, *MakeBackend("serial"), encoded.features);
  const RowPredictor predictor(model);
  ASSERT_EQ(predictor.columns(), 4);
  ASSERT_EQ(predictor.outputs(), expected.cols());
  PredictorScratch scratch = predictor.MakeScratch();
  std::vector<double> out(static_cast<size_t>(predictor.outputs()));
  for (int64_t i = 0; i < table.rows; ++i) {
    std::vector<double> row;
    for (int64_t k = 0; k < 4; ++k) {
      row.push_back(table.columns[static_cast<size_t>(k)].Number(i));
    }
    ASSERT_EQ(predictor.Predict(row.data(), out.data(), scratch), -1);
    for (size_t j = 0; j < out.size(); ++j) {
      ASSERT_NEAR(out[j], expected.Row<double>(i)[j], dtype == DType::kF32 ? 1e-5 : 1e-13);
    }
  }
}

TEST(RowPredictor, TakesRawRowsAsTheTableGivesThem) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const Task task : {Task::kClassification, Task::kRegression}) {
      const Table table = RandomTable(31, 4, task == Task::kClassification ? 3 : 0, 5);
      ExpectAsTheTable(table, SmallModel(table, dtype, "tanh", task));
    }
  }
}

TEST(RowPredictor, TakesEveryScaling) {
  const Table table = RandomTable(31, 4, 0, 5);
  for (const std::string& scale : SettingChoices("scale")) {
    for (const std::string& target_scale : SettingChoices("target-scale")) {
      SCOPED_TRACE(fmt::format("scale {}, target scale {}", scale, target_scale));
      TrainSettings settings;
      settings.task = "regression";
      settings.scale = scale;
      settings.target_scale = target_scale;
      Model model = SmallModel(table, DType::kF64, "tanh", Task::kRegression);
      model.preprocessor = Preprocessor::Fit(table, RowsOf(table), PreprocessOptionsFrom(settings));
      ExpectAsTheTable(table, model);
    }
  }
}

TEST(RowPredictor, SaysWhichNumberItCannotUse) {
  const Table table = RandomTable(31, 4, 2, 5);
  const RowPredictor predictor(SmallModel(table, DType::kF32));
  PredictorScratch scratch = predictor.MakeScratch();
  double out[2] = {7, 7};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(predictor.Predict(std::vector<double>{0.1, 0.2, nan, nan}.data(), out, scratch), 2);
  EXPECT_EQ(predictor.Predict(std::vector<double>{0.1, 1e300, 0, 0}.data(), out, scratch), 1);
  EXPECT_EQ(predictor.Predict(std::vector<double>{-INFINITY, 0, 0, 0}.data(), out, scratch), 0);
  EXPECT_EQ(out[0], 7) << "left alone";
}

TEST(RowPredictor, SaysThatTheAnswerIsNoNumber) {
  const Table table = RandomTable(31, 4, 2, 5);
  Model model = SmallModel(table, DType::kF32, "identity");
  for (const float weight : {3e38F, std::numeric_limits<float>::quiet_NaN()}) {
    model.network.Weights(0).Row<float>(0)[0] = model.network.Weights(0).Row<float>(1)[0] = weight;
    model.network.Weights(1).Row<float>(0)[0] = weight;  // infinite minus infinite
    model.network.Weights(1).Row<float>(0)[1] = -weight;
    const RowPredictor predictor(model);
    PredictorScratch scratch = predictor.MakeScratch();
    double out[2] = {7, 7};
    EXPECT_LT(predictor.Predict(std::vector<double>{5, 0.1, 0.2, 0.3}.data(), out, scratch), -1);
    EXPECT_EQ(out[0], 7) << "left alone";
  }
}

TEST(RowPredictor, FillsGapsWhereTheModelDoes) {
  Table table = RandomTable(31, 2, 2, 5);
  Model model = SmallModel(table, DType::kF64);
  PreprocessOptions options;
  options.missing = MissingPolicy::kMean;
  model.preprocessor = Preprocessor::Fit(table, RowsOf(table), options);
  const RowPredictor predictor(model);
  PredictorScratch scratch = predictor.MakeScratch();
  double mean = 0;
  for (int64_t i = 0; i < 31; ++i) {
    mean += table.columns[0].Number(i) / 31;
  }
  double filled[2], given[2];
  EXPECT_EQ(predictor.Predict(std::vector<double>{std::nan(""), 0.5}.data(), filled, scratch), -1);
  EXPECT_EQ(predictor.Predict(std::vector<double>{mean, 0.5}.data(), given, scratch), -1);
  EXPECT_NEAR(filled[0], given[0], 1e-12);
}

TEST(RowPredictor, RefusesColumnsOfText) {
  Table table = RandomTable(10, 2, 2, 5);
  Column text;
  text.name = "protocol";
  text.kind = ColumnKind::kText;
  text.categories = {"tcp", "udp"};
  for (int i = 0; i < 10; ++i) {
    text.codes.push_back(i % 2);
  }
  table.columns.insert(table.columns.begin(), text);
  const Model model = SmallModel(table, DType::kF32);
  const Error error = CaughtError([&] { const RowPredictor predictor(model); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(Mentions(error.what(), "protocol"));
}

TEST(RowPredictor, TakesANetworkWithoutPreprocessing) {
  Model model;
  model.network = Network({{3, 2, Synapse::kDot, "identity", true}}, DType::kF64);
  model.network.Weights(0).Row<double>(1)[2] = 4;
  const RowPredictor predictor(model);
  PredictorScratch scratch = predictor.MakeScratch();
  double out[2];
  EXPECT_EQ(predictor.Predict(std::vector<double>{1, 2, 3}.data(), out, scratch), -1);
  EXPECT_EQ(out[1], 12);
}

}  // namespace
}  // namespace lamina
