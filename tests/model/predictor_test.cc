// Single answers equal those of the executor and of the whole preprocessing, on many threads at once.
#include "lamina/model/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/convert.h"
#include "lamina/model/evaluate.h"
#include "lamina/nn/executor.h"
#include "lamina/nn/rounded_network.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/settings_text.h"
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
    ExpectAsExecutor(ParseLayers("residual(dot-tanh:9,dot-relu:13),residual(dot-mish:13),dot-softmax:2", 13, true),
                     dtype);
  }
}

// Random rows with a share of zeros.
Matrix SparseRows(int64_t rows, int64_t cols, DType dtype, double zeros) {
  Matrix x = RandomMatrix(rows, cols, dtype, 1);
  const Matrix which = RandomMatrix(rows, cols, DType::kF64, 2, 0, 1);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < cols; ++k) {
        x.Row<T>(i)[k] = which.Row<double>(i)[k] < zeros ? T(0) : x.Row<T>(i)[k];
      }
    }
  });
  return x;
}

// sum of |w x| of a neuron, in double precision: what rounding is relative to.
double SumOfSizes(const Network& network, const double* x) {
  double largest = 0;
  for (int64_t j = 0; j < network.outputs(); ++j) {
    double sum = 1;
    for (int64_t k = 0; k < network.inputs(); ++k) {
      sum += std::abs(network.Weights(0).Row<double>(j)[k] * x[k]);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

// Rows of many zeros and of none through one layer of products, against plain loops over the rounded weights.
void ExpectAsRoundedWeights(int64_t inputs, int64_t outputs, DType dtype, WeightStorage storage, double zeros) {
  SCOPED_TRACE(fmt::format("{}-{} in {}, weights {}, {} zeros", inputs, outputs, DTypeName(dtype),
                           WeightStorageName(storage), zeros));
  Network network({{inputs, outputs, Synapse::kDot, "identity", true}}, dtype);
  network.Initialize(Initialization::kGlorotUniform, 3);
  const Predictor predictor(network, storage);
  RoundWeights(network, storage);
  Network wide(network.layers(), DType::kF64);
  ConvertMatrix(network.Weights(0), wide.Weights(0));
  const Matrix x = SparseRows(4, inputs, dtype, zeros);
  Matrix wide_x(4, inputs, DType::kF64);
  ConvertMatrix(x.view(), wide_x.view());
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  Executor executor(wide, *serial, {.max_batch = 4});
  Matrix expected(4, outputs, DType::kF64);
  executor.Predict(wide_x.view(), expected.view());
  PredictorScratch scratch = predictor.MakeScratch();
  const bool f64 = dtype == DType::kF64 && storage == WeightStorage::kExact;
  const double epsilon = f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  DispatchFloat(dtype, [&]<class T>(T) {
    std::vector<T> y(static_cast<size_t>(outputs));
    for (int64_t i = 0; i < 4; ++i) {
      predictor.Predict(x.Row<T>(i), y.data(), scratch);
      double bound = 16 * epsilon * SumOfSizes(wide, wide_x.Row<double>(i));
      if (storage == WeightStorage::kI8) {  // x in 16 bits: each is off by at most the largest, 1, over 2 * 32639
        const double largest_weight = std::sqrt(6.0 / static_cast<double>(inputs + outputs)) * 1.01;
        bound += static_cast<double>(inputs) * largest_weight / 65278;
      }
      for (size_t j = 0; j < y.size(); ++j) {
        ASSERT_NEAR(y[j], expected.Row<double>(i)[j], bound) << i << ", " << j;
      }
    }
  });
}

TEST(Predictor, AnswersByTheRoundedWeights) {
  for (const std::string& name : WeightStorageNames()) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      for (const double zeros : {0.0, 0.3, 0.8, 1.0}) {
        // Panels of every width, ends that fill no vector, neuron by neuron, and groups of inputs that are not whole.
        for (const int64_t outputs : {1, 7, 64, 65, 97, 130, 300}) {
          for (const int64_t inputs : {1, 63, 130}) {
            ExpectAsRoundedWeights(inputs, outputs, dtype, ParseWeightStorage(name), zeros);
          }
        }
      }
    }
  }
}

TEST(Predictor, KeepsCentresExactAndRefusesANetworkOfThemAlone) {
  for (const std::string& name : WeightStorageNames()) {
    const WeightStorage storage = ParseWeightStorage(name);
    Network network(ParseLayers("rbf(radius=9)-radius:70,dot-tanh:90,dot-softmax:2", 13, true), DType::kF32);
    network.Initialize(Initialization::kGlorotUniform, 3);
    const Predictor predictor(network, storage);
    RoundWeights(network, storage);
    const Matrix x = RandomMatrix(1, 13, DType::kF32, 1);
    float y[2], expected[2];
    PredictorScratch scratch = predictor.MakeScratch();
    predictor.Predict(x.Row<float>(0), y, scratch);
    const Predictor exact(network);
    PredictorScratch exact_scratch = exact.MakeScratch();
    exact.Predict(x.Row<float>(0), expected, exact_scratch);
    EXPECT_NEAR(y[0], expected[0], storage == WeightStorage::kI8 ? 1e-4 : 1e-6) << name;
    const Network distances(ParseLayers("rbf:4", 13, true), DType::kF32);
    if (storage != WeightStorage::kExact) {
      EXPECT_TRUE(Mentions(CaughtError([&] { const Predictor none(distances, storage); }).what(), "distances only"));
    }
  }
}

// The sum is over the inputs in their order, whether zeros are left out or are not there.
TEST(Predictor, ZerosChangeNoBit) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Network network({{200, 150, Synapse::kDot, "sigmoid", true}}, dtype);
    network.Initialize(Initialization::kGlorotUniform, 3);
    const Predictor predictor(network);
    PredictorScratch scratch = predictor.MakeScratch();
    const Matrix rows = SparseRows(6, 200, dtype, 0.8);
    DispatchFloat(dtype, [&]<class T>(T) {
      for (int64_t i = 0; i < 6; ++i) {
        const T* x = rows.Row<T>(i);
        const int64_t some = 200 - std::count(x, x + 200, T(0));
        ASSERT_LT(some, 80);
        Network narrow({{some, 150, Synapse::kDot, "sigmoid", true}}, dtype);
        std::vector<T> inputs;
        for (int64_t k = 0; k < 200; ++k) {
          if (x[k] != 0) {
            for (int64_t j = 0; j < 150; ++j) {
              narrow.Weights(0).Row<T>(j)[inputs.size()] = network.Weights(0).Row<T>(j)[k];
            }
            inputs.push_back(x[k]);
          }
        }
        const Predictor without(narrow);
        PredictorScratch other = without.MakeScratch();
        std::vector<T> y(150), expected(150);
        predictor.Predict(x, y.data(), scratch);
        without.Predict(inputs.data(), expected.data(), other);
        EXPECT_EQ(y, expected);
      }
    });
  }
}

// What the header says of numbers that are not finite.
TEST(Predictor, NumbersThatAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  Network network({{100, 80, Synapse::kDot, "identity", true}}, DType::kF32);
  network.Initialize(Initialization::kGlorotUniform, 3);
  network.Weights(0).Row<float>(5)[7] = infinity;
  std::vector<float> x(100, 0.0F), y(80);
  x[3] = 1;
  const Predictor exact(network);
  PredictorScratch scratch = exact.MakeScratch();
  exact.Predict(x.data(), y.data(), scratch);
  EXPECT_EQ(y[5], network.Weights(0).Row<float>(5)[3]) << "infinite times a zero that is left out";
  x.assign(100, 1);
  x[7] = 0;
  exact.Predict(x.data(), y.data(), scratch);
  EXPECT_TRUE(std::isnan(y[5])) << "infinite times a zero among others";
  network.Weights(0).Row<float>(5)[7] = 0;
  for (const std::string& name : WeightStorageNames()) {
    const Predictor predictor(network, ParseWeightStorage(name));
    PredictorScratch own = predictor.MakeScratch();
    x.assign(100, 0);
    x[60] = std::nanf("");
    predictor.Predict(x.data(), y.data(), own);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[79])) << name << ": a NaN is no zero";
    x[60] = infinity;
    predictor.Predict(x.data(), y.data(), own);
    EXPECT_FALSE(std::isfinite(y[0])) << name;
  }
}

// 64 rows of 40 inputs, 5 outputs.
void ExpectSameOnManyThreads(const Predictor& predictor, const Matrix& x) {
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
      for (int64_t n = 0; n < 1000; ++n) {
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

TEST(Predictor, ServesManyThreadsAtOnce) {
  Network network({{40, 300, Synapse::kDot, "tanh", true}, {300, 5, Synapse::kDot, "softmax", true}}, DType::kF32);
  network.Initialize(Initialization::kGlorotUniform, 3);
  ExpectSameOnManyThreads(Predictor(network), RandomMatrix(64, 40, DType::kF32, 1));
  for (const std::string& name : WeightStorageNames()) {
    ExpectSameOnManyThreads(Predictor(network, ParseWeightStorage(name)), SparseRows(64, 40, DType::kF32, 0.5));
  }
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

TEST(RowPredictor, TakesEnsembles) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const Task task : {Task::kClassification, Task::kRegression}) {
      const Table table = RandomTable(31, 4, task == Task::kClassification ? 3 : 0, 5);
      ExpectAsTheTable(table, WithOthers(SmallModel(table, dtype, "tanh", task)));
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
      model.preprocessor = Preprocessor::Fit(table, RowsOf(table), PreprocessOptionsFrom(Resolve(settings)));
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
