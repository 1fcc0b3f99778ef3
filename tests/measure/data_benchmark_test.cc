// Tests of timing the way from a file to a matrix.
#include "lamina/measure/data_benchmark.h"

#include <gtest/gtest.h>

#include <string>

#include "lamina/base/file.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

std::string Prices(int rows, bool gaps) {
  std::string text = "date,name,price,target\n";
  for (int i = 0; i < rows; ++i) {
    text += "2018-02-0" + std::to_string(1 + i % 9) + "," + (i % 3 == 0 ? "A" : "B") + ",";
    text += gaps && i % 10 == 7 ? "" : std::to_string(1000 + i * i);
    text += "," + std::to_string(0.5 * i) + "\n";
  }
  return text;
}

TEST(DataBenchmark, CountsAndVerifies) {
  const TemporaryFolder folder;
  const std::string content = Gzip(Prices(500, false));
  WriteFileAtomically(folder.Path("p.csv.gz"), content);
  const DataBenchmarkResult result = BenchmarkData(folder.Path("p.csv.gz"), 3);
  EXPECT_EQ(result.rows, 500);
  EXPECT_EQ(result.dropped_rows, 0);
  EXPECT_EQ(result.columns, 4);
  EXPECT_EQ(result.inputs, 3);
  EXPECT_EQ(result.file_bytes, std::ssize(content));
  EXPECT_EQ(result.rounds, 3);
  EXPECT_TRUE(result.verified) << result.largest_error;
  EXPECT_GT(result.read_seconds, 0);
  EXPECT_LE(result.read_seconds, result.median_seconds);
  EXPECT_LE(result.least_seconds, result.median_seconds);
  EXPECT_LE(result.median_seconds, result.most_seconds);
}

TEST(DataBenchmark, RowsWithGapsAreLeftOut) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.Path("p.csv"), Prices(500, true));
  const DataBenchmarkResult result = BenchmarkData(folder.Path("p.csv"), 1);
  EXPECT_EQ(result.rows, 500);
  EXPECT_EQ(result.dropped_rows, 50);
  EXPECT_TRUE(result.verified) << result.largest_error;
}

TEST(DataBenchmark, MissingFilesAreNamed) {
  ExpectError([] { BenchmarkData("no-such.csv", 1); }, ErrorCode::kNotFound, {"no-such.csv"});
}

}  // namespace
}  // namespace lamina
