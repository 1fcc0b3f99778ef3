// Summaries of columns, by hand.
#include "lamina/data/encode/column_statistics.h"

#include "gtest/gtest.h"
#include "lamina/data/files/csv.h"

namespace lamina {
namespace {

TEST(ColumnSummary, NumbersTextAndGaps) {
  const Table table = ReadCsv("a,b,c\n1,x,\n3,,\n8,y,\n,x,\n4,x,7\n", "t.csv", {});
  const std::vector<ColumnSummary> summaries = SummarizeColumns(table);
  ASSERT_EQ(summaries.size(), 3u);
  EXPECT_EQ(summaries[0].missing, 1);
  EXPECT_EQ(summaries[0].numbers.count, 4);
  EXPECT_EQ(summaries[0].numbers.min, 1);
  EXPECT_EQ(summaries[0].numbers.max, 8);
  EXPECT_EQ(summaries[0].numbers.mean, 4);
  EXPECT_EQ(summaries[1].missing, 1);
  EXPECT_EQ(summaries[1].categories, 2);
  EXPECT_EQ(summaries[1].numbers.count, 0);
  EXPECT_EQ(summaries[2].missing, 4);
  EXPECT_EQ(summaries[2].numbers.max, 7);
}

TEST(ColumnSummary, ATableWithoutRows) {
  Table table;
  table.columns.resize(2);
  table.columns[1].kind = ColumnKind::kText;
  const std::vector<ColumnSummary> summaries = SummarizeColumns(table);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].numbers.count, 0);
  EXPECT_EQ(summaries[1].missing, 0);
}

}  // namespace
}  // namespace lamina
