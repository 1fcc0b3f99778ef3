// The readers and the Preprocessor on real public data sets (skipped without LAMINA_DATA).
#include <algorithm>
#include <cmath>
#include <map>

#include "lamina/data/encode/bound_table.h"
#include "lamina/data/files/reader.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

std::vector<int64_t> CodeCounts(const Column& column) {
  std::vector<int64_t> counts(column.categories.size());
  for (const int32_t code : column.codes) {
    ++counts.at(static_cast<size_t>(code));
  }
  return counts;
}

TEST(RealDataTest, Mnist) {
  LAMINA_DATA_OR_SKIP(folder, "mnist");
  const ReadResult mnist = ReadData(folder);
  ASSERT_TRUE(mnist.test.has_value());
  EXPECT_EQ(mnist.train.rows, 60000);
  EXPECT_EQ(mnist.test->rows, 10000);
  ASSERT_EQ(mnist.train.columns.size(), 785U);
  EXPECT_EQ(CodeCounts(mnist.train.columns.back()),
            (std::vector<int64_t>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
  EXPECT_EQ(CodeCounts(mnist.test->columns.back()),
            (std::vector<int64_t>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  const auto rows = AllRows(mnist.train);
  const Preprocessor fitted = Preprocessor::Fit(mnist.train, rows, {.targets = {*mnist.target}});
  EXPECT_TRUE(fitted.inputs().is_image());
  EXPECT_EQ(fitted.inputs().count(), 784);
  EXPECT_EQ(fitted.targets().class_names().size(), 10U);
  const Dataset data = BoundTable(fitted, mnist.train).Encode(rows, DType::kF32);
  double sum = 0;
  for (int64_t i = 0; i < data.size(); ++i) {
    const float* row = data.features.Row<float>(i);
    for (int64_t j = 0; j < 784; ++j) {
      sum += row[j];
    }
  }
  EXPECT_NEAR(sum / (60000.0 * 784), 0.1306604762738429, 1e-7);  // the known mean of MNIST
}

TEST(RealDataTest, KddCup) {
  LAMINA_DATA_OR_SKIP(path, "kddcup99/kddcup.data_10_percent.gz");
  const Table table = ReadTable(path);
  EXPECT_EQ(table.rows, 494021);
  ASSERT_EQ(table.columns.size(), 42U);
  EXPECT_EQ(table.columns[41].categories.size(), 23U);
  EXPECT_EQ(table.columns[1].categories.size(), 3U);
  EXPECT_EQ(table.columns[2].categories.size(), 66U);
  EXPECT_EQ(table.columns[3].categories.size(), 11U);
  EXPECT_EQ(table.lines.back(), 494021);
  std::map<std::string, int64_t> counts;
  const auto by_code = CodeCounts(table.columns[41]);
  for (size_t i = 0; i < by_code.size(); ++i) {
    counts[table.columns[41].categories[i]] = by_code[i];
  }
  EXPECT_EQ(counts["normal."], 97278);
  EXPECT_EQ(counts["smurf."], 280790);
  EXPECT_EQ(counts["spy."], 2);
  const auto rows = AllRows(table);
  const Preprocessor fitted = Preprocessor::Fit(table, rows, {.unseen = UnseenPolicy::kZero});
  EXPECT_EQ(fitted.inputs().count(), 38 + 3 + 66 + 11);
  const Dataset data = BoundTable(fitted, table).Encode(rows, DType::kF32);
  for (int64_t j = 0; j < fitted.inputs().count(); ++j) {
    EXPECT_TRUE(std::isfinite(data.features.Row<float>(494020)[j]));
  }
  const auto names = fitted.inputs().Names();
  const auto constant = std::find(names.begin(), names.end(), "c19") - names.begin();  // num_outbound_cmds
  EXPECT_EQ(data.features.Row<float>(123456)[constant], 0);
}

TEST(RealDataTest, KddCupTestSetHasUnseenClasses) {
  LAMINA_DATA_OR_SKIP(folder, "kddcup99");
  const Table train = ReadTable(folder + "/kddcup.data_10_percent.gz");
  const Table test = ReadTable(folder + "/corrected.gz");
  EXPECT_EQ(test.rows, 311029);
  const Preprocessor fitted = Preprocessor::Fit(train, AllRows(train), {.unseen = UnseenPolicy::kZero});
  EncodeReport report;
  const Dataset data = BoundTable(fitted, test).Encode(AllRows(test), DType::kF32, &report);
  EXPECT_EQ(report.unseen_columns, std::vector<std::string>{"c2"});
  EXPECT_EQ(report.unseen_values, 2);
  EXPECT_EQ(report.new_labels.size(), 17U);
}

TEST(RealDataTest, Stocks) {
  LAMINA_DATA_OR_SKIP(folder, "stocks");
  const Table kaggle = ReadTable(folder + "/all_stocks_5yr.csv.gz");
  EXPECT_EQ(kaggle.rows, 619040);
  EXPECT_EQ(kaggle.ColumnNames(), (std::vector<std::string>{"date", "open", "high", "low", "close", "volume", "Name"}));
  EXPECT_EQ(kaggle.columns[6].categories.size(), 505U);
  EXPECT_EQ(kaggle.columns[0].Number(0), 15744);  // 2013-02-08
  int64_t missing = 0;
  for (const Column& column : kaggle.columns) {
    for (int64_t i = 0; i < kaggle.rows; ++i) {
      missing += column.IsMissing(i) ? 1 : 0;
    }
  }
  EXPECT_EQ(missing, 27);
  const Preprocessor fitted = Preprocessor::Fit(
      kaggle, AllRows(kaggle), {.targets = {"close"}, .drop_columns = {"Name"}, .missing = MissingPolicy::kDropRow});
  EXPECT_EQ(fitted.targets().task(), Task::kRegression);
  EXPECT_EQ(BoundTable(fitted, kaggle).UsableRows(AllRows(kaggle), true).size(), 619040U - 11U);
  const Table google = ReadTable(folder + "/sp500_daily_2010_2017.csv.gz");
  EXPECT_EQ(google.rows, 891243);
  EXPECT_EQ(google.columns[1].categories.size(), 502U);
}

TEST(RealDataTest, SmallTables) {
  LAMINA_DATA_OR_SKIP(folder, "small");
  const Table housing = ReadTable(folder + "/california_housing.csv.gz");
  EXPECT_EQ(housing.rows, 20640);
  EXPECT_EQ(housing.columns.back().name, "median_house_value");
  EXPECT_EQ(housing.columns.back().Number(0), 452600);
  EXPECT_EQ(Preprocessor::Fit(housing, AllRows(housing), {}).targets().task(), Task::kRegression);
  const Table iris = ReadTable(folder + "/iris.csv");
  EXPECT_EQ(iris.rows, 150);
  EXPECT_EQ(CodeCounts(iris.columns[4]), (std::vector<int64_t>{50, 50, 50}));
  const Table wine = ReadTable(folder + "/wine.csv");
  const Preprocessor fitted = Preprocessor::Fit(wine, AllRows(wine), {});
  EXPECT_EQ(fitted.targets().task(), Task::kClassification);
  EXPECT_EQ(fitted.targets().class_names(), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(ReadTable(folder + "/wdbc.csv").columns.size(), 31U);
  EXPECT_EQ(ReadTable(folder + "/optdigits_train.csv").rows, 3823);
}

}  // namespace
}  // namespace lamina
