// Tests of books of Excel: cells of all kinds, formats, sheets, and what is missing or damaged.
#include "lamina/data/files/xlsx.h"

#include "lamina/data/files/number_formats.h"
#include "lamina/data/files/reader.h"
#include "lamina/data/files/workbook.h"
#include "lamina/data/files/xlsx_parts.h"
#include "tests/data/book_writer.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

constexpr double kDay_20240301 = 19783;

Table ReadParts(const BookParts& parts, const ReadOptions& options = {}) {
  return ReadWorkbook(ZipOf(parts), "t.xlsx", options);
}

std::string CsvOfParts(const BookParts& parts) { return ReadSheet(ZipOf(parts), "t.xlsx", {}).csv.text; }

std::string CsvOfSheet(const std::string& rows, const std::string& styles = "", const std::string& texts = "") {
  return CsvOfParts(XlsxParts({{"One", rows}}, styles, texts));
}

void ExpectBadBook(const BookParts& parts, std::initializer_list<std::string_view> says,
                   const std::string& sheet = "") {
  const ErrorContext context = ExpectError([&] { ReadParts(parts, {.sheet = sheet}); },
                                           sheet.empty() ? ErrorCode::kBadData : ErrorCode::kNotFound, says);
  EXPECT_EQ(context.file, "t.xlsx");
}

// A row of texts.
std::string Texts(int row, std::initializer_list<std::string> texts) {
  std::string cells;
  for (const std::string& text : texts) {
    cells += "<c t=\"inlineStr\"><is><t>" + text + "</t></is></c>";
  }
  return "<row r=\"" + std::to_string(row) + "\">" + cells + "</row>";
}

const std::string kStyles =
    "<numFmts><numFmt numFmtId=\"164\" formatCode=\"dd\\.mm\\.yyyy\"/>"
    "<numFmt numFmtId=\"165\" formatCode=\"0.0%;[Red]-0.0%\"/>"
    "<numFmt numFmtId=\"166\" formatCode=\"[$-407]#,##0.00 &quot;days&quot;\"/>"
    "<numFmt numFmtId=\"167\" formatCode=\"[h]:mm\"/></numFmts>"
    "<cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>"
    "<cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"164\"/><xf numFmtId=\"165\"/><xf "
    "numFmtId=\"166\"/>"
    "<xf numFmtId=\"22\"/><xf numFmtId=\"20\"/><xf numFmtId=\"167\"/><xf numFmtId=\"9\"/></cellXfs>"
    "<dxfs><dxf><numFmt numFmtId=\"166\" formatCode=\"yyyy\"/></dxf></dxfs>";

TEST(XlsxTest, CellsBecomeText) {
  EXPECT_EQ(
      CsvOfSheet("<row r=\"1\"><c r=\"A1\"><v>1.5</v></c><c r=\"B1\" t=\"n\"><v>-2E-3</v></c>"
                 "<c r=\"C1\" t=\"b\"><v>1</v></c><c r=\"D1\" t=\"b\"><v>0</v></c><c r=\"E1\" t=\"e\"><v>#N/A</v></c>"
                 "<c r=\"F1\" t=\"str\"><f>A1&amp;\"x\"</f><v>1,5\"x</v></c>"
                 "<c r=\"G1\" t=\"inlineStr\"><is><t> in </t></is></c><c r=\"H1\" t=\"s\"><v>1</v></c>"
                 "<c r=\"I1\" t=\"d\"><v>2024-03-01T00:00:00</v></c></row>",
                 "", "<si><t>first</t></si><si><r><t>two </t></r><r><rPr/><t>runs</t></r><rPh><t>no</t></rPh></si>"),
      "1.5,-2E-3,\"TRUE\",\"FALSE\",\"#N/A\",\"1,5\"\"x\",\"in\",\"two runs\",\"2024-03-01T00:00:00\"\n");
}

TEST(XlsxTest, NumbersKeepTheirDigitsAndFormatsTellDates) {
  EXPECT_EQ(CsvOfSheet("<row r=\"1\"><c s=\"0\"><v>123456789012345678</v></c><c s=\"1\"><v>45352</v></c>"
                       "<c s=\"2\"><v>45352</v></c><c s=\"3\"><v>0.07</v></c><c s=\"4\"><v>12.50</v></c>"
                       "<c s=\"5\"><v>45352.520833333336</v></c><c s=\"6\"><v>0.520833333333333</v></c>"
                       "<c s=\"7\"><v>1.0625</v></c><c s=\"8\"><v>0.125</v></c><c s=\"99\"><v>7</v></c>"
                       "<c s=\"1\"><v>-3</v></c><c s=\"1\"><v>4e9</v></c></row>",
                       kStyles),
            "123456789012345678,\"2024-03-01\",\"2024-03-01\",\"7 %\",12.50,\"2024-03-01 12:30:00\",\"12:30:00\","
            "\"25:30:00\",\"12.5 %\",7,-3,4e9\n");
}

TEST(XlsxTest, DaysMayCountFrom1904) {
  const std::string rows = Texts(1, {"day"}) + "<row r=\"2\"><c s=\"1\"><v>43890</v></c></row>";
  const BookParts parts = XlsxParts({{"One", rows}}, kStyles, "", "<workbookPr date1904=\"1\"/>");
  EXPECT_EQ(CsvOfParts(parts), "\"day\"\n\"2024-03-01\"\n");
  const Table table = ReadParts(parts);
  EXPECT_TRUE(table.columns[0].is_date);
  EXPECT_EQ(table.columns[0].Number(0), kDay_20240301);
}

TEST(XlsxTest, FormatsByCode) {
  const std::pair<const char*, CellFormat> known[] = {{"General", CellFormat::kPlain},
                                                      {"0.00", CellFormat::kPlain},
                                                      {"#,##0 \"Stunden\"", CellFormat::kPlain},
                                                      {"0.00E+00", CellFormat::kPlain},
                                                      {"[Red]0", CellFormat::kPlain},
                                                      {"0\\d", CellFormat::kPlain},
                                                      {"_-* #,##0.00\\ [$\xE2\x82\xAC-407]_-", CellFormat::kPlain},
                                                      {"yyyy-mm-dd", CellFormat::kDate},
                                                      {"mmm", CellFormat::kDate},
                                                      {"DD/MM/YY hh:mm", CellFormat::kDate},
                                                      {"[$-F800]dddd\\,\\ mmmm", CellFormat::kDate},
                                                      {"h:mm AM/PM", CellFormat::kTime},
                                                      {"mm:ss.0", CellFormat::kTime},
                                                      {"[mm]:ss", CellFormat::kElapsed},
                                                      {"[HH]", CellFormat::kElapsed},
                                                      {"0%", CellFormat::kPercent},
                                                      {"0;yyyy", CellFormat::kPlain},
                                                      {"\"%\"0", CellFormat::kPlain},
                                                      {"\"open", CellFormat::kPlain},
                                                      {"[open", CellFormat::kPlain},
                                                      {"", CellFormat::kPlain},
                                                      {"0\\", CellFormat::kPlain}};
  for (const auto& [code, format] : known) {
    EXPECT_EQ(FormatOfCode(code), format) << code;
  }
}

TEST(XlsxTest, DaysAreCountedAsExcelDoes) {
  const auto date = [](double days) { return DateCellText(days, CellFormat::kDate, false); };
  EXPECT_EQ(date(1), "1900-01-01");
  EXPECT_EQ(date(59), "1900-02-28");
  EXPECT_EQ(date(61), "1900-03-01");
  EXPECT_EQ(date(25569), "1970-01-01");
  EXPECT_EQ(date(2958465), "9999-12-31");
  EXPECT_EQ(date(1e300), "");
  EXPECT_EQ(date(25569 + 0.25 / 86400), "1970-01-01 00:00:00.250");
  EXPECT_EQ(DateCellText(0, CellFormat::kDate, true), "1904-01-01");
  EXPECT_EQ(DateCellText(25569.5, CellFormat::kTime, false), "1970-01-01 12:00:00");
  EXPECT_EQ(DateCellText(-0.5, CellFormat::kElapsed, false), "-12:00:00");
  EXPECT_EQ(ColumnLetters(0) + ColumnLetters(25) + ColumnLetters(26) + ColumnLetters(16383), "AZAAXFD");
}

TEST(XlsxTest, TheTableMayStandAnywhere) {
  const std::string rows =
      "<row r=\"3\"><c r=\"C3\" t=\"inlineStr\"><is><t>a</t></is></c>"
      "<c r=\"E3\" t=\"inlineStr\"><is><t>b</t></is></c></row>"
      "<row r=\"4\"><c r=\"A4\" t=\"inlineStr\"><is><t> </t></is></c><c r=\"C4\"><v>1</v></c></row>"
      "<row r=\"5\"/><row r=\"7\"><c r=\"D7\"/><c r=\"E7\"><v>2</v></c></row>";
  EXPECT_EQ(CsvOfSheet(rows), "\"a\",,\"b\"\n1,,\n,,2\n");
  const Table table = ReadParts(XlsxParts({{"One", rows}}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{4, 7}));
  EXPECT_EQ(table.CellText(1, table.columns[2]), "cell E7");
  EXPECT_EQ(table.RowText(1), "row 7");
  EXPECT_EQ(table.sheet->first_column, 2);
}

TEST(XlsxTest, RowsOfASheetAreCountedOverLinesInCells) {
  const std::string rows = Texts(1, {"two\nlines", "b"}) + Texts(2, {"1", "x\ny\nz"}) + Texts(3, {"2", "y"});
  const Table table = ReadParts(XlsxParts({{"One", rows}}), {.header = Header::kYes});
  EXPECT_EQ(table.columns[0].name, "two\nlines");
  EXPECT_EQ(table.lines, (std::vector<int64_t>{2, 3}));
}

TEST(XlsxTest, AnEmptyRowOfOneColumnIsAMissingValue) {
  const Table table = ReadParts(
      XlsxParts({{"One", Texts(2, {"a"}) + "<row r=\"3\"><c><v>1</v></c></row><row r=\"5\"><c><v>2</v></c></row>"}}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_TRUE(table.columns[0].IsMissing(1));
}

TEST(XlsxTest, TextsLikeMarksOfCsvFilesAreTexts) {
  const Table table =
      ReadParts(XlsxParts({{"One", Texts(1, {"#id", "sep=;"}) + Texts(2, {"#1", "x"}) + Texts(3, {"#2", "y"})}}),
                {.header = Header::kYes});
  EXPECT_EQ(table.ColumnNames(), (std::vector<std::string>{"#id", "sep=;"}));
  EXPECT_EQ(table.rows, 2);
  EXPECT_EQ(WithoutEscapes("a_x000D_b_x0041__x0000__xD800__x00e4_ _x12_"), "abA\xC3\xA4 _x12_");
}

TEST(XlsxTest, NumbersInTextMayHaveADecimalComma) {
  const BookParts parts =
      XlsxParts({{"One", Texts(1, {"a", "b"}) + "<row r=\"2\"><c><v>1.25</v></c>"
                                                "<c t=\"inlineStr\"><is><t>2,5</t></is></c></row>"}});
  const Table comma = ReadParts(parts, {.decimal = Decimal::kComma});
  EXPECT_EQ(comma.columns[0].Number(0), 1.25);
  EXPECT_EQ(comma.columns[1].Number(0), 2.5);
  EXPECT_EQ(ReadParts(parts).columns[1].kind, ColumnKind::kText);
}

TEST(XlsxTest, SheetsAreChosenByName) {
  const auto rows = [](const std::string& name) { return Texts(1, {name}) + "<row r=\"2\"><c><v>1</v></c></row>"; };
  const BookParts parts =
      XlsxParts({{"~Hidden", rows("h")}, {"Umsatz", rows("u")}, {"Kosten", rows("k")}, {"Leer", ""}});
  const Table first = ReadParts(parts);
  EXPECT_EQ(first.columns[0].name, "u");
  EXPECT_EQ(first.sheet->Text(), "sheet 'Umsatz', the first of 4");
  const Table named = ReadParts(parts, {.sheet = "Kosten"});
  EXPECT_EQ(named.columns[0].name, "k");
  EXPECT_EQ(named.sheet->Text(), "sheet 'Kosten'");
  EXPECT_EQ(ReadParts(parts, {.sheet = "Hidden"}).columns[0].name, "h");
  ExpectBadBook(parts, {"no such sheet: 'kosten'", "'Hidden' (hidden), 'Umsatz', 'Kosten', 'Leer'"}, "kosten");
  ExpectError([&] { ReadParts(parts, {.sheet = "Leer"}); }, ErrorCode::kBadData, {"empty", "'Leer'", "--sheet"});
  ExpectBadBook(XlsxParts({{"~A", rows("a")}}), {"hidden", "--sheet", "'A'"});
  ExpectBadBook(XlsxParts({}), {"no sheets"});
}

TEST(XlsxTest, ErrorsNameTheCell) {
  std::string rows = Texts(4, {"", "name", "size"});
  for (int i = 5; i < 60; ++i) {
    rows += Texts(i, {"", "x" + std::to_string(i), i == 12 ? "big" : std::to_string(i) + ".5"});
  }
  const BookParts parts = XlsxParts({{"One", rows}});
  ExpectError([&] { ReadParts(parts, {.strict = true}); }, ErrorCode::kBadData,
              {"t.xlsx:12: ", "'size'", "cell C12", "'big'"});
  const Table table = ReadParts(parts);
  ASSERT_EQ(table.columns[1].odd.count(), 1);
  EXPECT_EQ(table.CellText(table.columns[1].odd.cells[0].row, table.columns[1]), "cell C12");
  ExpectError([&] { ThrowCell(table, 7, table.columns[1], "no number", ""); }, ErrorCode::kBadData,
              {"t.xlsx:12: ", "no number in cell C12: 'big'"});
  ExpectBadBook(XlsxParts({{"One", Texts(3, {"a", "a"}) + Texts(4, {"1", "2"})}}), {"t.xlsx:3", "same name"});
}

TEST(XlsxTest, MissingPartsAreNamed) {
  const BookParts whole =
      XlsxParts({{"One", Texts(1, {"a"}) + "<row r=\"2\"><c t=\"s\"><v>0</v></c></row>"}}, "", "<si><t>x</t></si>");
  const auto without = [&](std::string_view name) {
    BookParts parts;
    for (const auto& part : whole) {
      if (part.first != name) {
        parts.push_back(part);
      }
    }
    return parts;
  };
  EXPECT_EQ(ReadParts(whole).rows, 1);
  EXPECT_EQ(ReadParts(without("xl/styles.xml")).rows, 1);
  EXPECT_EQ(ReadParts(without("_rels/.rels")).rows, 1);
  ExpectBadBook(without("xl/workbook.xml"),
                {"a zip archive, not a workbook", "'[Content_Types].xml'", "xlsx, ods, csv"});
  ExpectBadBook(without("xl/_rels/workbook.xml.rels"), {"no cells", "'One'"});
  ExpectBadBook(without("xl/worksheets/sheet1.xml"), {"no cells", "'One'"});
  ExpectBadBook(without("xl/sharedStrings.xml"), {"t.xlsx:2", "cell A2", "a text that the workbook does not have"});
}

TEST(XlsxTest, DamagedSheetsAreNamed) {
  ExpectBadBook(XlsxParts({{"One", "<row"}}), {"'xl/worksheets/sheet1.xml'", "no XML"});
  ExpectBadBook(XlsxParts({{"One", "<row r=\"x\"/>"}}), {"no number", "'x'"});
  ExpectBadBook(XlsxParts({{"One", "<c r=\"B2\"><v>1</v></c>"}}), {"stands in no row", "'B2'"});
  ExpectBadBook(XlsxParts({{"One", "<row r=\"5\"/><row r=\"4\"/>"}}), {"row 4", "after row 5"});
  ExpectBadBook(XlsxParts({{"One", "<row r=\"99999999\"/>"}}), {"row 99999999"});
  ExpectBadBook(XlsxParts({{"One", "<row><c r=\"9\"/></row>"}}), {"no address", "'9'"});
  ExpectBadBook(XlsxParts({{"One", "<row><c r=\"B1\"><v>1</v></c><c r=\"A1\"><v>1</v></c></row>"}}),
                {"cell A1", "after cell B1"});
  ExpectBadBook(XlsxParts({{"One", "<row><c r=\"XFE1\"><v>1</v></c></row>"}}), {"column 16385"});
  BookParts parts = XlsxParts({{"One", Texts(1, {"a"})}});
  parts[2].second = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaa\">]><worksheet>&a;</worksheet>";
  ExpectBadBook(parts, {"'xl/worksheets/sheet1.xml'", "DTD"});
}

TEST(XlsxTest, FewCellsFarApartAreNoTable) {
  std::string rows;
  for (int i = 1; i < 1000; ++i) {
    rows += "<row r=\"" + std::to_string(i) + "\"><c r=\"" + (i == 7 ? "XFD" : "A") + std::to_string(i) +
            "\"><v>1</v></c></row>";
  }
  ExpectBadBook(XlsxParts({{"One", rows}}), {"999 x 16384", "only 999", "far away"});
  const std::string small = ZipOf(XlsxParts({{"One", Texts(1, {std::string(5000, 'x')})}}));
  ExpectError([&] { ReadSheet(small, "t.xlsx", {"", '.', 1000}); }, ErrorCode::kResource, {"t.xlsx", "1000 B", "CSV"});
}

TEST(XlsxTest, OtherArchivesAndOldBooksSayWhatToDo) {
  ExpectBadBook({{"a.npy", ""}, {"b.npy", ""}, {"c", ""}, {"d", ""}}, {"'a.npy', 'b.npy', 'c' and 1 more", "Unpack"});
  ExpectBadBook({}, {"nothing in it"});
  BookParts binary = XlsxParts({{"One", ""}});
  binary[1].second.replace(binary[1].second.find("workbook.xml"), 12, "workbook.bin");
  ExpectError([&] { ReadParts(binary); }, ErrorCode::kUnsupported, {".xlsb", "Save it as .xlsx"});
  const std::string old = std::string("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") + std::string(600, '\0');
  ExpectError([&] { RefuseOldBook(old, "t.xls"); }, ErrorCode::kUnsupported, {"t.xls", "before 2007", ".xlsx"});
  std::string wide;
  for (const char c : std::string("EncryptedPackage")) {
    wide += {c, '\0'};
  }
  ExpectError([&] { RefuseOldBook(old + wide, "t.xlsx"); }, ErrorCode::kUnsupported, {"t.xlsx", "password"});
  RefuseOldBook("a,b\n", "t.csv");
}

}  // namespace
}  // namespace lamina
