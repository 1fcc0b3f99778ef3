// Rows that are computed together have the bits that each has alone.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/lamina.h"
#include "lamina/model/predictor.h"
#include "lamina/nn/rounded_network.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/settings_text.h"
#include "tests/neuron/custom_activations.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// The share of zeros grows from row to row, from none to nearly all.
Matrix RowsWithZeros(int64_t rows, int64_t cols, DType dtype) {
  Matrix x = RandomMatrix(rows, cols, dtype, 1);
  const Matrix which = RandomMatrix(rows, cols, DType::kF64, 2, 0, 1);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < cols; ++k) {
        const bool zero = which.Row<double>(i)[k] * static_cast<double>(rows) < static_cast<double>(i);
        x.Row<T>(i)[k] = zero ? T(0) : x.Row<T>(i)[k];
      }
    }
  });
  return x;
}

// `at_once` rows a call against row after row.
void ExpectAsAlone(const Predictor& predictor, const Matrix& x, int64_t at_once) {
  SCOPED_TRACE(fmt::format("{} rows at once", at_once));
  PredictorScratch scratch(at_once * predictor.scratch_bytes());
  Matrix alone(x.rows(), predictor.outputs(), x.dtype());
  Matrix together(x.rows(), predictor.outputs(), x.dtype());
  DispatchFloat(x.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < x.rows(); ++i) {
      predictor.Predict(x.Row<T>(i), alone.Row<T>(i), scratch);
    }
    for (int64_t i = 0; i < x.rows(); i += at_once) {
      predictor.PredictRowsAt(x.Row<T>(i), std::min(at_once, x.rows() - i), together.Row<T>(i), scratch.data());
    }
    for (int64_t i = 0; i < x.rows(); ++i) {
      ASSERT_EQ(std::memcmp(alone.Row<T>(i), together.Row<T>(i), sizeof(T) * static_cast<size_t>(alone.cols())), 0)
          << "row " << i;
    }
  });
}

void ExpectAsAlone(const Network& network, WeightStorage storage, const Matrix& x) {
  const Predictor predictor(network, storage);
  for (const int64_t at_once : {2, 3, 5, 6, 7, 23, 64}) {
    ExpectAsAlone(predictor, x, at_once);
  }
}

// Panels of 4 to 8 vectors on every instruction set, whole and ragged; layers that are read neuron by neuron.
TEST(RowsTogether, HaveTheBitsOfRowsAlone) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const std::string& name : WeightStorageNames()) {
      for (const auto& [inputs, outputs] : std::vector<std::pair<int64_t, int64_t>>{
               {40, 300}, {7, 64}, {130, 65}, {33, 80}, {64, 97}, {5, 115}, {50, 129}, {21, 10}}) {
        SCOPED_TRACE(fmt::format("{}-{} in {}, weights {}", inputs, outputs, DTypeName(dtype), name));
        Network network({{inputs, outputs, Synapse::kDot, "tanh", true}, {outputs, 3, Synapse::kDot, "softmax", true}},
                        dtype);
        network.Initialize(Initialization::kGlorotUniform, 3);
        const WeightStorage storage = ParseWeightStorage(name);
        RoundWeights(network, storage);
        ExpectAsAlone(network, storage, RandomMatrix(64, inputs, dtype, 1));
        ExpectAsAlone(network, storage, RowsWithZeros(64, inputs, dtype));
      }
    }
  }
}

TEST(RowsTogether, HaveThemInNetworksOfEveryKind) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const std::string& layers : {"rbf(radius=9)-radius:70,dot-softmax:2",
                                      "residual(dot-tanh:90,dot-relu:13),residual(dot-mish:13),dot-softmax:2"}) {
      SCOPED_TRACE(layers);
      Network network(ParseLayers(layers, 13, true), dtype);
      network.Initialize(Initialization::kGlorotUniform, 3);
      ExpectAsAlone(network, WeightStorage::kExact, RowsWithZeros(20, 13, dtype));
    }
    for (const Synapse synapse : {Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}) {
      Network network({{13, 70, synapse, "gaussian(radius=3)", false}, {70, 2, Synapse::kDot, "softmax", true}}, dtype);
      network.Initialize(Initialization::kGlorotUniform, 3);
      ExpectAsAlone(network, WeightStorage::kExact, RowsWithZeros(20, 13, dtype));
    }
    Network members({{9, 80, Synapse::kDot, "mish", true}, {80, 4, Synapse::kDot, "identity", true}}, dtype, 3);
    members.Initialize(Initialization::kGlorotUniform, 3);
    ExpectAsAlone(members, WeightStorage::kExact, RowsWithZeros(20, 9, dtype));
  }
}

// A zero that is left out adds nothing to an infinite weight, and one that is read makes it a NaN. What other rows need
// must not change that.
TEST(RowsTogether, HaveThemWithInfiniteWeights) {
  for (const float weight : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    Network network({{100, 80, Synapse::kDot, "identity", true}}, DType::kF32);
    network.Initialize(Initialization::kGlorotUniform, 3);
    network.Weights(0).Row<float>(5)[7] = weight;
    const Matrix x = RowsWithZeros(30, 100, DType::kF32);
    const Predictor predictor(network);
    PredictorScratch scratch = predictor.MakeScratch();
    float y[80];
    predictor.Predict(x.Row<float>(29), y, scratch);
    ASSERT_EQ(x.Row<float>(29)[7], 0);
    ASSERT_TRUE(std::isfinite(y[5]));
    ExpectAsAlone(network, WeightStorage::kExact, x);
  }
}

// Raw rows of numbers through a model, through C too.
void ExpectModelAsAlone(const Model& model, const std::vector<double>& rows, int64_t count) {
  const RowPredictor predictor(model);
  PredictorScratch scratch(kMostRowsTogether * predictor.scratch_bytes());
  const auto outputs = static_cast<size_t>(predictor.outputs());
  std::vector<double> alone(static_cast<size_t>(count) * outputs), together(alone), through_c(alone);
  for (int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(predictor.Predict(rows.data() + i * predictor.columns(), alone.data() + static_cast<size_t>(i) * outputs,
                                scratch),
              -1);
  }
  for (const int64_t at_once : {int64_t{1}, int64_t{6}, int64_t{13}, kMostRowsTogether}) {
    const auto none = predictor.PredictRowsAt(rows.data(), count, together.data(), {scratch.data(), at_once});
    ASSERT_EQ(none.row, -1);
    ASSERT_EQ(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(double)), 0) << at_once;
  }
  const TemporaryFolder folder;
  SaveModel(folder.Path("model"), model);
  lamina_model* const loaded = lamina_load(folder.Path("model").c_str());
  ASSERT_NE(loaded, nullptr) << lamina_error();
  ASSERT_EQ(lamina_predict(loaded, rows.data(), count, through_c.data()), 0) << lamina_error();
  lamina_free(loaded);
  EXPECT_EQ(std::memcmp(through_c.data(), alone.data(), alone.size() * sizeof(double)), 0);
}

TEST(RowsTogether, HaveThemInModels) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const Task task : {Task::kClassification, Task::kRegression}) {
      const Table table = RandomTable(150, 4, task == Task::kClassification ? 3 : 0, 5);
      std::vector<double> rows;
      for (int64_t i = 0; i < table.rows; ++i) {
        for (size_t k = 0; k < 4; ++k) {
          rows.push_back(table.columns[k].Number(i));
        }
      }
      Model model = SmallModel(table, dtype, "tanh", task);
      ExpectModelAsAlone(model, rows, table.rows);
      ExpectModelAsAlone(WithOthers(model), rows, table.rows);
      ExpectModelAsAlone(WithGates(model), rows, table.rows);
      const LayerSpec last = model.network.layers().back();
      model.network = Network(
          {{4, 1100, Synapse::kDot, "tanh", true}, {1100, last.outputs, Synapse::kDot, last.activation, true}}, dtype);
      model.network.Initialize(Initialization::kGlorotUniform, 7);
      ExpectModelAsAlone(model, rows, table.rows);  // needs more room than the stack of lamina_predict has
    }
  }
}

TEST(RowsTogether, AreFewWhereOneNeedsMuchRoom) {
  Model model;
  model.network = Network({{200'000, 2, Synapse::kDot, "identity", true}}, DType::kF32);
  const RowPredictor predictor(model);
  EXPECT_GE(predictor.together(), 1);
  EXPECT_LE(predictor.together() * predictor.scratch_bytes(), int64_t{4} << 20);
  model.network =
      Network({{784, 1024, Synapse::kDot, "tanh", true}, {1024, 10, Synapse::kDot, "softmax", true}}, DType::kF32);
  EXPECT_EQ(RowPredictor(model).together(), kMostRowsTogether);
}

TEST(RowsTogether, StopAtARowThatCannotBeAnswered) {
  const Table table = RandomTable(31, 4, 2, 5);
  Model model = SmallModel(table, DType::kF32, "identity");
  const auto ask = [&](std::vector<double> rows, std::vector<double>& out) {
    const RowPredictor predictor(model);
    const int64_t count = std::ssize(rows) / 4;
    PredictorScratch scratch(count * predictor.scratch_bytes());
    out.assign(static_cast<size_t>(count * predictor.outputs()), 7);
    return predictor.PredictRowsAt(rows.data(), count, out.data(), {scratch.data(), count});
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> out;
  RowPredictor::NoAnswer none = ask({0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, nan, 0.1, nan, 0, 0}, out);
  EXPECT_EQ(none.row, 1);
  EXPECT_EQ(none.why, 3);
  EXPECT_NE(out.front(), 7) << "the row before it is answered";
  EXPECT_EQ(out[out.size() / 3], 7) << "its own is left alone";
  none = ask({nan, 0, 0, 0, 1, 1, 1, 1}, out);
  EXPECT_EQ(none.row, 0);
  EXPECT_EQ(none.why, 0);
  model.network.Weights(0).Row<float>(0)[0] = model.network.Weights(0).Row<float>(1)[0] = 3e38F;
  model.network.Weights(1).Row<float>(0)[0] = 3e38F;  // infinite minus infinite
  model.network.Weights(1).Row<float>(0)[1] = -3e38F;
  none = ask({1, 0, 0, 0, 50, 0, 0, 0, nan, 0, 0, 0}, out);
  EXPECT_EQ(none.why, RowPredictor::kNotFinite) << "before the row whose number is missing";
}

}  // namespace
}  // namespace lamina
