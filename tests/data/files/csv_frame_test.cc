// What stands around a table is left out and named, and nothing that is a row.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lamina/data/files/csv.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

Table Framed(const std::string& text, const ReadOptions& options = {}) { return ReadCsv(text, "t.csv", options); }

std::vector<std::string> NamesIn(const std::string& text, const ReadOptions& options = {}) {
  return Framed(text, options).ColumnNames();
}

const std::vector<std::string> kAbc = {"a", "b", "c"};
const std::string kRows = "1,2,x\n3,4,y\n5,6,x\n7,8,y\n";

TEST(CsvFrameTest, TitlesWithFewerFieldsAreAboveTheTable) {
  const Table table = Framed("Report of May\nmade by,Ann\n\na,b,c,d,e\n1,2,x,3,4\n5,6,y,7,8\n");
  EXPECT_EQ(table.ColumnNames(), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(table.frame.begin, 4);
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(table.LineOf(0), 5);
}

TEST(CsvFrameTest, TitlesWithEmptyFieldsAreAboveTheTable) {
  const Table table = Framed("Report;;\n;;\nfrom:;May;\na;b;c\n1;2;x\n3;4;y\n");
  EXPECT_EQ(table.ColumnNames(), kAbc);
  const Table wide = Framed("Report;;;\n;;;\nfrom:;May;;\na;b;c;d\n1;2;x;5\n3;4;y;6\n");
  EXPECT_EQ(wide.ColumnNames(), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(wide.frame.begin, 4);
  EXPECT_EQ(NamesIn("Heights,\nname,height\nAnn,1.7\nBob,1.8\n"), (std::vector<std::string>{"name", "height"}));
}

TEST(CsvFrameTest, RowsWithoutNamesBeginBelowTitles) {
  const Table table = Framed("569,30\n1,2,3,x\n3,4,5,y\n5,6,7,x\n");
  EXPECT_FALSE(table.has_names);
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.frame.begin, 2);
}

// A first line that could be names or a row is one.
TEST(CsvFrameTest, WhatMayBeNamesOrRowsIsNoTitle) {
  for (const char* text :
       {"a,b,c\n1,2,x\n3,4,y\n", "a,,\n1,2,3\n4,5,6\n", "x,\na,b\nc,d\n", ",,x\n1,2,3\n4,5,6\n", "1,,\n2,3,4\n5,6,7\n",
        "a\nb\nc\n", "id,,,\n1,x,y,z\n2,u,v,w\n", "7,,,,\na,b,c,d,e\nf,g,h,i,j\n"}) {
    const Table table = Framed(text);
    EXPECT_EQ(table.frame.begin, 0) << text;
    EXPECT_GE(table.rows + (table.has_names ? 1 : 0), 3) << text;
  }
}

TEST(CsvFrameTest, TheLineOfNamesCanBeSaid) {
  const std::string text = "Report;;\nfrom:;May;\na;b;c\n1;2;x\n3;4;y\n";
  const Table table = Framed(text, {.header_line = 3});
  EXPECT_EQ(table.ColumnNames(), kAbc);
  EXPECT_EQ(table.frame.begin, 0);
  EXPECT_EQ(table.LineOf(1), 5);
  EXPECT_EQ(NamesIn("t\n" + text, {.header_line = 4}), kAbc);
  ExpectError([&] { Framed(text, {.header_line = 6}); }, ErrorCode::kInvalidArgument,
              {"t.csv:6", "behind the last line"});
  EXPECT_EQ(Framed("Report\n\na,b,c\n" + kRows, {.header = Header::kNo, .separator = ';'}).rows, 7);
}

// One record that looks like a note is the table all the same: without a record there is none.
TEST(CsvFrameTest, TheOnlyRecordIsNoNote) {
  ExpectError([] { Framed("\n\nname of it\t\n", {.header = Header::kYes, .separator = '\t'}); }, ErrorCode::kBadData,
              {"t.csv"});
  EXPECT_EQ(Framed("\n\nname of it\t\n", {.header = Header::kNo, .separator = '\t'}).rows, 1);
}

TEST(CsvFrameTest, NamesOfMergedCellsAreToldApart) {
  EXPECT_EQ(NamesIn(",2023,,2024,\ncity,plan,true,plan,true\nUlm,1,2,3,4\nBonn,5,6,7,8\n"),
            (std::vector<std::string>{"city", "2023 plan", "2023 true", "2024 plan", "2024 true"}));
  EXPECT_EQ(NamesIn("Plan;;;\n;A;;B;\ncity;x;y;x;y\nUlm;1;2;3;4\nBonn;5;6;7;8\n"),
            (std::vector<std::string>{"city", "A x", "A y", "B x", "B y"}));
  ExpectError([] { NamesIn("a,x,x\nUlm,1,2\nBonn,5,6\n"); }, ErrorCode::kBadData, {"two columns have the same name"});
}

TEST(CsvFrameTest, UnitsAreLeftOut) {
  const Table table = Framed("time,temp,flow\n,°C,l/min\n2024-01-01,1.5,2\n2024-01-02,2.5,3\n2024-01-03,3.5,4\n");
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.frame.units, 2);
  EXPECT_EQ(table.columns[1].odd.count(), 0);
  EXPECT_EQ(Framed("a,b,c\nerror,1,x\n2,3,x\n4,5,y\n6,7,y\n").rows, 4) << "a number is a value";
  EXPECT_EQ(Framed("a,b,c\nerror,off,x\n2,3,x\n4,5,y\n6,7,y\n").rows, 4) << "a category that comes again";
  EXPECT_EQ(Framed("a,b\nx,error\ny,2\nz,3\nu,4\n").rows, 4) << "one column tells nothing";
  EXPECT_EQ(Framed("a,b\nm,s\n1,2\n3,4\n5,6\n", {.around = Around::kKeep}).rows, 4);
}

TEST(CsvFrameTest, ARuleBelowTheNamesIsLeftOut) {
  const Table table = Framed(" a | b | c \n---+---+---\n 1 | 2 | x\n 3 | 4 | y\n(2 rows)\n");
  EXPECT_EQ(table.ColumnNames(), kAbc);
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(table.frame.units, 2);
  EXPECT_EQ(table.frame.notes, 5);
}

// As mysql -t, psql with border 2 and Markdown draw them.
TEST(CsvFrameTest, BordersOfBoxesAreLeftOut) {
  const std::string border = "+------+-----+---+\n";
  const std::string box =
      border + "| a    | b   | c |\n" + border + "|    1 | 2.5 | x |\n| NULL |   4 | y |\n" + border;
  for (const std::string& text : {box, box + "2 rows in set (0.00 sec)\n", "\n" + box + "\n"}) {
    const Table table = Framed(text);
    EXPECT_EQ(table.ColumnNames(), kAbc);
    EXPECT_EQ(table.rows, 2) << text;
    EXPECT_TRUE(table.columns[0].IsMissing(1));
    EXPECT_EQ(table.columns[1].Number(0), 2.5);
    EXPECT_EQ(TextAt(table.columns[2], 1), "y");
  }
  EXPECT_EQ(Framed(box).LineOf(1), 5);
  const Table markdown = Framed("| a | b | c |\n|--:|:---|---|\n| 1 | 2 | x |\n| 3 | 4 | y |\n");
  EXPECT_EQ(markdown.ColumnNames(), kAbc);
  EXPECT_EQ(markdown.rows, 2);
  EXPECT_EQ(Framed("|a|b|\n|1|2|\n|3|4|\n").columns.size(), 3u) << "no border";
  EXPECT_EQ(Framed("+1,-2\n+3,-4\n").rows, 2);
}

TEST(CsvFrameTest, NotesAtTheEndAreLeftOut) {
  EXPECT_EQ(Framed("a,b,c\n" + kRows + "\nSource: office\n").frame.notes, 7);
  EXPECT_EQ(Framed("a,b,c\n" + kRows + "\nSource\n").rows, 4) << "behind an empty line";
  const auto broken = [&](const std::string& end) {
    ExpectError([&] { Framed("a,b,c\n" + kRows + end); }, ErrorCode::kBadData, {"expected 3 fields, found 1"});
  };
  broken("12\n");  // a file that was cut off
  broken("abc\n");
  broken("\"two words\"\n");
  EXPECT_EQ(Framed("a,b\n\"x\",\"two\nlines of it\"\ny,z\n").rows, 2) << "within a field";
  EXPECT_EQ(Framed("a\n1\n2\nSource: office\n").rows, 3) << "one column";
}

const std::string kSold = "city,sold,price\nUlm,3,1.25\nBonn,5,2.5\nKiel,7,3.75\nUlm,8,4\nBonn,9,5.5\nKiel,2,6.25\n";

// As Excel writes them, where every line has as many fields.
TEST(CsvFrameTest, NotesWithSeparatorsBelowSumsAreLeftOut) {
  for (const char* end :
       {"As of May,,\n", ",,\nAs of May,,\n", ",,\n,,\nMay,,\nall shops,,\n", ",,\n", ",As of May,\n"}) {
    const Table table = Framed(kSold + "Total,34,23.25\n" + end);
    EXPECT_EQ(table.rows, 6) << end;
    EXPECT_EQ(table.frame.sums, 8);
    EXPECT_EQ(table.columns[0].categories.size(), 3u);
    EXPECT_EQ(table.columns[1].odd.count(), 0);
  }
  EXPECT_EQ(Framed(kSold + "Total,34,23.25\nAs of May,,\n").frame.notes, 9);
  EXPECT_EQ(Framed(kSold + "Total,34,23.25\n,,\nAs of May,,\n").frame.notes, 10);
  EXPECT_EQ(Framed(kSold + "As of May,,\n").rows, 7) << "a row with gaps";
  EXPECT_EQ(Framed(kSold + "Total,34,23.25\nUlm,3,\n").rows, 8) << "a row";
}

TEST(CsvFrameTest, SumsAtTheEndAreLeftOut) {
  for (const char* sums : {"Total,34,23.25\n", ",34,23.25\n", "Total,34,\n", "Total,34,3.875\n"}) {
    const Table table = Framed(kSold + sums);
    EXPECT_EQ(table.rows, 6) << sums;
    EXPECT_EQ(table.frame.sums, 8);
    EXPECT_EQ(table.columns[0].categories.size(), 3u);
    EXPECT_EQ(Framed(kSold + sums, {.around = Around::kKeep}).rows, 7);
  }
  const Table numbered = Framed("day,sold\n1,3\n2,5\n3,7\n4,8\n5,9\n6,2\nSumme,34\n");
  EXPECT_EQ(numbered.rows, 6);
  EXPECT_EQ(numbered.columns[0].kind, ColumnKind::kNumber) << "the word is none of the column's";
}

TEST(CsvFrameTest, LastRowsThatAreNoSumsStay) {
  for (const char* last : {"Total,33,23.25\n", "Ulm,34,23.25\n", "Rom,4,4\n", "Rom,34,1\n"}) {
    EXPECT_EQ(Framed(kSold + last).rows, 7) << last;
  }
  EXPECT_EQ(Framed("k,hit\na,0\nb,0\nc,1\nd,0\ne,0\nf,0\ng,1\n").rows, 7) << "by chance";
}

TEST(CsvFrameTest, NamesMayLackThatOfTheFirstColumn) {
  for (const char* text : {"\"size\" \"kind\"\n\"1\" 2.5 \"a\"\n\"2\" 3.5 \"b\"\n\"3\" 4.5 \"a\"\n",
                           "size\tkind\n1\t2.5\ta\n2\t3.5\tb\n3\t4.5\ta\n"}) {
    EXPECT_EQ(NamesIn(text), (std::vector<std::string>{"c0", "size", "kind"})) << text;
  }
  ExpectError([] { Framed("1,2\n1,2,3\n1,2,3\n"); }, ErrorCode::kBadData, {"expected 2 fields, found 3"});
}

TEST(CsvFrameTest, SeparatorsMayEndRowsAlone) {
  const Table table = Framed("a,b,c\n1,2,x,\n3,4,y,\n5,6,x,\n");
  EXPECT_EQ(table.ColumnNames(), kAbc);
  EXPECT_EQ(table.columns[0].Number(2), 5);
  ExpectError([] { Framed("a,b,c\n1,2,x,\n1,4,y,z\n5,6,x,\n"); }, ErrorCode::kBadData, {"expected 3 fields, found 4"});
}

TEST(CsvFrameTest, ATitleMayHaveMoreFieldsAndUnitsTwoLines) {
  const Table table = Framed(
      "\"TOA5\",\"CR1000\",\"1234\",\"Std\",\"Table1\"\n\"TIME\",\"T\",\"RH\"\n\"TS\",\"C\",\"%\"\n\"\",\"Avg\","
      "\"Smp\"\n"
      "2024-01-01,1.5,2\n2024-01-02,2.5,3\n2024-01-03,3.5,4\n2024-01-04,3.5,4\n");
  EXPECT_EQ(table.ColumnNames(), (std::vector<std::string>{"TIME", "T", "RH"}));
  EXPECT_EQ(table.rows, 4);
  EXPECT_EQ(table.frame.begin, 2);
  EXPECT_EQ(table.frame.units, 3);
  ExpectError([] { Framed("a,b,c,d\nx,y,z\nu,v,w\np,q,r\n"); }, ErrorCode::kBadData, {"expected 4 fields, found 3"});
}

TEST(CsvFrameTest, ReadsTheSameInLittleMemory) {
  const TemporaryFolder folder;
  const std::string text =
      "Report\n\nday,a,b\n\"no.\",m,s\n1,3,x\n2,5,y\n3,7,x\n4,8,y\n5,9,x\n6,2,y\n,34,\n\nSource: office\n";
  const Table in_memory = Framed(text);
  const Table table = ReadCsvFile(text, folder.Write("t.csv", text), {.scratch = folder.Path()});
  for (const Table* each : {&in_memory, &table}) {
    EXPECT_EQ(each->ColumnNames(), (std::vector<std::string>{"day", "a", "b"}));
    EXPECT_EQ(each->lines, (std::vector<int64_t>{5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(each->frame.begin, 3);
    EXPECT_EQ(each->frame.sums, 11);
    EXPECT_EQ(each->frame.notes, 13);
    EXPECT_EQ(each->frame.units, 4);
    EXPECT_EQ(each->columns[0].kind, ColumnKind::kNumber);
  }
}

}  // namespace
}  // namespace lamina
