// Cells in memory are read as those of a file.
#include "lamina/data/files/cells.h"

#include <cmath>
#include <string>
#include <vector>

#include "tests/caught_error.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

const std::vector<std::string> kCellNames = {"amount", "when", "what, \"it\"", "few"};
const std::vector<std::string_view> kCells = {
    "$1,200",  "2024-03-01", " a \"b\"\nc",
    "1",  //
    "$ 7",     "n/a",        "#no comment",
    "more",  //
    "nothing", "2024-03-02", "",
    "1",  //
};

Table TableOfFile(const ReadOptions& options) {
  std::string text = "amount,when,\"what, \"\"it\"\"\",few\n";
  for (size_t i = 0; i < kCells.size(); ++i) {
    std::string quoted(kCells[i]);
    for (size_t at = 0; (at = quoted.find('"', at)) != std::string::npos; at += 2) {
      quoted.insert(at, 1, '"');
    }
    text += "\"" + quoted + "\"" + (i % kCellNames.size() + 1 == kCellNames.size() ? "\n" : ",");
  }
  return Csv(text, options);
}

void ExpectEqualTables(const Table& table, const Table& expected) {
  ASSERT_EQ(table.rows, expected.rows);
  ASSERT_EQ(table.columns.size(), expected.columns.size());
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    EXPECT_EQ(column.name, expected.columns[j].name);
    ASSERT_EQ(column.kind, expected.columns[j].kind) << column.name;
    EXPECT_EQ(column.is_date, expected.columns[j].is_date) << column.name;
    EXPECT_EQ(column.odd.words, expected.columns[j].odd.words) << column.name;
    for (int64_t row = 0; row < table.rows; ++row) {
      ASSERT_EQ(column.IsMissing(row), expected.columns[j].IsMissing(row)) << column.name << row;
      if (column.kind == ColumnKind::kText) {
        EXPECT_EQ(TextAt(column, row), TextAt(expected.columns[j], row));
      } else if (!column.IsMissing(row)) {
        EXPECT_EQ(column.Number(row), expected.columns[j].Number(row));
      }
    }
  }
}

TEST(Cells, AreReadAsThoseOfAFile) {
  ReadOptions options;
  ExpectEqualTables(ReadCells(kCellNames, kCells, "t", options), TableOfFile(options));
  options.known_columns = {{"amount"}, {"when", ColumnKind::kNumber, true}, {"few", ColumnKind::kText}};
  const Table table = ReadCells(kCellNames, kCells, "t", options);
  ExpectEqualTables(table, TableOfFile(options));
  EXPECT_EQ(table.columns[0].Number(0), 1200);
  EXPECT_TRUE(table.columns[0].IsMissing(2));
  EXPECT_TRUE(table.columns[1].IsMissing(1));
  EXPECT_EQ(TextAt(table.columns[2], 0), "a \"b\"\nc");
  EXPECT_EQ(TextAt(table.columns[2], 1), "#no comment");
  EXPECT_TRUE(table.columns[2].IsMissing(2));
}

TEST(Cells, OfOneColumnMayAllBeMissing) {
  const std::vector<std::string> names = {"a"};
  const std::vector<std::string_view> cells = {"", "", ""};
  const Table table = ReadCells(names, cells, "t", {.known_columns = {{"a"}}});
  ASSERT_EQ(table.rows, 3);
  EXPECT_TRUE(table.columns[0].IsMissing(2));
}

TEST(Cells, ErrorsNameTheRowAndNoLine) {
  const std::vector<std::string> names = {"a"};
  const std::vector<std::string_view> cells = {"1", "two"};
  const Error error = CaughtError([&] { ReadCells(names, cells, "", {.strict = true, .known_columns = {{"a"}}}); });
  EXPECT_EQ(std::string(error.what()).substr(0, 60), "column 'a': not a number in a column of numbers in row 1 (co");
  EXPECT_EQ(error.context().value, "two");
}

TEST(Cells, ColumnsFromElsewhereBecomeThoseOfAFile) {
  Table table = Csv("n,k,zip\n5,x,01\n-999,n.a.,02\n", {.text_columns = {"k", "zip"}});
  ReadAsCells(table, {.missing_values = {"n.a.", "-999"}}, std::vector<std::string>{"zip"});
  EXPECT_EQ(table.columns[0].Number(0), 5);
  EXPECT_TRUE(table.columns[0].IsMissing(1));
  EXPECT_TRUE(table.columns[1].IsMissing(1));
  ASSERT_EQ(table.columns[2].kind, ColumnKind::kText);
  EXPECT_EQ(TextAt(table.columns[2], 1), "02");
  ReadAsCells(table, {});
  EXPECT_EQ(table.columns[2].kind, ColumnKind::kNumber);
  ReadAsCells(table, {.text_columns = {"zip"}});
  EXPECT_EQ(TextAt(table.columns[2], 0), "1");
}

TEST(Cells, BlanksNeverCountAndFlagsTakeTruths) {
  const Table table = Csv("a,b\n\" x \",1\nx,TRUE\n y,false\n", {.known_columns = {{.name = "b", .is_flag = true}}});
  EXPECT_EQ(table.columns[0].categories, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table.columns[1].Number(1), 1);
  EXPECT_EQ(table.columns[1].Number(2), 0);
}

}  // namespace
}  // namespace lamina
