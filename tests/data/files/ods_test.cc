// Tests of books of LibreOffice: cells of all kinds, repeated ones, sheets, damage.
#include "lamina/data/files/ods.h"

#include "lamina/data/files/reader.h"
#include "lamina/data/files/workbook.h"
#include "tests/data/book_writer.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

std::string TableOf(const std::string& rows, const std::string& name = "Tabelle1", const std::string& style = "ta1") {
  return "<table:table table:name=\"" + name + "\" table:style-name=\"" + style + "\">" + rows + "</table:table>";
}

std::string RowOf(const std::string& cells, const std::string& attributes = "") {
  return "<table:table-row " + attributes + ">" + cells + "</table:table-row>";
}

std::string CellOf(const std::string& type, const std::string& value, const std::string& text = "",
                   const std::string& more = "") {
  return "<table:table-cell " + (type.empty() ? "" : "office:value-type=\"" + type + "\" ") + value + " " + more + ">" +
         (text.empty() ? "" : "<text:p>" + text + "</text:p>") + "</table:table-cell>";
}

std::string TextCell(const std::string& text, const std::string& more = "") { return CellOf("string", "", text, more); }
std::string NumberCell(const std::string& number, const std::string& more = "") {
  return CellOf("float", "office:value=\"" + number + "\"", number, more);
}

std::string CsvOfTables(const std::string& tables) { return ReadSheet(ZipOf(OdsParts(tables)), "t.ods", {}).csv.text; }

TEST(OdsTest, CellsBecomeText) {
  EXPECT_EQ(
      CsvOfTables(TableOf(
          RowOf(NumberCell("1.5") + CellOf("percentage", "office:value=\"0.07\"", "7 %") +
                CellOf("currency", "office:value=\"2.5\" office:currency=\"EUR\"", "2,50 \xE2\x82\xAC") +
                CellOf("date", "office:date-value=\"2024-03-01\"", "01.03.24") +
                CellOf("date", "office:date-value=\"2024-03-01T12:30:00\"", "01.03.24") +
                CellOf("time", "office:time-value=\"PT25H30M00S\"", "25:30") +
                CellOf("boolean", "office:boolean-value=\"true\"", "WAHR") +
                CellOf("boolean", "office:boolean-value=\"false\"", "FALSCH") +
                TextCell("a<text:s text:c=\"2\"/>b<text:span>c</text:span><text:line-break/>d</text:p><text:p>e") +
                CellOf("string", "office:string-value=\"\"", "#NV", "calcext:value-type=\"error\"") +
                CellOf("float", "office:value=\"0\"", "#DIV/0!", "calcext:value-type=\"error\"")))),
      "1.5,\"7 %\",2.5,\"2024-03-01\",\"2024-03-01T12:30:00\",\"25:30:00\",\"TRUE\",\"FALSE\",\"a  bc\nd\ne\",\"#NV\","
      "\"#DIV/0!\"\n");
}

TEST(OdsTest, CommentsAndCoveredCellsAreNoText) {
  EXPECT_EQ(
      CsvOfTables(TableOf(RowOf(
          "<table:table-cell office:value-type=\"string\"><office:annotation><text:p>note</text:p></office:annotation>"
          "<text:p>a</text:p></table:table-cell><table:covered-table-cell><text:p>x</text:p></"
          "table:covered-table-cell>" +
          NumberCell("3")))),
      "\"a\",,3\n");
}

TEST(OdsTest, RowsAndCellsAreRepeated) {
  const std::string rows =
      RowOf("<table:table-cell/>", "table:number-rows-repeated=\"2\"") +
      RowOf("<table:table-cell table:number-columns-repeated=\"2\"/>" + TextCell("a") + TextCell("b") +
            "<table:table-cell table:number-columns-repeated=\"16380\"/>") +
      RowOf("<table:table-cell table:number-columns-repeated=\"2\"/>" +
                NumberCell("1", "table:number-columns-repeated=\"2\""),
            "table:number-rows-repeated=\"3\"") +
      RowOf("<table:table-cell table:number-columns-repeated=\"16384\"/>", "table:number-rows-repeated=\"1048570\"");
  EXPECT_EQ(CsvOfTables(TableOf(rows)), "\"a\",\"b\"\n1,1\n1,1\n1,1\n");
  const Table table = ReadWorkbook(ZipOf(OdsParts(TableOf(rows))), "t.ods", {});
  EXPECT_EQ(table.lines, (std::vector<int64_t>{4, 5, 6}));
  EXPECT_EQ(table.CellText(0, table.columns[1]), "cell D4");
}

TEST(OdsTest, SheetsAreChosenByName) {
  const std::string hidden =
      "<style:style style:name=\"ta2\" style:family=\"table\">"
      "<style:table-properties table:display=\"false\"/></style:style>";
  const auto rows = [](const std::string& name) { return RowOf(TextCell(name)) + RowOf(NumberCell("1")); };
  const std::string book =
      ZipOf(OdsParts(TableOf(rows("h"), "H", "ta2") + TableOf(rows("a"), "A") + TableOf(rows("b"), "B"), hidden));
  EXPECT_EQ(ReadWorkbook(book, "t.ods", {}).columns[0].name, "a");
  EXPECT_EQ(ReadWorkbook(book, "t.ods", {}).sheet->Text(), "sheet 'A', the first of 3");
  EXPECT_EQ(ReadWorkbook(book, "t.ods", {.sheet = "B"}).columns[0].name, "b");
  ExpectError([&] { ReadWorkbook(book, "t.ods", {.sheet = "C"}); }, ErrorCode::kNotFound,
              {"t.ods", "no such sheet: 'C'", "'H' (hidden), 'A', 'B'"});
}

TEST(OdsTest, DamageIsNamed) {
  const auto expect = [](const BookParts& parts, std::initializer_list<std::string_view> says,
                         ErrorCode code = ErrorCode::kBadData) {
    ExpectError([&] { ReadWorkbook(ZipOf(parts), "t.ods", {}); }, code, says);
  };
  BookParts parts = OdsParts(TableOf(RowOf(NumberCell("1"))));
  expect({parts[0]}, {"t.ods", "'content.xml'"});
  expect(OdsParts("<table:table>"), {"'content.xml'", "no XML"});
  expect(OdsParts(""), {"no sheets"});
  expect(OdsParts(TableOf("")), {"empty", "'Tabelle1'"});
  expect(OdsParts(TableOf(RowOf(NumberCell("1", "table:number-columns-repeated=\"20000\"")))), {"column 16385"});
  expect(OdsParts(TableOf(RowOf(NumberCell("1"), "table:number-rows-repeated=\"0\""))), {"repeated", "'0'"});
  expect(OdsParts(TableOf(RowOf(NumberCell("1"), "table:number-rows-repeated=\"16777217\"") + RowOf(NumberCell("1")))),
         {"16777217"});
  parts.emplace_back("META-INF/manifest.xml", "<manifest:encryption-data/>");
  expect(parts, {"password"}, ErrorCode::kUnsupported);
}

TEST(OdsTest, FilesAreKnownByTheirContent) {
  const TemporaryFolder folder;
  const std::string book = ZipOf(OdsParts(TableOf(RowOf(TextCell("a")) + RowOf(NumberCell("1")))), /*packed=*/false);
  EXPECT_EQ(ReadData(folder.Write("book.bin", book)).train.rows, 1);
  EXPECT_EQ(ReadData(folder.Write("book.ods.gz", Gzip(book))).train.sheet->name, "Tabelle1");
  ExpectError([&] { ReadData(folder.Write("t.csv", "a,b\n1,2\n"), {.sheet = "A"}); }, ErrorCode::kInvalidArgument,
              {"t.csv", "no sheets", "'A'", "--sheet"});
  ExpectError([&] { ReadData(folder.Write("t.csv", "a,b\n1,2\n"), {.sheet = "A", .scratch = folder.Path("")}); },
              ErrorCode::kInvalidArgument, {"no sheets"});
  ExpectError([&] { ReadData(folder.Write("t.xls", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + std::string(600, '\1'))); },
              ErrorCode::kUnsupported, {"t.xls", ".xlsx"});
  int with_sheets = 0;
  for (const FormatRow& format : FormatTable()) {
    with_sheets += format.has_sheets ? 1 : 0;
  }
  EXPECT_EQ(with_sheets, 2);
}

}  // namespace
}  // namespace lamina
