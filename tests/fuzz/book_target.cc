// Readers of books: zip archives, .xlsx, .ods.
#include <algorithm>
#include <array>
#include <cmath>

#include "lamina/base/error.h"
#include "lamina/data/files/workbook.h"
#include "lamina/data/files/xlsx_parts.h"
#include "lamina/data/files/zip_file.h"
#include "tests/data/book_writer.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

const std::string kBookSource = "input.book";

// Every line of the text has its row, in rising order, and the table those of its rows.
void ReadBook(const std::string& archive, const std::string& sheet_name, char decimal) {
  constexpr int64_t kMost_bytes = 1 << 20;  // what makes more of so little is not looked at further
  Sheet sheet;
  if (!Accepts(kBookSource, [&] { sheet = ReadSheet(archive, kBookSource, {sheet_name, decimal, kMost_bytes}); })) {
    return;
  }
  const SheetCsv& csv = sheet.csv;
  Demand(std::count(csv.text.begin(), csv.text.end(), '\n') == std::ssize(csv.rows), "a line without a row");
  Demand(std::is_sorted(csv.rows.begin(), csv.rows.end()) && csv.rows.front() > 0, "rows that do not rise");
  Demand(std::ssize(csv.heads.front()) == sheet.origin.columns && sheet.origin.first_column >= 0,
         "other columns than the text");
  ReadOptions options;
  options.sheet = sheet_name;
  options.decimal = decimal == ',' ? Decimal::kComma : Decimal::kAuto;
  options.parts = 1;
  Table table;
  if (!Accepts(kBookSource, [&] { table = ReadWorkbook(archive, kBookSource, options); })) {
    return;
  }
  Demand(table.rows > 0 && std::ssize(table.lines) == table.rows, "a row without a line");
  Demand(std::is_sorted(table.lines.begin(), table.lines.end()) && table.lines.back() <= csv.rows.back(),
         "lines of other rows");
  Demand(std::ssize(table.columns) <= sheet.origin.columns, "more columns than the sheet has");
  for (const Column& column : table.columns) {
    for (int64_t row = 0; row < table.rows; ++row) {
      Demand(column.kind == ColumnKind::kText ? column.codes[static_cast<size_t>(row)] < std::ssize(column.categories)
                                              : !std::isinf(column.Number(row)),
             "a cell of no value");
    }
    Demand(!table.CellText(0, column).empty(), "a cell without a place");
  }
}

// First byte: an archive as it is (0), or one made of the rest, so that sums are right. Its lowest bits choose .xlsx or
// .ods, the sheet by name, decimal commas, deflated. Parts are ended by a byte 1: sheet, styles, texts, properties of
// the book; of .ods: tables and styles.
void FuzzBook(std::string_view input) {
  Bytes bytes(input);
  const uint8_t how = bytes.Byte();
  if (how == 0) {
    ReadBook(std::string(bytes.Rest()), "", '.');
    return;
  }
  std::array<std::string, 4> parts;
  for (std::string& part : parts) {
    part = bytes.Until('\1');
  }
  const BookParts book = (how & 1) != 0 ? XlsxParts({{"~No", ""}, {"One", parts[0]}}, parts[1], parts[2], parts[3])
                                        : OdsParts(parts[0], parts[1]);
  ReadBook(ZipOf(book, (how & 8) != 0), (how & 2) != 0 ? "One" : "", (how & 4) != 0 ? ',' : '.');
}

// A zip archive: whatever its list says, members are read or refused. First byte odd: one that is made, then a byte of
// it changed.
void FuzzZip(std::string_view input) {
  Bytes bytes(input);
  const uint8_t how = bytes.Byte();
  std::string archive;
  std::string payload;
  uint8_t change = 0;
  if (how % 2 == 1) {
    const int64_t at = bytes.Below(1 << 16);
    change = bytes.Byte();
    payload = bytes.Rest();
    archive = ZipOf({{"a", payload}, {"b", ""}}, (how & 2) != 0);
    archive[static_cast<size_t>(at) % archive.size()] ^= static_cast<char>(change);
  } else {
    archive = bytes.Rest();
  }
  Accepts(kBookSource, [&] {
    const ZipFile zip(archive, kBookSource);
    for (const ZipMember& member : zip.members()) {
      Demand(zip.Find(member.name) != nullptr, "a member that is not found");
      constexpr uint64_t kMostWhole_bytes = 1 << 24;
      const std::string whole = zip.ReadWhole(member, kMostWhole_bytes);
      Demand(whole.size() == member.size_bytes, "another size than the list says");
      Demand(change != 0 || how % 2 == 0 || member.name != "a" || whole == payload, "another content");
    }
  });
  const std::string plain = WithoutEscapes(bytes.Rest());
  Demand(plain.size() <= bytes.Rest().size(), "a text that grew");
}

const RegisteredTargets book_targets{{"book", &FuzzBook}, {"zip", &FuzzZip}};

}  // namespace
}  // namespace lamina::fuzz
