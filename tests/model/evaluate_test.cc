// Using a model on rows: predictions, classes and metrics against a forward pass written here.
#include "lamina/model/evaluate.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "gtest/gtest.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

// One hidden layer of tanh, in double.
std::vector<double> LogitsOf(const Network& network, const double* x) {
  std::vector<double> a(x, x + network.inputs());
  for (size_t l = 0; l < 2; ++l) {
    std::vector<double> z;
    for (int64_t j = 0; j < network.layers()[l].outputs; ++j) {
      const double* w = network.Weights(l).Row<double>(j);
      z.push_back(std::inner_product(a.begin(), a.end(), w, static_cast<const double*>(network.Bias(l))[j]));
      z.back() = l == 0 ? std::tanh(z.back()) : z.back();
    }
    a = z;
  }
  return a;
}

TEST(Evaluate, Classification) {
  const Table table = RandomTable(700, 3, 3, 1);  // more than one batch
  const Model model = SmallModel(table, DType::kF64);
  Dataset data = BoundTable(model.preprocessor, table).Encode(RowsOf(table), DType::kF64);
  double loss = 0;
  int64_t correct = 0;
  std::vector<int32_t> classes;
  for (int64_t i = 0; i < data.size(); ++i) {
    const std::vector<double> z = LogitsOf(model.network, data.features.Row<double>(i));
    const double log_sum = std::log(std::exp(z[0]) + std::exp(z[1]) + std::exp(z[2]));
    const auto label = static_cast<size_t>(data.labels[static_cast<size_t>(i)]);
    loss += (log_sum - z[label]) / static_cast<double>(data.size());
    classes.push_back(static_cast<int32_t>(std::max_element(z.begin(), z.end()) - z.begin()));
    correct += classes.back() == data.labels[static_cast<size_t>(i)] ? 1 : 0;
  }
  for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
    EXPECT_EQ(ClassesOf(model, PredictRows(model, *backend, data.features)), classes);
    const Evaluation evaluation = Evaluate(model, *backend, data);
    EXPECT_NEAR(evaluation.loss, loss, 1e-12);
    EXPECT_EQ(evaluation.samples, 700);
    EXPECT_DOUBLE_EQ(evaluation.classification->accuracy, static_cast<double>(correct) / 700);
    EXPECT_EQ(ToJson(evaluation)["accuracy"], evaluation.classification->accuracy);
  }
  data.labels[5] = -1;
  const Evaluation unknown = Evaluate(model, *MakeBackend("serial"), data);
  EXPECT_TRUE(std::isnan(unknown.loss));
  EXPECT_EQ(unknown.classification->unknown_labels, 1);
  EXPECT_TRUE(ToJson(unknown)["loss"].is_null());
}

TEST(Evaluate, RegressionIsInUnitsOfTheTarget) {
  Table table = NumberTable({"x", "y"}, {{0, 1, 2, 3}, {1000, 3000, 2000, 6000}});
  const Model model = SmallModel(table, DType::kF64, "tanh", Task::kRegression);
  const Dataset data = BoundTable(model.preprocessor, table).Encode(RowsOf(table), DType::kF64);
  const double mean = 3000;
  const double deviation = std::sqrt((4e6 + 0 + 1e6 + 9e6) / 4);
  const Matrix outputs = PredictRows(model, *MakeBackend("serial"), data.features);
  double squares = 0;
  const double truth[] = {1000, 3000, 2000, 6000};
  for (int64_t i = 0; i < 4; ++i) {
    const double expected = LogitsOf(model.network, data.features.Row<double>(i))[0] * deviation + mean;
    EXPECT_NEAR(outputs.Row<double>(i)[0], expected, 1e-9);
    squares += std::pow(expected - truth[i], 2);
  }
  const Evaluation evaluation = Evaluate(model, *MakeBackend("serial"), data);
  ASSERT_EQ(evaluation.regression.size(), 1U);
  EXPECT_NEAR(evaluation.regression[0].mse, squares / 4, 1e-6);
  EXPECT_NEAR(evaluation.regression[0].r2, 1 - squares / 14e6, 1e-12);
  EXPECT_NEAR(evaluation.loss, squares / 4 / (deviation * deviation), 1e-9) << "the loss is in the network's units";
  EXPECT_EQ(ToJson(evaluation)["targets"][0]["name"], "y");
}

}  // namespace
}  // namespace lamina
