// Explanations of linear models, whose shares are known: weight times distance from the background.
#include "lamina/model/explain.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/model/evaluate.h"
#include "tests/caught_error.h"
#include "tests/data/data_test_util.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

// y = 2 a - 3 b + 5 [kind = "x"], exactly: a network without scaling. Column "none" does nothing.
class LinearModel : public testing::Test {
 protected:
  void SetUp() override {
    Random random(3);
    std::string text = "a,kind,b,none,y\n";
    const char* kinds[] = {"x", "y", "z"};
    for (int i = 0; i < 300; ++i) {
      const double a = random.Uniform(-1, 1);
      const double b = random.Uniform(-1, 1);
      const char* kind = kinds[random.Below(3)];
      text += fmt::format("{},{},{},{},{}\n", a, kind, b, random.Uniform(), 2 * a - 3 * b + (*kind == 'x' ? 5 : 0));
    }
    table_ = ReadCsv(text, "", {});
    model_.preprocessor = Preprocessor::Fit(
        table_, RowsOf(table_),
        {.targets = {"y"}, .scaling = Scaling::kNone, .target_scaling = Scaling::kNone, .task = Task::kRegression});
    model_.network = Network({{6, 1, Synapse::kDot, "identity", true}}, DType::kF64);
    const std::vector<std::string> names = model_.preprocessor.inputs().Names();
    const std::map<std::string, double> weights{{"a", 2}, {"b", -3}, {"kind=x", 5}};
    for (size_t j = 0; j < names.size(); ++j) {
      const auto found = weights.find(names[j]);
      model_.network.Weights(0).Row<double>(0)[j] = found == weights.end() ? 0 : found->second;
    }
    bound_ = std::make_unique<BoundTable>(model_.preprocessor, table_);
    data_ = bound_->Encode(RowsOf(table_), DType::kF64);
  }
  ExplainedRows Rows() const { return {model_, *backend_, *bound_, data_}; }

  Table table_;
  Model model_;
  std::unique_ptr<Backend> backend_ = MakeBackend("serial");
  std::unique_ptr<BoundTable> bound_;
  Dataset data_;
};

TEST_F(LinearModel, ImportanceIsOfTheTablesColumns) {
  // The model is perfect; shuffling column j leaves errors of w_j (x - x'), whose mean square is 2 w_j^2 var(x).
  const Importance found = PermutationImportance(Rows(), Metric::Parse("mse"), 5, 1);
  EXPECT_NEAR(found.value, 0, 1e-20);
  ASSERT_EQ(found.columns.size(), 4U);
  std::map<std::string, double> means;
  for (const ColumnImportance& column : found.columns) {
    means[column.column] = column.mean;
  }
  EXPECT_EQ(found.columns[0].column, "kind");
  EXPECT_NEAR(means["kind"], 2 * 25 * (1.0 / 3) * (2.0 / 3), 1.5);
  EXPECT_NEAR(means["a"], 2 * 4 / 3.0, 0.3);
  EXPECT_NEAR(means["b"], 2 * 9 / 3.0, 0.6);
  EXPECT_EQ(means["none"], 0);
  EXPECT_EQ(ToJson(found).dump(), ToJson(PermutationImportance(Rows(), Metric::Parse("mse"), 5, 1)).dump());
}

TEST_F(LinearModel, DependenceIsTheLine) {
  const Dependence a = PartialDependence(Rows(), "a");
  ASSERT_EQ(std::ssize(a.points), kDependencePoints);
  const Dependence::Point& low = a.points.front();
  for (const Dependence::Point& point : a.points) {
    EXPECT_NEAR(point.outputs[0] - low.outputs[0], 2 * (point.number - low.number), 1e-9);
  }
  const Dependence kind = PartialDependence(Rows(), "kind");
  ASSERT_EQ(kind.points.size(), 3U);
  std::map<std::string, double> answers;
  for (const Dependence::Point& point : kind.points) {
    answers[point.text] = point.outputs[0];
  }
  EXPECT_NEAR(answers["x"] - answers["y"], 5, 1e-9);
  EXPECT_NEAR(answers["z"] - answers["y"], 0, 1e-9);
  EXPECT_TRUE(Mentions(CaughtError([&] { PartialDependence(Rows(), "kinds"); }).what(), "Did you mean 'kind'?"));
}

TEST_F(LinearModel, ShapleyValuesAddUpAndAreTheTerms) {
  const auto mean = [&](const char* name) {
    double sum = 0;
    for (int64_t i = 0; i < 300; ++i) {
      sum += table_.columns[static_cast<size_t>(table_.FindColumn(name))].Number(i) / 300;
    }
    return sum;
  };
  for (const int64_t row : {0, 17, 299}) {
    const Explanation found = ShapleyValues(Rows(), row, {.samples = 3000, .seed = 2});
    EXPECT_EQ(found.row, row);
    EXPECT_EQ(found.output, "y");
    double sum = found.base;
    std::map<std::string, Explanation::Share> shares;
    for (const Explanation::Share& share : found.shares) {
      sum += share.share;
      shares[share.column] = share;
    }
    EXPECT_NEAR(sum, found.answer, 1e-9);
    EXPECT_NEAR(found.answer, table_.columns[4].Number(row), 1e-9);
    const auto expect = [&](const char* name, double weight) {
      const double term =
          weight * (table_.columns[static_cast<size_t>(table_.FindColumn(name))].Number(row) - mean(name));
      EXPECT_NEAR(shares[name].share, term, 5 * shares[name].error + 1e-12) << name;
      EXPECT_GT(shares[name].error, 0);
    };
    expect("a", 2);
    expect("b", -3);
    EXPECT_EQ(shares["none"].share, 0);
  }
}

TEST(Explain, ClassesAreExplainedByTheirProbability) {
  const Table table = RandomTable(60, 3, 3, 1);
  const Model model = SmallModel(table, DType::kF64);
  const BoundTable bound(model.preprocessor, table);
  const Dataset data = bound.Encode(RowsOf(table), DType::kF64);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const ExplainedRows rows{model, *backend, bound, data};
  const Explanation found = ShapleyValues(rows, 4, {.samples = 20, .seed = 1});
  const Matrix outputs = PredictRows(model, *backend, data.features);
  const double* row = outputs.Row<double>(4);
  EXPECT_EQ(found.answer, *std::max_element(row, row + 3));
  double sum = found.base;
  for (const Explanation::Share& share : found.shares) {
    sum += share.share;
  }
  EXPECT_NEAR(sum, found.answer, 1e-12);
  const Error undefined = CaughtError([&] {
    Dataset one = bound.Encode(std::vector<int64_t>{0}, DType::kF64);
    PermutationImportance({model, *backend, bound, one}, Metric::Parse("auc"), 1, 1);
  });
  EXPECT_TRUE(Mentions(undefined.what(), "same class"));
}

}  // namespace
}  // namespace lamina
