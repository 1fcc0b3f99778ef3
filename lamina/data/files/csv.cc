// The CSV reader: checks the text, finds the dialect, then reads every record in one pass.
#include "lamina/data/files/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_set>

#include "lamina/base/error.h"
#include "lamina/base/utf8.h"
#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/csv_formats.h"
#include "lamina/data/files/csv_records.h"
#include "lamina/data/files/number_file.h"
#include "lamina/data/files/text_file.h"

namespace lamina {
namespace {

[[noreturn]] void ThrowAt(std::string_view content, size_t offset, const std::string& source, std::string message,
                          std::string remedy) {
  const auto line = 1 + std::count(content.begin(), content.begin() + static_cast<ptrdiff_t>(offset), '\n');
  throw Error(ErrorCode::kBadData, std::move(message), {.file = source, .line = line, .remedy = std::move(remedy)});
}

// Text must be UTF-8: names and categories go into JSON. Throws for bytes of [at, end) that are not; returns where the
// next character begins, which may be behind the end.
size_t CheckUtf8(std::string_view content, size_t at, size_t end, const std::string& source) {
  unsigned char any = 0;
  for (const char c : content.substr(at, end - at)) {
    any |= static_cast<unsigned char>(c);
  }
  if (any < 0x80) {
    return end;
  }
  while (at < end) {
    const size_t length = Utf8Length(content, at);
    if (length == 0) {
      ThrowAt(content, at, source,
              fmt::format("not UTF-8 text: byte 0x{:02x}", static_cast<unsigned char>(content[at])),
              "Convert it, for instance with: iconv -f LATIN1 -t UTF-8.");
    }
    at += length;
  }
  return at;
}

// Without a byte order mark; throws for what is no UTF-8 text. `done(at)`: what is before is not looked at again here.
template <class Done>
void CheckText(std::string_view content, const std::string& source, const Done& done) {
  constexpr size_t kPiece_bytes = 4 << 20;
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) {
    ThrowAt(content, 0, source, "is UTF-16 text", "Convert it with: iconv -f UTF-16 -t UTF-8.");
  }
  bool blank = true;
  for (size_t at = 0; at < content.size();) {
    const std::string_view piece = content.substr(at, kPiece_bytes);
    if (const size_t nul = piece.find('\0'); nul != std::string::npos) {
      ThrowAt(content, at + nul, source, "holds NUL bytes: not a text file",
              "Name a text file, or convert this one to CSV.");
    }
    blank = blank && piece.find_first_not_of(" \r\n") == std::string::npos;
    at = std::max(at, CheckUtf8(content, at, at + piece.size(), source));
    done(content.data() + at);
  }
  if (blank) {
    throw Error(ErrorCode::kBadData, "the file is empty", {.file = source});
  }
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Makes `content` plain UTF-8 that ends in '\n', without byte order mark, or throws.
void Normalise(std::string& content, const std::string& source) {
  if (content.starts_with(kByteOrderMark)) {
    content.erase(0, kByteOrderMark.size());
  }
  CheckText(content, source, [](const char*) {});
  if (content.find('\n') == std::string::npos) {
    std::replace(content.begin(), content.end(), '\r', '\n');  // line ends of old Macintosh files
  }
  if (!content.ends_with('\n')) {
    content += '\n';
  }
}

std::vector<std::string> ColumnNames(const std::vector<std::string>& first, bool header, const std::string& source) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (size_t j = 0; j < first.size(); ++j) {
    const std::string generated = fmt::format("c{}", j);
    names.push_back(header && !first[j].empty() ? first[j] : generated);
  }
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw Error(ErrorCode::kBadData, "two columns have the same name",
                  {.file = source, .line = 1, .column = name, .remedy = "Rename one of them in the header line."});
    }
  }
  return names;
}

void ApplyTextColumns(const std::vector<std::string>& names, const ReadOptions& options, const std::string& source,
                      std::vector<CsvColumnPlan>& plans) {
  Table table;  // for its look-up by name or number
  table.source = source;
  table.columns.resize(names.size());
  for (size_t j = 0; j < names.size(); ++j) {
    table.columns[j].name = names[j];
  }
  for (const std::string& name : options.text_columns) {
    plans[static_cast<size_t>(table.FindColumn(name))].kind = FieldKind::kText;
  }
  for (const std::string& name : options.text_columns_if_present) {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it != names.end()) {
      plans[static_cast<size_t>(it - names.begin())].kind = FieldKind::kText;
    }
  }
}

void CheckSeparator(char separator) {
  if (separator == '"' || separator == '\n' || separator == '\r' ||
      std::isalnum(static_cast<unsigned char>(separator))) {
    throw Error(ErrorCode::kInvalidArgument, "cannot separate fields",
                {.value = std::string(1, separator), .remedy = "Use a comma, a semicolon, a tab, a space or |."});
  }
}

// Blanks the lines that start with '#' before the first record, so that lines count on. The last of them is the header
// where it has as many fields as the record behind it: its '#' goes.
void BlankLeadingComments(std::span<char> text, char separator) {
  const std::string_view content(text.data(), text.size());
  size_t begin = 0;
  size_t last = std::string::npos;  // where the last of them begins
  while (begin < content.size() && content[begin] == '#') {
    last = begin;
    begin = content.find('\n', begin) + 1;
  }
  if (last == std::string::npos || content.find_first_not_of(" \r\n", begin) == std::string::npos) {
    return;
  }
  const auto line_at = [&](size_t at) { return content.substr(at, content.find('\n', at) - at); };
  const char mark = separator != 0 ? separator : DetectSeparator(content.substr(begin));
  const size_t fields = FieldsOfLine(line_at(begin), mark);
  const bool header = fields > 1 && FieldsOfLine(line_at(last), mark) == fields;
  for (size_t i = 0; i < begin; ++i) {
    if (content[i] != '\n' && (!header || i <= last)) {
      text[i] = ' ';
    }
  }
}

// Without the empty lines at the end, which would be missing values in a table of one column.
std::string_view WithoutTrailingBlankLines(std::string_view content) {
  const size_t last = content.find_last_not_of(" \r\n");
  return content.substr(0, content.find('\n', last) + 1);
}

size_t EstimateRows(std::string_view content, const CsvSample& sample) {
  size_t sample_bytes = 1;
  for (const auto& record : sample.records) {
    for (const std::string& field : record) {
      sample_bytes += field.size() + 1;
    }
  }
  const double per_record = static_cast<double>(sample_bytes) / static_cast<double>(sample.records.size());
  return std::min(content.size() / sample.records.front().size(),
                  static_cast<size_t>(1.1 * static_cast<double>(content.size()) / per_record)) +
         1;
}

// Of a text without trailing blank lines. `file`: where it is one's, which gives its memory back behind the reader, and
// numbers are kept in files, too.
Table ReadText(std::string_view text, char separator, const std::string& source, const ReadOptions& options,
               TextFile* file) {
  const CsvSample sample = TakeSample(text, separator, source);
  const bool header =
      options.header == Header::kYes || (options.header == Header::kAuto && DetectHeader(sample, options.missing));
  const std::vector<std::string> names = ColumnNames(sample.records.front(), header, source);
  std::vector<CsvColumnPlan> plans = PlanColumns(sample, header, names, {text, separator, source}, options);
  ApplyTextColumns(names, options, source, plans);

  CsvCursor cursor(text, separator, source);
  while (cursor.SkipBlankLine()) {
  }
  for (bool more = header; more; more = !cursor.record_ended()) {
    cursor.NextField();
  }
  const CsvRecordsPlan plan{names, plans, options.missing, EstimateRows(text, sample)};
  CsvRecords records;
  std::unique_ptr<NumberFile> numbers;
  if (file != nullptr) {  // a field has a byte at least, its separator
    numbers =
        std::make_unique<NumberFile>(options.scratch, std::ssize(names), std::ssize(text) / std::ssize(names) + 1);
    records = ReadRecordsToFile(cursor, plan, *file, *numbers);
  } else {
    records = ReadRecords(cursor, plan, options.parts);
  }
  if (records.lines.empty()) {
    throw Error(ErrorCode::kBadData, "holds no rows, only a header line",
                {.file = source, .remedy = "If the first line is data, use --header no."});
  }
  Table table;
  table.source = source;
  table.rows = std::ssize(records.lines);
  table.lines = std::move(records.lines);
  for (CsvColumnBuilder& builder : records.columns) {
    table.columns.push_back(std::move(builder).Finish());
  }
  return table;
}

}  // namespace

bool LooksLikeCsv(std::string_view start, std::string_view path) {
  for (const std::string_view ending : {".csv", ".tsv", ".txt", ".data"}) {
    if (path.ends_with(ending)) {
      return true;
    }
  }
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    return true;  // UTF-16, which the reader names
  }
  return std::none_of(start.begin(), start.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
  });
}

Table ReadCsv(std::string content, const std::string& source, const ReadOptions& options) {
  Normalise(content, source);
  BlankLeadingComments(content, options.separator);
  const char separator =
      options.separator != 0 ? options.separator : DetectSeparator(WithoutTrailingBlankLines(content));
  CheckSeparator(separator);
  if (separator == ' ') {
    CollapseBlanks(content);
  }
  return ReadText(WithoutTrailingBlankLines(content), separator, source, options, nullptr);
}

Table ReadCsvFile(std::string_view content, const std::string& source, const ReadOptions& options) {
  TextFile file(content, source, options.scratch);
  std::span<char> text = file.text();
  if (std::string_view(text.data(), text.size()).starts_with(kByteOrderMark)) {
    text = text.subspan(kByteOrderMark.size());
  }
  const std::string_view view(text.data(), text.size());
  const char* checked = text.data();
  CheckText(view, source, [&](const char* at) {
    file.Release(checked, at);
    checked = at;
  });
  BlankLeadingComments(text, options.separator);
  const char separator = options.separator != 0 ? options.separator : DetectSeparator(WithoutTrailingBlankLines(view));
  CheckSeparator(separator);
  const size_t first_line = view.find('\n');
  if (separator == ' ' || (first_line + 1 == view.size() && view.find('\r') < first_line)) {
    return ReadCsv(std::string(view.substr(0, view.size() - 1)), source, options);  // lines made anew, in memory
  }
  return ReadText(WithoutTrailingBlankLines(view), separator, source, options, &file);
}

}  // namespace lamina
