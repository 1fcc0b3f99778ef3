// Temperature scaling against a search over losses written here, on outputs that are too sure by a known factor.
#include "lamina/model/calibrate.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/scored_rows.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

// Labels drawn from softmax(z / true_temperature); with one output from its sigmoid.
struct Rows {
  Matrix logits;
  std::vector<int32_t> labels;
};
Rows DrawnRows(int64_t rows, int64_t outputs, double true_temperature) {
  Random random(11);
  Rows drawn{Matrix(rows, outputs, DType::kF64), {}};
  for (int64_t i = 0; i < rows; ++i) {
    double* z = drawn.logits.Row<double>(i);
    std::vector<double> shares(static_cast<size_t>(std::max<int64_t>(outputs, 2)), 1.0);
    double total = outputs == 1 ? 1 : 0;
    for (int64_t c = 0; c < outputs; ++c) {
      z[c] = 3 * random.Normal();
      shares[static_cast<size_t>(outputs == 1 ? 1 : c)] = std::exp(z[c] / true_temperature);
      total += std::exp(z[c] / true_temperature);
    }
    double at = random.Uniform() * total;
    int32_t label = 0;
    while (label + 1 < std::ssize(shares) && at >= shares[static_cast<size_t>(label)]) {
      at -= shares[static_cast<size_t>(label++)];
    }
    drawn.labels.push_back(label);
  }
  return drawn;
}

double LossAt(const Rows& rows, double temperature) {
  double loss = 0;
  for (int64_t i = 0; i < rows.logits.rows(); ++i) {
    const double* z = rows.logits.Row<double>(i);
    const int32_t label = rows.labels[static_cast<size_t>(i)];
    double total = rows.logits.cols() == 1 ? 1 : 0;
    for (int64_t c = 0; c < rows.logits.cols(); ++c) {
      total += std::exp(z[c] / temperature);
    }
    loss += std::log(total) - (rows.logits.cols() == 1 ? label * z[0] : z[label]) / temperature;
  }
  return loss;
}

TEST(Calibrate, FindsTheTemperatureOfTheRows) {
  for (const int64_t outputs : {1, 3}) {
    for (const double truth : {0.5, 2.0}) {
      const Rows rows = DrawnRows(20000, outputs, truth);
      const double found = FitTemperature(rows.logits, rows.labels);
      EXPECT_NEAR(found, truth, 0.05 * truth) << outputs;
      EXPECT_LE(LossAt(rows, found), LossAt(rows, found * 1.01));
      EXPECT_LE(LossAt(rows, found), LossAt(rows, found / 1.01));
    }
  }
  Rows right = DrawnRows(50, 3, 1);  // always sure, always right: no least loss, a bound
  for (int64_t i = 0; i < 50; ++i) {
    const double* z = right.logits.Row<double>(i);
    right.labels[static_cast<size_t>(i)] = static_cast<int32_t>(std::max_element(z, z + 3) - z);
  }
  EXPECT_NEAR(FitTemperature(right.logits, right.labels), 0.05, 1e-9);
}

TEST(Calibrate, IsFoldedIntoTheLastLayer) {
  const Table table = RandomTable(400, 3, 3, 1);
  Model model = SmallModel(table, DType::kF64);
  const Dataset data = BoundTable(model.preprocessor, table).Encode(RowsOf(table), DType::kF64);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const Matrix before = PredictRows(model, *backend, data.features);
  const Calibration calibration = Calibrate(model, *backend, data);
  EXPECT_GT(calibration.temperature, 1.2) << "the labels are random: the network was too sure";
  EXPECT_LT(calibration.log_loss, calibration.log_loss_before);
  EXPECT_EQ(calibration.rows, 400);
  const Matrix after = PredictRows(model, *backend, data.features);
  for (int64_t i = 0; i < 400; ++i) {
    double total = 0;
    for (int64_t c = 0; c < 3; ++c) {
      total += std::pow(before.Row<double>(i)[c], 1 / calibration.temperature);
    }
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(after.Row<double>(i)[c], std::pow(before.Row<double>(i)[c], 1 / calibration.temperature) / total,
                  1e-12);
    }
  }
}

// Members answer the mean of their probabilities: no logits to be fitted, every last layer is divided.
TEST(Calibrate, MembersToo) {
  const Table table = RandomTable(300, 3, 3, 2);
  Model model = SmallModel(table, DType::kF64);
  model.network = Network(model.network.layers(), DType::kF64, 4);
  model.network.Initialize(Initialization::kGlorotUniform, 7);
  ApplyTemperature(model, 0.2);  // much too sure
  const Model before = model;
  const Dataset data = BoundTable(model.preprocessor, table).Encode(RowsOf(table), DType::kF64);
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  const auto loss = [&](double temperature) {
    Model tried = before;
    ApplyTemperature(tried, temperature);
    const Matrix outputs = PredictRows(tried, *backend, data.features);
    double sum = 0;
    for (int64_t i = 0; i < outputs.rows(); ++i) {
      sum -= std::log(outputs.Row<double>(i)[data.labels[static_cast<size_t>(i)]]);
    }
    return sum / static_cast<double>(outputs.rows());
  };
  const Calibration found = Calibrate(model, *backend, data);
  EXPECT_GT(found.temperature, 2);
  EXPECT_LE(loss(found.temperature), loss(found.temperature * 1.05) + 1e-9);
  EXPECT_LE(loss(found.temperature), loss(found.temperature / 1.05) + 1e-9);
  EXPECT_NEAR(found.log_loss, loss(found.temperature), 1e-9);
}

TEST(Calibrate, RefusesWhatIsNoProbability) {
  Table table = NumberTable({"x", "y"}, {{0, 1, 2, 3}, {1000.5, 3000, 2000, 6000}});
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  Model numbers;
  numbers.preprocessor = Preprocessor::Fit(table, RowsOf(table), {.targets = {"y"}, .task = Task::kRegression});
  numbers.network = Network({{1, 1, Synapse::kDot, "identity", true}}, DType::kF64);
  EXPECT_TRUE(Mentions(CaughtError([&] { Calibrate(numbers, *backend, {}); }).what(), "number to predict"));
  const Table classes = RandomTable(30, 3, 3, 1);
  Model linear = SmallModel(classes, DType::kF64);
  std::vector<LayerSpec> layers = linear.network.layers();
  layers.back().activation = "identity";
  linear.network = Network(layers, DType::kF64);
  EXPECT_TRUE(Mentions(CanCalibrate(linear).reason, "no probabilities"));
}

}  // namespace
}  // namespace lamina
