// Predictions as CSV, checked against the outputs and by hand.
#include "lamina/model/predictions.h"

#include <cmath>
#include <numeric>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/data/files/csv.h"

namespace lamina {
namespace {

Matrix RowOf(std::vector<double> values) {
  Matrix matrix(1, static_cast<int64_t>(values.size()), DType::kF64);
  std::copy(values.begin(), values.end(), matrix.Row<double>(0));
  return matrix;
}

Model ModelFor(const std::string& csv, const PreprocessOptions& options, const TargetForm& form = {}) {
  const Table table = ReadCsv(csv, "t.csv", {});
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  Model model;
  model.preprocessor = Preprocessor::Fit(table, rows, options);
  model.preprocessor.set_form(form);
  model.network = Network(
      {{model.preprocessor.inputs().count(), model.preprocessor.targets().count(), Synapse::kDot, Activation(), true}},
      DType::kF64);
  return model;
}

constexpr const char* kFruit = "weight,colour,kind\n1,red,\"apple, big\"\n2,green,pear\n3,red,pear\n4,green,plum\n";

TEST(Predictions, ClassesAndProbabilities) {
  const Model model = ModelFor(kFruit, {});
  EXPECT_EQ(PredictionsCsv(model, RowOf({0.5, 0.25, 0.25}), {false}), "kind\n\"apple, big\"\n");
  EXPECT_EQ(PredictionsCsv(model, RowOf({0.125, 0.25, 0.625}), {true}),
            "kind,\"p_apple, big\",p_pear,p_plum\nplum,0.125,0.25,0.625\n");
}

TEST(Predictions, ASingleOutputIsTheSecondClass) {
  const Model model = ModelFor("x,y\n1,no\n2,yes\n3,no\n4,yes\n", {}, {.single_output = true});
  EXPECT_EQ(ClassOutputs(model, RowOf({0.75}).Row<double>(0)), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(PredictionsCsv(model, RowOf({0.75}), {true}), "y,p_no,p_yes\nyes,0.25,0.75\n");
}

TEST(Predictions, NumbersInUnitsOfTheTarget) {
  const Model model = ModelFor("x,price\n1,10.5\n2,20.25\n3,31.125\n", {.task = Task::kRegression});
  EXPECT_EQ(PredictionsCsv(model, RowOf({1234.5678901}), {true}), "price\n1234.56789\n");
}

TEST(Predictions, InputColumnsTellNamesKindsAndCategories) {
  const Model model = ModelFor(kFruit, {});
  const auto columns = model.preprocessor.inputs().columns();
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].name, "weight");
  EXPECT_EQ(columns[0].kind, ColumnKind::kNumber);
  EXPECT_EQ(columns[0].scaling.offset, 2.5) << "the mean of standardized numbers";
  EXPECT_EQ(columns[1].categories, (std::vector<std::string>{"green", "red"}));
}

TEST(Predictions, RowsWithoutAnAnswerKeepTheirPlace) {
  const Model fruit = ModelFor(kFruit, {});
  Matrix outputs(3, 3, DType::kF64);
  outputs.Row<double>(0)[1] = 1;
  std::fill_n(outputs.Row<double>(1), 3, std::nan(""));
  outputs.Row<double>(2)[2] = 1;
  EXPECT_EQ(PredictionsCsv(fruit, outputs, {false}), "kind\npear\n\"\"\nplum\n");
  EXPECT_EQ(PredictionsCsv(fruit, outputs, {true}),
            "kind,\"p_apple, big\",p_pear,p_plum\npear,0,1,0\n,,,\nplum,0,0,1\n");
  const Model price = ModelFor("x,price\n1,10.5\n2,20.25\n3,31.125\n", {.task = Task::kRegression});
  EXPECT_EQ(PredictionsCsv(price, RowOf({std::nan("")}), {false}), "price\n\"\"\n");
}

}  // namespace
}  // namespace lamina
