// Tests of the CSV reader: dialects, types, lines, and every kind of bad file.
#include "lamina/data/files/csv.h"
#include "lamina/data/files/date_text.h"
#include "lamina/data/files/number_text.h"

#include <cmath>

#include "lamina/data/files/csv_columns.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using Names = std::vector<std::string>;

void ExpectBad(std::string content, std::initializer_list<std::string_view> parts, const ReadOptions& options = {}) {
  ExpectError([&] { Csv(std::move(content), options); }, ErrorCode::kBadData, parts);
}

TEST(CsvTest, ReadsNumbersAndText) {
  const Table table = Csv("age,name,score\n1,ann,1.5\n-2,bob,.25\n+3,ann,1e3\n");
  EXPECT_EQ(table.ColumnNames(), (Names{"age", "name", "score"}));
  EXPECT_EQ(table.rows, 3);
  EXPECT_EQ(table.columns[0].Number(1), -2);
  EXPECT_EQ(table.columns[0].Number(2), 3);
  EXPECT_EQ(table.columns[2].Number(1), 0.25);
  EXPECT_EQ(table.columns[2].Number(2), 1000);
  EXPECT_EQ(table.columns[1].categories, (Names{"ann", "bob"}));
  EXPECT_EQ(table.columns[1].codes, (std::vector<int32_t>{0, 1, 0}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3, 4}));
}

TEST(CsvTest, FindsHeaders) {
  EXPECT_EQ(Csv("a,b\n1,2\n").columns[0].name, "a");
  EXPECT_EQ(Csv("1,2\n3,4\n").columns[0].name, "c0");
  EXPECT_EQ(Csv("0,tcp,http,normal.\n0,udp,dns,smurf.\n").rows, 2);  // text and numbers: data
  EXPECT_EQ(Csv("color,shape\nred,round\nblue,flat\n").rows, 2);     // all text, nothing seen again: a header
  EXPECT_EQ(Csv("red,round\nred,flat\nblue,round\n").rows, 3);       // seen again: data
  EXPECT_EQ(Csv("x,x\ny,z\ny,w\n").rows, 3);                         // not distinct: data
  EXPECT_EQ(Csv(",a,b\n0,1,2\n1,3,4\n").ColumnNames(), (Names{"c0", "a", "b"}));
  EXPECT_EQ(Csv("?,?,yes\n1,2,no\n").rows, 2);  // missing fields name nothing
  EXPECT_EQ(Csv("day,x\n2020-01-01,a\n").rows, 1);
  EXPECT_EQ(Csv("2019,2020\n1,2\n", {.header = Header::kYes}).ColumnNames(), (Names{"2019", "2020"}));
  EXPECT_EQ(Csv("a,b\nc,d\n", {.header = Header::kNo}).rows, 2);
}

TEST(CsvTest, ReadsQuotedFields) {
  const Table table = Csv("\"a,1\",\"b\"\"q\"\"\",c\n\"x\ny\", \"1\" ,2\n\"\"\"\",\"2\",3\n\"p, q\",3,4\n");
  EXPECT_EQ(table.ColumnNames(), (Names{"a,1", "b\"q\"", "c"}));
  EXPECT_EQ(table.columns[0].categories, (Names{"x\ny", "\"", "p, q"}));
  EXPECT_EQ(table.columns[1].Number(0), 1);
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 4, 5}));
  EXPECT_EQ(Csv("h\n5'10\"\n6'\n", {.header = Header::kYes}).columns[0].categories, (Names{"5'10\"", "6'"}));
}

TEST(CsvTest, ReadsLineEndsMarksAndBlankLines) {
  const Table windows =
      Csv("\xEF\xBB\xBF"
          "a,b\r\n1,x\r\n\r\n2,y\r\n\r\n \n");
  EXPECT_EQ(windows.ColumnNames(), (Names{"a", "b"}));
  EXPECT_EQ(windows.columns[1].categories, (Names{"x", "y"}));
  EXPECT_EQ(windows.lines, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(Csv("a,b\r1,2\r3,4\r").rows, 2);  // old Macintosh
  EXPECT_EQ(Csv("1,2\n3,4").rows, 2);         // no final line end
  const Table one = Csv("a\n1\n\n3\n\n\n");
  EXPECT_EQ(one.rows, 3);
  EXPECT_TRUE(one.columns[0].IsMissing(1));
}

TEST(CsvTest, FindsSeparators) {
  for (const std::string separator : {",", ";", "\t", "|"}) {
    std::string text = "a" + separator + "b" + separator + "c\n1" + separator + "x y" + separator + "3\n";
    const Table table = Csv(text);
    ASSERT_EQ(table.columns.size(), 3U) << separator;
    EXPECT_EQ(TextAt(table.columns[1], 0), "x y");
  }
  EXPECT_EQ(Csv("a;b\n1,5;2\n2,5;3\n").columns.size(), 2U);
  EXPECT_EQ(Csv("\"a;b\",c\n\"1;2\",3\n").columns.size(), 2U);
  EXPECT_EQ(Csv("a b\n1 2\n", {.separator = ' '}).columns.size(), 2U);
  EXPECT_EQ(Csv("a\tb\n\t\n1\t2\n\t\n").rows, 3);  // lines of missing values are not blank
  ExpectError([] { Csv("a,b\n", {.separator = '"'}); }, ErrorCode::kInvalidArgument, {"cannot separate"});
}

TEST(CsvTest, ReadsColumnsLinedUpWithSpaces) {
  const Table table = Csv("# measured\n name   size  weight\n\n  a      1.5   20 \n \"b c\"   12    3\r\n");
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[2].name, "weight");
  EXPECT_EQ(TextAt(table.columns[0], 1), "b c");
  EXPECT_EQ(table.columns[1].Number(1), 12);
  EXPECT_EQ(table.LineOf(1), 5);
  EXPECT_EQ(Csv(" 1  2\n10 20\n").columns.size(), 2U);
  EXPECT_EQ(Csv("it is\nas good\n").columns.size(), 1U);                      // words
  EXPECT_EQ(Csv("2024-01-01 10:00\n2024-01-02 11:00\n").columns.size(), 1U);  // dates
  ExpectBad("1 2\n3 4\n5 6 7\n", {"t.csv:3", "expected 2 fields, found 3"}, {.separator = ' '});
}

TEST(CsvTest, ReadsMissingFields) {
  const Table table = Csv("a,b,d\n1,x,2020-01-01\n,NA,\nNaN,?,null\nnan,y,NA\n-NAN,,2020-01-02\n");
  for (const int64_t row : {1, 2}) {
    for (const Column& column : table.columns) {
      EXPECT_TRUE(column.IsMissing(row)) << column.name << row;
    }
  }
  EXPECT_TRUE(table.columns[0].IsMissing(3));
  EXPECT_TRUE(table.columns[0].IsMissing(4));
  EXPECT_FALSE(table.columns[1].IsMissing(3));
  EXPECT_EQ(table.columns[1].categories, (Names{"x", "y"}));
  const Table number = Csv("a,b\n1,-999\n-999,2\n", {.missing_values = {"-999"}});
  EXPECT_TRUE(number.columns[0].IsMissing(1));
  EXPECT_TRUE(number.columns[1].IsMissing(0));
}

TEST(CsvTest, DecidesLateColumns) {
  std::string text = "n,t,m\n";
  for (int i = 0; i < 100; ++i) {
    text += ",,\n";
  }
  const Table table = Csv(text + "7,x,\n8,y,\n", {.header = Header::kYes});
  EXPECT_EQ(table.rows, 102);
  EXPECT_EQ(table.columns[0].Number(101), 8);
  EXPECT_EQ(TextAt(table.columns[1], 100), "x");
  EXPECT_TRUE(table.columns[1].IsMissing(99));
  EXPECT_TRUE(table.columns[0].IsMissing(99));
  EXPECT_TRUE(table.columns[2].IsMissing(101));
}

TEST(CsvTest, ReadsDates) {
  const Table table = Csv("d,t\n1970-01-02,2000-03-01T12:00\n2013-02-08,2000-03-01 06:00:00\n1969-12-31,2000-02-29\n");
  EXPECT_EQ(table.columns[0].Number(0), 1);
  EXPECT_EQ(table.columns[0].Number(1), 15744);
  EXPECT_EQ(table.columns[0].Number(2), -1);
  EXPECT_EQ(table.columns[1].Number(0), 11017.5);
  EXPECT_EQ(table.columns[1].Number(1), 11017.25);
  EXPECT_EQ(table.columns[1].Number(2), 11016);
  EXPECT_TRUE(table.columns[0].is_date);
  EXPECT_FALSE(Csv("a\n1\n2\n").columns[0].is_date);
  double days = 0;
  for (const char* text : {"1970-01-01", "2013-02-08", "1969-12-31", "2000-02-29", "0000-01-01", "9999-12-31",
                           "2000-03-01 06:00:00", "1960-03-01 23:59:59", "2024-12-31 00:00:01"}) {
    ASSERT_TRUE(ParseDate(text, DateOrder::kAuto, days)) << text;
    EXPECT_EQ(DateText(days), text);
  }
  ASSERT_TRUE(ParseDate("2024/03/01 12:37:30 PM GMT+1", DateOrder::kAuto, days));  // as online forms write it
  EXPECT_EQ(DateText(days), "2024-03-01 11:37:30");
  ASSERT_TRUE(ParseDate("2024-03-01 12:37 UTC-3:30", DateOrder::kAuto, days));
  EXPECT_EQ(DateText(days), "2024-03-01 16:07:00");
  EXPECT_EQ(DateText(1e300), "1e+300");
  for (const char* bad :
       {"2001-02-29", "1900-02-29", "2001-13-01", "2001-00-01", "2001-04-31", "2001-01-01T24:00", "2001-01-01T10:60",
        "2001-01-01x", "20010101", "2001-01/01", "1-1-01", "01/02/2001", "2001-01-01 13:00 PM", "2001-01-01T10:00+1",
        "12:30", "2001-01-01 10:00 GMT+15", "2001-01-01 10:00 GMT+1:7", "2001-01-01 10:00 GMT1"}) {
    EXPECT_FALSE(ParseDate(bad, DateOrder::kAuto, days)) << bad;
  }
  ExpectBad("d\n2001-01-01\n2001-01-02\n2001-02-30\n", {"t.csv:4", "column 'd'", "not a date", "2001-02-30"},
            {.strict = true});
}

TEST(CsvTest, ReadsDatesInEveryOrder) {
  double days = 0;
  const struct {
    const char* text;
    DateOrder order;
    double days;  // of 2023-01-05: 19362, of 2023-05-01: 19478
  } rows[] = {{"2023/01/05", DateOrder::kAuto, 19362},
              {"2023.1.5", DateOrder::kAuto, 19362},
              {"05.01.2023", DateOrder::kDayFirst, 19362},
              {"5/1/2023", DateOrder::kDayFirst, 19362},
              {"5/1/2023", DateOrder::kMonthFirst, 19478},
              {"2023-01-05T12:00:00Z", DateOrder::kAuto, 19362.5},
              {"2023-01-05 14:00:00+02:00", DateOrder::kAuto, 19362.5},
              {"2023-01-05T06:30:00.00-0530", DateOrder::kAuto, 19362.5},
              {"1/5/2023 6:00 PM", DateOrder::kMonthFirst, 19362.75},
              {"2023-01-05 12:00 AM", DateOrder::kAuto, 19362}};
  for (const auto& row : rows) {
    ASSERT_TRUE(ParseDate(row.text, row.order, days)) << row.text;
    EXPECT_DOUBLE_EQ(days, row.days) << row.text;
  }
  EXPECT_FALSE(ParseDate("25/12/2023", DateOrder::kMonthFirst, days));
  // A day above 12 tells, also one far behind the first records.
  std::string text = "d\n";
  for (int i = 0; i < 100; ++i) {
    text += "01/02/2023\n";
  }
  const Table open = Csv(text);
  EXPECT_EQ(open.columns[0].format.date_order, DateOrder::kMonthFirst);
  EXPECT_TRUE(open.columns[0].format.order_assumed);
  EXPECT_EQ(open.columns[0].Number(0), 19359);  // 2023-01-02
  const Table told = Csv(text + "13/02/2023\n");
  EXPECT_EQ(told.columns[0].format.date_order, DateOrder::kDayFirst);
  EXPECT_FALSE(told.columns[0].format.order_assumed);
  EXPECT_EQ(told.columns[0].Number(0), 19389);  // 2023-02-01
  EXPECT_EQ(Csv(text, {.date_order = DateOrder::kDayFirst}).columns[0].Number(0), 19389);
  EXPECT_EQ(Csv(text, {.known_columns = {{"d", ColumnKind::kNumber, true, {.date_order = DateOrder::kDayFirst}}}})
                .columns[0]
                .Number(0),
            19389);
  ExpectBad(text + "13/02/2023\n02/13/2023\n", {"t.csv:103", "not a date", "--date-order month-first"},
            {.strict = true});
}

TEST(NumberTextTest, ReadsWhatPeopleWrite) {
  const struct {
    const char* text;
    char decimal;
    double value;
    const char* unit;
  } good[] = {{"1,25", ',', 1.25, ""},
              {"1.234,5", ',', 1234.5, ""},
              {"1.234", ',', 1234, ""},
              {"1,234", '.', 1234, ""},
              {"-1,234,567.5", '.', -1234567.5, ""},
              {"1 234 567,8", ',', 1234567.8, ""},
              {"1\xC2\xA0"
               "234",
               '.', 1234, ""},
              {"12'345.6", '.', 12345.6, ""},
              {"12 %", '.', 12, "%"},
              {"$3.50", '.', 3.5, "$"},
              {"-$1,200.00", '.', -1200, "$"},
              {"$-3", '.', -3, "$"},
              {"5 \xE2\x82\xAC", '.', 5, "\xE2\x82\xAC"},
              {"7 EUR", ',', 7, "EUR"},
              {"1e-3", '.', 0.001, ""},
              {"+.5", '.', 0.5, ""},
              {"5.", '.', 5, ""}};
  NumberText number;
  for (const auto& row : good) {
    ASSERT_TRUE(ParseNumberText(row.text, row.decimal, number)) << row.text;
    EXPECT_DOUBLE_EQ(number.value, row.value) << row.text;
    EXPECT_EQ(number.unit, row.unit) << row.text;
  }
  for (const char* bad :
       {"",    "-",   "$",   "%",  ".",  "1,25", "0,125", "1,23,456", "12,34", "1.234,5", "030 123",
        "1 2", "--1", "+-1", "1e", "e5", "0x10", "1_000", "1.5.2",    "$5$",   "5 m",     "192.168.100.200"}) {
    EXPECT_FALSE(ParseNumberText(bad, '.', number)) << bad;
  }
}

TEST(CsvTest, FindsDecimalCommas) {
  const Table german = Csv("a;b;c\n1,25;7;1.234\n88,6;8;2.345\n");
  for (const Column& column : german.columns) {
    EXPECT_EQ(column.kind, ColumnKind::kNumber) << column.name;
  }
  EXPECT_EQ(german.columns[0].Number(0), 1.25);
  EXPECT_EQ(german.columns[2].Number(1), 2345);
  EXPECT_EQ(german.columns[0].format.Text(), "decimal comma");
  EXPECT_EQ(german.columns[1].format.Text(), "");
  const Table english = Csv("a;c\n1.25;1,234\n88.6;2,345\n");
  EXPECT_EQ(english.columns[0].Number(0), 1.25);
  EXPECT_EQ(english.columns[1].Number(0), 1234);
  EXPECT_EQ(Csv("a\n1.234\n").columns[0].Number(0), 1.234);
  EXPECT_EQ(Csv("a;b\n1,234;1\n").columns[0].Number(0), 1.234);  // semicolons come with decimal commas
  EXPECT_EQ(Csv("a\tb\n1,234\t1\n").columns[0].Number(0), 1234);
  EXPECT_EQ(Csv("a;b\n1,234;1\n", {.decimal = Decimal::kPoint}).columns[0].Number(0), 1234);
  EXPECT_EQ(Csv("a\n1.234\n", {.decimal = Decimal::kComma}).columns[0].Number(0), 1234);
  EXPECT_EQ(
      Csv("a\n1.234\n", {.known_columns = {{"a", ColumnKind::kNumber, false, {.decimal = ','}}}}).columns[0].Number(0),
      1234);
  EXPECT_EQ(
      Csv("a\n1.5\n", {.known_columns = {{"a", ColumnKind::kNumber, false, {.decimal = ','}}}}).columns[0].Number(0),
      1.5);
  EXPECT_EQ(Csv("a,b\n\"1,25\",x\n\"2,5\",y\n").columns[0].Number(1), 2.5);  // the mark within quotes
  ExpectBad("a;b\n1.5;1\n2.5;1\n3,5;1\n", {"t.csv:4", "not a number", "--decimal comma"}, {.strict = true});
  ExpectBad(
      "a\n$1\n$2\n\xE2\x82\xAC"
      "3\n",
      {"t.csv:4", "in a column in $"}, {.strict = true});
}

TEST(CsvTest, SkipsComments) {
  const Table table = Csv("# a file\n#\na,b\nx,2\n# in between\ny,4\n#z,6\n");
  EXPECT_EQ(table.ColumnNames(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{4, 6, 7}));  // a record is a record
  EXPECT_EQ(Csv("#a,b\n1,2\n").ColumnNames(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(Csv("tag\n#one\n#two\n").rows, 2);
}

TEST(CsvTest, NamesBadNumbers) {
  const std::string text = "a,b\n1,2\n3,4\n5,x7\n";
  ExpectBad(text, {"t.csv:4:", "column 'b'", "not a number", "'x7'", "--text-columns b"}, {.strict = true});
  EXPECT_EQ(TextAt(Csv(text, {.text_columns = {"b"}}).columns[1], 2), "x7");
  EXPECT_EQ(TextAt(Csv(text, {.text_columns = {"-1"}}).columns[1], 2), "x7");
  ExpectError([&] { Csv("alpha,beta\n1,2\n", {.text_columns = {"bata"}}); }, ErrorCode::kNotFound, {"bata", "beta"});
  ExpectBad("a\n1\n2\n1e400\n", {"t.csv:4", "out of range", "1e400"}, {.strict = true});
  ExpectBad("a\n1\n2\n-inf\n", {"t.csv:4", "not a finite number", "-inf"}, {.strict = true});
  ExpectBad("a\n1\n2\n1,5\n", {"expected 1 field, found 2"}, {.separator = ','});
  for (const char* bad : {"1.5.2", "--1", "+-1", "1 2", "0x10", "1e", "e5", "1_000", "9007199254740993"}) {
    ExpectBad(std::string("a\n1\n2\n3\n") + bad + "\n", {"t.csv:5", "number", bad}, {.separator = ',', .strict = true});
  }
  ExpectBad("a,b\n1,\"x\n2\n3\"\n4,5\n6,7\n8,9\n", {"t.csv:2", "column 'b'"}, {.strict = true});  // lines count on
  ExpectBad("a,b\n\"1\",\"2\"\n3,4\n\n5,oops\n", {"t.csv:5", "oops"}, {.strict = true});
}

TEST(CsvTest, CutsLongValuesBetweenCharacters) {
  std::string value = "x";
  for (int i = 0; i < 100; ++i) {
    value += "\xC3\xA9";
  }
  const auto context =
      ExpectError([&] { Csv("a,b\n1,2\n1,2\n1," + value + "\n", {.strict = true}); }, ErrorCode::kBadData, {"t.csv:4"});
  EXPECT_EQ(context.value.size(), 59U + 3U);
}

TEST(CsvTest, RefusesRaggedRows) {
  ExpectBad("a,b,c\n1,2,3\n4,5\n", {"t.csv:3", "expected 3 fields, found 2"});
  ExpectBad("a,b,c\n1,2,3\n4,5,6,7,8\n", {"t.csv:3", "expected 3 fields, found 5"});
  ExpectBad("a,b\n\"x\ny\",1\n\"z\nw\",2,3\n", {"t.csv:4", "expected 2 fields, found 3"});
}

TEST(CsvTest, RefusesBadFiles) {
  ExpectBad("a,b\n", {"holds no rows", "--header no"});
  ExpectBad("\n\n \r\n", {"the file is empty"});
  ExpectBad("\xEF\xBB\xBF", {"the file is empty"});
  ExpectBad("a,b,a\n1,2,3\n", {"same name", "'a'"});
  ExpectBad(std::string("a,b\n1,\0\n", 8), {"t.csv:2", "NUL"});
  ExpectBad("a,b\n1,caf\xE9\n", {"t.csv:2", "UTF-8", "0xe9", "--encoding"}, {.encoding = "utf-8"});
  ExpectError([] { Csv("a,b\n1,x\n", {.encoding = "klingon"}); }, ErrorCode::kInvalidArgument, {"klingon", "utf-16"});
  ExpectBad("a,b\n1,\"x\n2,y\n", {"t.csv:2", "never closed"});
  ExpectBad("a,b\n1,\"x\" y\n", {"t.csv:2", "after the closing quote", "y"});
  EXPECT_EQ(TextAt(Csv("a,b\n1,caf\xC3\xA9\n").columns[1], 0), "caf\xC3\xA9");
}

TEST(ReaderTest, DispatchesAndRefuses) {
  const TemporaryFolder dir;
  EXPECT_EQ(ReadTable(dir.Write("noname", Gzip("a,b\n1,2\n"))).rows, 1);
  EXPECT_EQ(ReadData(dir.Write("kdd", "1,tcp\n2,udp\n")).train.rows, 2);
  ExpectError([&] { ReadData(dir.Path("none.csv")); }, ErrorCode::kNotFound, {"none.csv"});
  ExpectError([&] { ReadTable(dir.Path()); }, ErrorCode::kIo, {"is a directory"});
  ExpectError([&] { ReadData(dir.Write("empty.csv", "")); }, ErrorCode::kBadData, {"empty.csv", "file is empty"});
  ExpectError([&] { ReadData(dir.Write("x.bin", std::string("ab\0\1\2", 5))); }, ErrorCode::kBadData,
              {"unknown format", "idx, npy, xlsx, ods, csv"});
  ExpectError([&] { ReadData(dir.Write("x.zip", std::string("PK\3\4\0\0", 6))); }, ErrorCode::kBadData,
              {"zip archive"});
  ExpectError([&] { ReadData(dir.Write("x.npy", "a,b\n")); }, ErrorCode::kBadData, {"not a .npy file"});
  ExpectError([&] { ReadData(dir.Write("a-images-idx3-ubyte", "hello")); }, ErrorCode::kBadData, {"magic"});
  ExpectError([&] { ReadData(dir.Write("x.csv", std::string("a\0b", 3))); }, ErrorCode::kBadData, {"NUL"});
}

TEST(TableTest, FindsColumns) {
  const Table table = Csv("price,volume,1\n1,2,3\n4,5,6\n", {.header = Header::kYes});
  EXPECT_EQ(table.FindColumn("volume"), 1);
  EXPECT_EQ(table.FindColumn("0"), 0);
  EXPECT_EQ(table.FindColumn("1"), 2);  // a name comes before a number
  EXPECT_EQ(table.FindColumn("-1"), 2);
  ExpectError([&] { table.FindColumn("volme"); }, ErrorCode::kNotFound, {"t.csv", "volme", "Did you mean 'volume'?"});
  ExpectError([&] { table.FindColumn("3"); }, ErrorCode::kNotFound, {"0 to 2"});
  ExpectError([&] { table.FindColumn("-4"); }, ErrorCode::kNotFound, {"-3"});
}

}  // namespace
}  // namespace lamina
