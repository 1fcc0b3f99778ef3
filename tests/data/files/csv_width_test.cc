// Tables with more columns than the reader takes, and with as many.
#include <gtest/gtest.h>

#include <string>

#include "lamina/base/error.h"
#include "lamina/data/files/csv.h"
#include "lamina/data/files/csv_dialect.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

std::string RowOf(int64_t columns) {
  std::string row = "1";
  for (int64_t j = 1; j < columns; ++j) {
    row += ",2";
  }
  return row + "\n";
}

TEST(CsvWidthSlow, TheMostColumns) {
  const std::string row = RowOf(kMostCsvColumns);
  EXPECT_EQ(std::ssize(ReadCsv(row + row, "t.csv", {}).columns), kMostCsvColumns);
}

TEST(CsvWidth, OneMore) {
  const std::string row = RowOf(kMostCsvColumns + 1);
  EXPECT_TRUE(Mentions(CaughtError([&] { ReadCsv(row + row, "t.csv", {}); }).what(), "t.csv:1: 1,000,001 columns"));
}

}  // namespace
}  // namespace lamina
