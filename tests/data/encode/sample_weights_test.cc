// Tests of the weights of classes and rows.
#include "lamina/data/encode/sample_weights.h"

#include <cmath>

#include "lamina/data/encode/bound_table.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

const char* const kText = "x,w,y\n1,1,rare\n2,2,often\n3,3,often\n4,0,often\n";

struct Fitted {
  Table table = Csv(kText);
  Preprocessor preprocessor = Preprocessor::Fit(table, AllRows(table), {.drop_columns = {"w"}});
  Dataset dataset = BoundTable(preprocessor, table).Encode(AllRows(table), DType::kF32);
  std::vector<double> Weights(const WeightOptions& options) const {
    return SampleWeights(table, dataset, preprocessor.targets(), options);
  }
};

TEST(SampleWeightsTest, AreNormalisedToMeanOne) {
  const Fitted fitted;
  EXPECT_EQ(fitted.Weights({}), (std::vector<double>{1, 1, 1, 1}));
  const auto balanced = fitted.Weights({.balanced_classes = true});
  EXPECT_DOUBLE_EQ(balanced[0], 2);
  EXPECT_DOUBLE_EQ(balanced[3], 2 / 3.0);
  EXPECT_EQ(fitted.Weights({.class_weights = {{"rare", 5}}}), (std::vector<double>{2.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(fitted.Weights({.weight_column = "w"}), (std::vector<double>{4 / 6.0, 8 / 6.0, 2, 0}));
  const auto both = fitted.Weights({.class_weights = {{"often", 2}}, .weight_column = "1"});
  EXPECT_DOUBLE_EQ(both[2] / both[0], 6);
}

TEST(SampleWeightsTest, RefusesBadWeights) {
  const Fitted fitted;
  const auto expect = [&](const WeightOptions& options, ErrorCode code, std::initializer_list<std::string_view> parts) {
    ExpectError([&] { fitted.Weights(options); }, code, parts);
  };
  expect({.class_weights = {{"rar", 1}}}, ErrorCode::kNotFound, {"rar", "Did you mean 'rare'"});
  expect({.class_weights = {{"rare", -1}}}, ErrorCode::kInvalidArgument, {"rare: -1"});
  expect({.class_weights = {{"rare", std::nan("")}}}, ErrorCode::kInvalidArgument, {"finite"});
  expect({.class_weights = {{"rare", 0}, {"often", 0}}}, ErrorCode::kBadData, {"all weights are 0"});
  expect({.class_weights = {{"rare", 1e-320}, {"often", 1e-320}}}, ErrorCode::kBadData, {"too small"});
  expect({.class_weights = {{"rare", 1e308}, {"often", 1e308}}}, ErrorCode::kBadData, {"too large"});
  expect({.weight_column = "v"}, ErrorCode::kNotFound, {"v"});
  expect({.weight_column = "y"}, ErrorCode::kBadData, {"column 'y'", "text"});
}

TEST(SampleWeightsTest, RefusesBadColumnsAndRegression) {
  const Table table = Csv("x,w,y\n1,1,0.5\n2,,1.5\n3,-3,2.5\n");
  const Preprocessor preprocessor = Preprocessor::Fit(table, AllRows(table), {.drop_columns = {"w"}});
  const Dataset dataset = BoundTable(preprocessor, table).Encode(AllRows(table), DType::kF32);
  ExpectError([&] { SampleWeights(table, dataset, preprocessor.targets(), {.weight_column = "w"}); },
              ErrorCode::kBadData, {"t.csv:3", "missing weight"});
  ExpectError([&] { SampleWeights(table, dataset, preprocessor.targets(), {.balanced_classes = true}); },
              ErrorCode::kInvalidArgument, {"classification"});
  const int64_t last[] = {2};
  const Dataset one = BoundTable(preprocessor, table).Encode(last, DType::kF32);
  ExpectError([&] { SampleWeights(table, one, preprocessor.targets(), {.weight_column = "w"}); }, ErrorCode::kBadData,
              {"t.csv:4", "column 'w'", "'-3'"});
}

}  // namespace
}  // namespace lamina
