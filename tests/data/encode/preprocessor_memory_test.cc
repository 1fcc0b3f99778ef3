// Tests of what models remember: logarithms, class maps, baselines and derived columns.
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/data/encode/preprocessor.h"
#include "tests/data/encode/preprocessor_test_util.h"

namespace lamina {
namespace {

using Names = std::vector<std::string>;

using Values = std::vector<std::vector<double>>;

Preprocessor ThroughJson(const Preprocessor& fitted) {
  return Preprocessor::FromJson(nlohmann::json::parse(fitted.ToJson().dump()));
}

TEST(PreprocessorTest, LogarithmsAreStandardised) {
  const Table table = Csv("x,y\n0,0\n-1,2\n1,-2\n1000000,1000\n");
  PreprocessOptions options;
  options.scaling = Scaling::kLog;
  options.target_scaling = Scaling::kLog;
  options.task = Task::kRegression;
  const Preprocessor fitted = ThroughJson(FitAll(table, options));
  const Dataset data = EncodeAll(fitted, table);
  const std::vector<double> logs{0, -std::log(2.0), std::log(2.0), std::log(1000001.0)};
  double mean = 0;
  for (const double x : logs) {
    mean += x / 4;
  }
  double deviation = 0;
  for (const double x : logs) {
    deviation += (x - mean) * (x - mean) / 4;
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(Rows(data.features)[i][0], (logs[i] - mean) / std::sqrt(deviation), 1e-12);
  }
  Matrix outputs(4, 1, DType::kF64);
  for (int64_t i = 0; i < 4; ++i) {
    outputs.Row<double>(i)[0] = data.targets.Row<double>(i)[0];
  }
  fitted.targets().Unscale(outputs.view());
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(outputs.Row<double>(i)[0], table.columns[1].Number(i), 1e-9);
  }
}

TEST(PreprocessorTest, TypicalValuesAreInUnitsOfTheColumn) {
  const Table table = Csv("x,y\n0,0.5\n9,2\n99,2\n999,1000\n");
  PreprocessOptions options;
  options.task = Task::kRegression;
  for (const Scaling scaling : {Scaling::kAuto, Scaling::kStandardize, Scaling::kMinMax}) {
    options.scaling = scaling;
    EXPECT_DOUBLE_EQ(FitAll(table, options).inputs().columns()[0].Typical(), 1107.0 / 4);
  }
  options.scaling = Scaling::kLog;  // the mean of ln 1, ln 10, ln 100, ln 1000
  EXPECT_NEAR(FitAll(table, options).inputs().columns()[0].Typical(), std::pow(10, 1.5) - 1, 1e-9);
}

TEST(PreprocessorTest, ClassMapsMakeClassesOfValues) {
  const Table table = Csv("x,y\n1,w\n2,a\n3,b\n4,w\n");
  PreprocessOptions options;
  options.class_map = ClassMap::Parse({"w=calm", "a=storm", "b=storm", "c=storm"});
  options.unseen = UnseenPolicy::kZero;
  const Preprocessor fitted = ThroughJson(FitAll(table, options, {.single_output = true}));
  EXPECT_EQ(fitted.targets().class_names(), (Names{"calm", "storm"}));
  EncodeReport report;
  const Table other = Csv("x,y\n1,c\n2,w\n3,b\n4,q\n5,c\n");
  const Dataset data = EncodeAll(fitted, other, &report);
  EXPECT_EQ(data.labels, (std::vector<int32_t>{1, 0, 1, -1, 1}));
  EXPECT_EQ(Rows(data.targets), (Values{{1}, {0}, {1}, {0}, {1}}));
  ASSERT_EQ(report.new_labels.size(), 2U);
  EXPECT_EQ(report.new_labels[0].name, "c");
  EXPECT_EQ(report.new_labels[0].class_name, "storm");
  EXPECT_EQ(report.new_labels[0].rows, 2);
  EXPECT_EQ(report.new_labels[1].name, "q");
  EXPECT_EQ(report.new_labels[1].class_name, "");
  EXPECT_EQ(report.unseen_values, 0);
}

TEST(PreprocessorTest, BaselinesAreColumnsOrNumbers) {
  const Table table = Csv("x,guess,y\n1,9,10.5\n2,8,11.5\n3,,12\n");
  const std::vector<int64_t> rows{1, 0};
  PreprocessOptions options;
  options.task = Task::kRegression;
  options.drop_columns = {"guess"};
  options.baseline = "guess";
  const Preprocessor by_column = ThroughJson(Preprocessor::Fit(table, rows, options));
  EXPECT_EQ(by_column.inputs().count(), 1);
  EXPECT_EQ(BoundTable(by_column, table).Encode(rows, DType::kF64).baseline, (std::vector<double>{8, 9}));
  ExpectError([&] { EncodeAll(by_column, table); }, ErrorCode::kBadData, {"t.csv:4:", "'guess'", "baseline"});
  ExpectError([&] { EncodeAll(by_column, Csv("x,y\n1,2.5\n2,3\n")); }, ErrorCode::kNotFound, {"baseline", "'guess'"});
  options.baseline = "-1.5";
  const Preprocessor by_number = ThroughJson(Preprocessor::Fit(table, rows, options));
  EXPECT_EQ(BoundTable(by_number, table).Encode(rows, DType::kF64).baseline, (std::vector<double>{-1.5, -1.5}));
  options.baseline = "gess";
  ExpectError([&] { Preprocessor::Fit(table, rows, options); }, ErrorCode::kNotFound, {"'guess'"});
  options.baseline = "guess";
  options.task = Task::kClassification;
  options.targets = {"x"};
  ExpectError([&] { Preprocessor::Fit(table, rows, options); }, ErrorCode::kInvalidArgument, {"--baseline"});
}

TEST(PreprocessorTest, ModelsRememberDerivedColumns) {
  Table table = Csv("x,p\n1,10\n2,20\n3,40\n");
  PreprocessOptions options;
  options.derive = {{"before=previous:p", "answer=next:p"}, "", ""};
  options.targets = {"answer"};
  options.task = Task::kRegression;
  options.missing = MissingPolicy::kDropRow;
  options.scaling = Scaling::kNone;
  DeriveColumns(table, options.derive);
  const Preprocessor fitted = ThroughJson(FitAll(table, options));
  Table raw = Csv("x,p\n1,10\n2,20\n3,40\n");
  fitted.Prepare(raw);
  const Dataset data = EncodeAll(fitted, raw);
  EXPECT_EQ(Rows(data.features), (Values{{2, 20, 10}}));
  EXPECT_EQ(Rows(data.targets), (Values{{40}}));
}

}  // namespace
}  // namespace lamina
