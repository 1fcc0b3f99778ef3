// The sheet is read as it unpacks; of the other parts those that its cells need.
#include "lamina/data/files/xlsx.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/xlsx_parts.h"
#include "lamina/data/files/xml_reader.h"

namespace lamina {
namespace {

constexpr const char* kSaveBookAgain = "Save the file again by a spreadsheet program.";

// What cells refer to.
struct CellParts {
  SharedTexts texts;
  std::vector<CellFormat> formats;
  bool since_1904 = false;
};

// The column of a cell's address, 2 for "C12"; -1 for what is no such address.
int64_t ColumnOf(std::string_view address) {
  int64_t column = 0;
  size_t letters = 0;
  for (; letters < address.size(); ++letters) {
    const char c = static_cast<char>(address[letters] & ~0x20);  // capital
    if (c < 'A' || c > 'Z' || column > kMostSheetColumns) {
      break;
    }
    column = 26 * column + (c - 'A') + 1;
  }
  return letters == 0 ? -1 : column - 1;
}

class SheetHandler : public XmlHandler {
 public:
  SheetHandler(const CellParts& parts, SheetCells& cells, const std::string& source)
      : parts_(parts), cells_(cells), source_(source) {}

  void Start(const XmlElement& element) override {
    const std::string_view name = element.name.local;
    if (name == "sheetData") {
      in_data_ = true;
    } else if (!in_data_) {
      return;
    } else if (name == "row") {
      column_ = -1;
      cells_.BeginRow(RowOf(element.Get("r")));
    } else if (name == "c") {
      StartCell(element);
    } else if (name == "v") {
      in_value_ = true;
    } else if (name == "is") {
      inline_ = true;
    } else if (inline_) {
      rich_.Start(name);
    }
  }

  void End(XmlName name) override {
    if (name.local == "sheetData") {
      in_data_ = false;
    } else if (name.local == "c" && in_data_) {
      AddCell();
    } else if (name.local == "v") {
      in_value_ = false;
    } else if (name.local == "is") {
      inline_ = false;
    } else if (inline_) {
      rich_.End(name.local);
    }
  }

  void Text(std::string_view text) override {
    if (in_value_) {
      value_ += text;
    } else if (inline_) {
      rich_.Text(text);
    }
  }

 private:
  [[noreturn]] void ThrowBook(const std::string& message, std::string_view value) const {
    throw Error(ErrorCode::kBadData, message,
                {.file = source_, .line = cells_.row(), .value = std::string(value), .remedy = kSaveBookAgain});
  }

  int64_t RowOf(std::string_view number) const {
    if (number.empty()) {
      return cells_.row() + 1;
    }
    const std::optional<int64_t> row = ParseInteger(number);
    if (!row || *row < 1) {
      ThrowBook("a row of the sheet has no number", number);
    }
    return *row;
  }

  void StartCell(const XmlElement& element) {
    const std::string_view address = element.Get("r");
    if (cells_.row() < 1) {
      ThrowBook("a cell of the sheet stands in no row", address);
    }
    column_ = address.empty() ? column_ + 1 : ColumnOf(address);
    if (column_ < 0) {
      ThrowBook("a cell of the sheet has no address", address);
    }
    type_ = element.Get("t");
    style_ = ParseInteger(element.Get("s")).value_or(0);
    value_.clear();
    rich_.Clear();
  }

  std::string Address() const { return fmt::format("{}{}", ColumnLetters(column_), cells_.row()); }

  void AddCell() {
    if (type_ == "inlineStr") {
      cells_.AddText(column_, WithoutEscapes(rich_.text()));
    } else if (type_ == "s") {
      const std::optional<int64_t> index = ParseInteger(value_);
      if (value_.empty()) {
        return;
      }
      if (!index || *index < 0 || *index >= static_cast<int64_t>(parts_.texts.size())) {
        ThrowBook(fmt::format("cell {} refers to a text that the workbook does not have", Address()), value_);
      }
      cells_.AddText(column_, parts_.texts[static_cast<size_t>(*index)]);
    } else if (type_ == "b") {
      cells_.AddText(column_, value_ == "1" || value_ == "true" ? "TRUE" : value_.empty() ? "" : "FALSE");
    } else if (type_.empty() || type_ == "n") {
      AddNumberCell();
    } else {  // str, e, d
      cells_.AddText(column_, WithoutEscapes(value_));
    }
  }

  void AddNumberCell() {
    const CellFormat format = style_ > 0 || !parts_.formats.empty() ? FormatOfStyle() : CellFormat::kPlain;
    double value = 0;
    const char* end = value_.data() + value_.size();
    const auto read = fast_float::from_chars(value_.data(), end, value);
    const bool has_format = format != CellFormat::kPlain && read.ec == std::errc() && read.ptr == end;
    if (has_format && format == CellFormat::kPercent) {
      cells_.AddNumber(column_, PercentCellText(value), "%");
      return;
    }
    if (const std::string date = has_format ? DateCellText(value, format, parts_.since_1904) : ""; !date.empty()) {
      cells_.AddText(column_, date);
    } else {
      cells_.AddNumber(column_, value_);
    }
  }

  CellFormat FormatOfStyle() const {
    return style_ >= 0 && style_ < std::ssize(parts_.formats) ? parts_.formats[static_cast<size_t>(style_)]
                                                              : CellFormat::kPlain;
  }

  const CellParts& parts_;
  SheetCells& cells_;
  std::string source_;
  std::string type_;
  std::string value_;
  RichText rich_;
  int64_t style_ = 0;
  int64_t column_ = -1;
  bool in_data_ = false;
  bool in_value_ = false;
  bool inline_ = false;
};

// The book's own part; null where the archive is something else.
const ZipMember* FindBook(const ZipFile& zip) {
  for (const XlsxRelation& relation : ReadRelations(zip, "")) {
    if (relation.type == "officeDocument") {
      if (relation.path.ends_with(".bin")) {
        throw Error(ErrorCode::kUnsupported, "is an .xlsb workbook, whose sheets are not XML",
                    {.file = zip.source(), .remedy = "Save it as .xlsx or CSV UTF-8."});
      }
      const bool is_document = relation.path.starts_with("word/") || relation.path.starts_with("ppt/");
      return is_document ? nullptr : zip.Find(relation.path);
    }
  }
  return zip.Find("xl/workbook.xml");
}

}  // namespace

std::optional<Sheet> ReadXlsxSheet(const ZipFile& zip, const SheetQuery& query) {
  const ZipMember* book_part = FindBook(zip);
  if (book_part == nullptr) {
    return std::nullopt;
  }
  const XlsxBook book = ReadXlsxBook(zip, *book_part);
  const std::vector<XlsxRelation> relations = ReadRelations(zip, book_part->name);
  const auto part_of = [&](auto&& wanted) -> const ZipMember* {
    const auto found = std::find_if(relations.begin(), relations.end(), wanted);
    return found == relations.end() ? nullptr : zip.Find(found->path);
  };
  const size_t chosen = ChooseSheet(book.sheets, query.name, zip.source());
  const ZipMember* sheet_part = part_of([&](const XlsxRelation& relation) {
    return relation.id == book.relations[chosen] && relation.type == "worksheet";
  });
  if (sheet_part == nullptr) {
    throw Error(ErrorCode::kBadData, "the workbook has no cells for its sheet",
                {.file = zip.source(),
                 .value = book.sheets[chosen].name,
                 .remedy = "Is it a chart? Name another sheet with --sheet, or save the file again."});
  }
  CellParts parts;
  parts.since_1904 = book.since_1904;
  if (const ZipMember* styles = part_of([](const XlsxRelation& relation) { return relation.type == "styles"; })) {
    parts.formats = ReadCellFormats(zip, *styles);
  }
  if (const ZipMember* texts = part_of([](const XlsxRelation& relation) { return relation.type == "sharedStrings"; })) {
    parts.texts = ReadSharedTexts(zip, *texts);
  }
  SheetCells cells(zip.source(), query.decimal, query.most_bytes);
  SheetHandler handler(parts, cells, zip.source());
  ReadXml(zip, *sheet_part, handler);
  return FinishSheet(std::move(cells), book.sheets, chosen, query, zip.source());
}

}  // namespace lamina
