// Which kind of book an archive is, and the way back from lines of the text to rows and cells of the sheet.
#include "lamina/data/files/workbook.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/csv.h"
#include "lamina/data/files/number_formats.h"
#include "lamina/data/files/ods.h"
#include "lamina/data/files/reader.h"
#include "lamina/data/files/xlsx.h"
#include "lamina/data/files/zip_file.h"

namespace lamina {
namespace {

constexpr size_t kNameInLocal = 30;  // where the name of the first member is

[[noreturn]] void ThrowNoBook(const ZipFile& zip) {
  constexpr size_t kShown = 3;
  const std::vector<ZipMember>& members = zip.members();
  std::string list;
  for (size_t i = 0; i < std::min(kShown, members.size()); ++i) {
    list += fmt::format("{}'{}'", i == 0 ? "" : ", ", WithoutControls(Excerpt(members[i].name)));
  }
  if (members.size() > kShown) {
    list += fmt::format(" and {} more", members.size() - kShown);
  }
  std::string known;
  for (const FormatRow& format : FormatTable()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.name);
  }
  throw Error(
      ErrorCode::kBadData,
      members.empty() ? "is a zip archive with nothing in it"
                      : fmt::format("is a zip archive, not a workbook; it holds {}", list),
      {.file = zip.source(), .remedy = fmt::format("Unpack it and name one of its files; {} can be read.", known)});
}

// The place of the column that messages about the text call `name`; -1 for another one.
int64_t ColumnInSheet(const Sheet& sheet, const std::string& name) {
  int64_t at = name.starts_with('c') ? ParseInteger(std::string_view(name).substr(1)).value_or(-1) : -1;
  for (const std::vector<std::string>& head : sheet.csv.heads) {  // c0, c1, ... are those without a name
    if (const auto named = std::find(head.begin(), head.end(), name); named != head.end()) {
      at = named - head.begin();
      break;
    }
  }
  return at >= 0 && at < sheet.origin.columns ? sheet.origin.first_column + at : -1;
}

// The line of the text that row `row` of the sheet has become.
int64_t LineOfRow(const Sheet& sheet, int64_t row, const std::string& source) {
  const std::vector<int64_t>& rows = sheet.csv.rows;
  const auto found = std::lower_bound(rows.begin(), rows.end(), row);
  if (found == rows.end() || *found != row) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the names of columns cannot be in row {} of the sheet: it is empty", row),
                {.file = source, .setting = "header-line"});
  }
  return 1 + (found - rows.begin());
}

// About the sheet what `error` says about its text.
Error InSheet(const Error& error, const Sheet& sheet) {
  ErrorContext context = error.context();
  std::string message = error.message();
  if (context.line > 0) {
    const size_t line = std::min(static_cast<size_t>(context.line), sheet.csv.rows.size());
    context.line = sheet.csv.rows[line - 1];
    if (const int64_t column = ColumnInSheet(sheet, context.column); column >= 0) {
      message += fmt::format(" in cell {}{}", ColumnLetters(column), context.line);
    }
  }
  return Error(error.code(), std::move(message), std::move(context));
}

}  // namespace

bool LooksLikeOds(std::string_view start, std::string_view /*path*/) {
  constexpr std::string_view kFirst = "mimetype";
  return start.starts_with("PK\x03\x04") && start.size() > kNameInLocal + kFirst.size() &&
         start.substr(kNameInLocal).starts_with(kFirst) &&
         start.substr(kNameInLocal + kFirst.size()).find(kOdsType) != std::string_view::npos;
}

bool LooksLikeXlsx(std::string_view start, std::string_view path) {
  return (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) && !LooksLikeOds(start, path);
}

Sheet ReadSheet(std::string_view content, const std::string& source, const SheetQuery& query) {
  const ZipFile zip(content, source);
  if (std::optional<Sheet> sheet = ReadOdsSheet(zip, query)) {
    return std::move(*sheet);
  }
  if (std::optional<Sheet> sheet = ReadXlsxSheet(zip, query)) {
    return std::move(*sheet);
  }
  ThrowNoBook(zip);
}

Table ReadWorkbook(std::string content, const std::string& source, const ReadOptions& options) {
  ReadOptions of_text = options;
  of_text.separator = ',';
  of_text.decimal = options.decimal == Decimal::kComma ? Decimal::kComma : Decimal::kPoint;
  of_text.encoding = "utf-8";
  Sheet sheet = ReadSheet(content, source, {options.sheet, of_text.decimal == Decimal::kComma ? ',' : '.'});
  content = {};
  if (options.header_line > 0) {
    of_text.header_line = LineOfRow(sheet, options.header_line, source);
  }
  try {
    Table table = ReadCsv(std::move(sheet.csv.text), source, of_text);
    for (int64_t& line : table.lines) {
      line = sheet.csv.rows[static_cast<size_t>(line - 1)];
    }
    for (int64_t* line : {&table.frame.begin, &table.frame.units, &table.frame.sums, &table.frame.notes}) {
      *line = *line == 0 ? 0 : sheet.csv.rows[static_cast<size_t>(*line - 1)];
    }
    table.sheet = std::move(sheet.origin);
    return table;
  } catch (const Error& error) {
    throw InSheet(error, sheet);
  }
}

void RefuseOldBook(std::string_view content, const std::string& source) {
  constexpr std::string_view kMagic = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
  if (!content.starts_with(kMagic)) {
    return;
  }
  std::string wide;  // how such files name their parts: UTF-16
  for (const char c : std::string_view("EncryptedPackage")) {
    wide += c;
    wide += '\0';
  }
  if (content.find(wide) != std::string_view::npos) {
    throw Error(ErrorCode::kUnsupported, "the workbook has a password",
                {.file = source, .remedy = "Save it without one, or as CSV UTF-8."});
  }
  throw Error(ErrorCode::kUnsupported, "is a workbook as Excel wrote them before 2007 (.xls)",
              {.file = source, .remedy = "Save it as .xlsx or as CSV UTF-8."});
}

}  // namespace lamina
