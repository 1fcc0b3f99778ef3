// What columns of CSV files are: odd cells, marks of missing values, identifiers, headers, encodings.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lamina/data/files/csv.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

// Rows of a header and so many numbers, with `cells` behind them.
std::string NumbersAnd(int count, const std::string& cells, int different = 1000) {
  std::string text = "a,b\n";
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i % different) + ",x\n";
  }
  return text + cells;
}

TEST(CsvKinds, OddCellsOfNumbersAreMissing) {
  const Table table = Csv(NumbersAnd(100, "error,y\n7,y\noff,y\nerror,y\n"));
  const Column& column = table.columns[0];
  ASSERT_EQ(column.kind, ColumnKind::kNumber);
  EXPECT_TRUE(column.IsMissing(100));
  EXPECT_EQ(column.Number(101), 7);
  EXPECT_EQ(column.odd.words, (std::vector<std::string>{"error", "off"}));
  ASSERT_EQ(column.odd.cells.size(), 3U);
  EXPECT_EQ(column.odd.cells[1].row, 102);
  EXPECT_EQ(table.LineOf(column.odd.cells[1].row), 104);
  EXPECT_EQ(column.odd.Text(), "3 cells 'error', 'off'");
  const Table parts = Csv(NumbersAnd(100, "error,y\n7,y\noff,y\nerror,y\n"), {.parts = 4});
  EXPECT_EQ(parts.columns[0].odd.words, column.odd.words);
  EXPECT_EQ(parts.columns[0].odd.cells[2].row, 103);
}

TEST(CsvKinds, FewNumbersAmongWordsAreText) {
  const Table mixed = Csv(NumbersAnd(90, "u,y\nv,y\nw,y\nu,y\nv,y\nw,y\n"));  // 93.75 % of numbers
  ASSERT_EQ(mixed.columns[0].kind, ColumnKind::kText);
  EXPECT_EQ(TextAt(mixed.columns[0], 3), "3");
  EXPECT_EQ(TextAt(mixed.columns[0], 95), "w");
  const Table few = Csv(NumbersAnd(100, "more,y\nmore,y\nmore,y\n", 3));
  ASSERT_EQ(few.columns[0].kind, ColumnKind::kText);
  EXPECT_EQ(few.columns[0].word_of_few, "more");
  EXPECT_EQ(few.columns[0].categories, (std::vector<std::string>{"0", "1", "2", "more"}));
  const Table typo = Csv(NumbersAnd(100, "O,y\n", 3));
  EXPECT_EQ(typo.columns[0].kind, ColumnKind::kNumber);
}

TEST(CsvKinds, NumbersBehindWordsAreNumbers) {
  std::string text = "a,b\n";
  for (int i = 0; i < 60; ++i) {
    text += "starting,x\n";
  }
  for (int i = 0; i < 2000; ++i) {
    text += std::to_string(0.5 * i) + ",x\n";
  }
  const Table table = Csv(text);
  ASSERT_EQ(table.columns[0].kind, ColumnKind::kNumber);
  EXPECT_EQ(table.columns[0].odd.count(), 60);
  EXPECT_EQ(table.columns[0].Number(61), 0.5);
}

TEST(CsvKinds, MarksOfMissingValuesAreOneList) {
  for (const char* mark :
       {"", "NA", "n/a", "N/A", "#N/A", "Null", "NONE", "NaN", "-nan", "-", "--", ".", "?", "#DIV/0!"}) {
    const Table table = Csv(std::string("n,t,answer\n1,x,u\n") + mark + "," + mark + ",v\n3,y,u\n");
    EXPECT_TRUE(table.columns[0].IsMissing(1)) << mark;
    EXPECT_TRUE(table.columns[1].IsMissing(1)) << mark;
    EXPECT_TRUE(table.columns[0].odd.cells.empty()) << mark;
  }
  const Table signs = Csv("x,class\n1,+\n2,-\n3,NA\n", {.answer_columns = {"class", "absent", "7"}});
  EXPECT_EQ(signs.columns[1].categories, (std::vector<std::string>{"+", "-"}));
  EXPECT_TRUE(signs.columns[1].IsMissing(2));
  EXPECT_TRUE(Csv("a,b\n1,x\n-999.0,x\n3,Gone\n", {.missing_values = {"-999", "gone"}}).columns[0].IsMissing(1));
  EXPECT_TRUE(Csv("a,b\n1,x\n2,x\n3,Gone\n", {.missing_values = {"-999", "gone"}}).columns[1].IsMissing(2));
}

TEST(CsvKinds, ReadsShortYearsAndNamesOfMonths) {
  const Table table = Csv("a,b,c\n05.01.24,05-Jan-24,5-JAN-2024\n31.12.99,31-Dec-99,31-DEC-1999\n");
  for (const Column& column : table.columns) {
    ASSERT_TRUE(column.is_date) << column.name;
    EXPECT_EQ(DateText(column.Number(0)), "2024-01-05");
    EXPECT_EQ(DateText(column.Number(1)), "1999-12-31");
  }
  EXPECT_EQ(Csv("v\n1.2.13\n1.2.14\n").columns[0].kind, ColumnKind::kText);
  EXPECT_EQ(DateText(Csv("v\n1/22/13\n1/3/14\n").columns[0].Number(1)), "2014-01-03");
  EXPECT_EQ(Csv("v\n(1.50)\n2.5\n").columns[0].Number(0), -1.5);
}

TEST(CsvKinds, LargeIdentifiersStayText) {
  const Table table = Csv("id,v\n9007199254740993,1\n9007199254740992,2\n9007199254740995,3\n9007199254740997,4\n");
  ASSERT_EQ(table.columns[0].kind, ColumnKind::kText);
  EXPECT_EQ(table.columns[0].categories.size(), 4U);
  EXPECT_EQ(Csv("v\n1e300\n2e300\n").columns[0].Number(0), 1e300);
}

TEST(CsvKinds, HeadersOfNumbersAndEmptyNames) {
  EXPECT_EQ(Csv("x,2019,2020\na,1.5,2.5\nb,3.5,4\n").ColumnNames(), (std::vector<std::string>{"x", "2019", "2020"}));
  EXPECT_EQ(Csv(",,cls\n1,2,u\n3,4,v\n").ColumnNames(), (std::vector<std::string>{"c0", "c1", "cls"}));
  EXPECT_EQ(Csv(",0,1,2\n0,5,9,7\n1,6,2,2\n").ColumnNames(), (std::vector<std::string>{"c0", "0", "1", "2"}));
  EXPECT_EQ(Csv("1,2,3\n4,5,6\n7,8,9\n").rows, 3);  // numbers
  EXPECT_EQ(Csv("a,5,7\nb,6,8\n").rows, 2);
  EXPECT_FALSE(Csv("1,2\n3,4\n").has_names);
  EXPECT_TRUE(Csv("a,b\n3,4\n").has_names);
  EXPECT_EQ(Csv("a;b;\n1;2;\n3;4;\n").ColumnNames(), (std::vector<std::string>{"a", "b"}));
}

TEST(CsvKinds, NumbersBesideANameThatIsAskedForAreNames) {
  const std::string gap = "x,1992,1994,y\na,1.5,2.5,3\nb,3.5,4,5\n";
  const std::vector<std::string> names = {"x", "1992", "1994", "y"};
  EXPECT_EQ(Csv(gap).rows, 3);
  EXPECT_EQ(Csv(gap, {.answer_columns = {"y"}}).ColumnNames(), names);
  const ReadOptions of_model = {.known_columns = {{.name = "x"}, {.name = "1994"}, {.name = "y"}},
                                .answer_columns = {"y"}};
  EXPECT_EQ(Csv(gap, of_model).ColumnNames(), names);
  EXPECT_EQ(Csv("x,1990,1994\nb,3.5,4\n", of_model).rows, 1);  // without the answer
  EXPECT_EQ(Csv("x,1.5,2.5\n", of_model).rows, 1);             // a value that is called as its column
  EXPECT_EQ(Csv("x,1.5,2.5\nb,3.5,4\n", of_model).rows, 2);
  EXPECT_EQ(Csv(gap, {.answer_columns = {"z", "-1", "1992"}}).rows, 3);
}

TEST(CsvKinds, ReadsOtherEncodings) {
  const Table western =
      Csv("stra\xDF"
          "e;preis\nK\xF6ln;5 \x80\nBonn;6 \x80\n");
  EXPECT_EQ(western.encoding, "Windows-1252");
  EXPECT_EQ(western.columns[0].name,
            "stra\xC3\x9F"
            "e");
  EXPECT_EQ(western.columns[1].Number(1), 6);
  EXPECT_EQ(western.columns[1].format.unit, "\xE2\x82\xAC");
  std::string wide = "\xFF\xFE";
  for (const char c : std::string("a\tb\r\n1\tx\r\n2\ty\r\n")) {
    wide += {c, '\0'};
  }
  const Table utf16 = Csv(wide);
  EXPECT_EQ(utf16.encoding, "UTF-16LE");
  EXPECT_EQ(utf16.columns[0].Number(1), 2);
  EXPECT_EQ(TextAt(Csv("a,b\n1,\xEB\n", {.encoding = "iso-8859-5"}).columns[1], 0), "\xD1\x8B");
  EXPECT_EQ(Csv("a,b\n1,caf\xC3\xA9\n").encoding, "");
  const Table told = Csv("sep=;\na;b\n1,5;x\n2,5;y\n");
  EXPECT_EQ(told.columns[0].Number(0), 1.5);
  EXPECT_EQ(told.LineOf(0), 3);
}

// Two exports in one file.
TEST(CsvKinds, CellsOfTwoEncodingsAreReadEach) {
  const Table mixed =
      Csv("city;x\nK\xC3\xB6ln;1\nUlm;2\nK\xF6ln;3\nM\xC3\xBCnchen;4\n\"Sch\xF6n; \xC3\xB6\";5\nK\xF6ln;6\n");
  for (const int64_t row : {0, 2, 5}) {
    EXPECT_EQ(TextAt(mixed.columns[0], row), "K\xC3\xB6ln");
  }
  EXPECT_EQ(TextAt(mixed.columns[0], 3), "M\xC3\xBCnchen");
  EXPECT_EQ(TextAt(mixed.columns[0], 4), "Sch\xC3\xB6n; \xC3\xB6");
  EXPECT_EQ(mixed.encoding, "a mix of UTF-8 (first in line 2) and Windows-1252 (first in line 4)");
  const Table asked = Csv("city;x\nK\xC3\xB6ln;1\nK\xF6ln;3\n", {.encoding = "windows-1252"});
  EXPECT_EQ(TextAt(asked.columns[0], 0), "K\xC3\x83\xC2\xB6ln");
}

}  // namespace
}  // namespace lamina
