// The CSV reader: checks the text, finds the dialect, then reads every record in one pass.
#include "lamina/data/files/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>

#include "lamina/base/error.h"
#include "lamina/base/utf8.h"
#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/csv_formats.h"
#include "lamina/data/files/csv_records.h"
#include "lamina/data/files/encodings.h"
#include "lamina/data/files/number_file.h"
#include "lamina/data/files/text_file.h"

namespace lamina {
namespace {

[[noreturn]] void ThrowAt(std::string_view content, size_t offset, const std::string& source, std::string message,
                          std::string remedy) {
  const auto line = 1 + std::count(content.begin(), content.begin() + static_cast<ptrdiff_t>(offset), '\n');
  throw Error(ErrorCode::kBadData, std::move(message), {.file = source, .line = line, .remedy = std::move(remedy)});
}

// Bytes of [at, end): returns where the next character begins, which may be behind the end; npos for what is not UTF-8.
size_t CheckUtf8(std::string_view content, size_t at, size_t end) {
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
      return std::string_view::npos;
    }
    at += length;
  }
  return at;
}

// Whether `content`, without a byte order mark, is UTF-8. Throws for what is no text. `done(at)`: what is before is not
// looked at again here.
template <class Done>
bool CheckText(std::string_view content, const std::string& source, const Done& done) {
  constexpr size_t kPiece_bytes = 4 << 20;
  bool blank = true;
  bool utf8 = true;
  for (size_t at = 0; at < content.size();) {
    const std::string_view piece = content.substr(at, kPiece_bytes);
    if (const size_t nul = piece.find('\0'); nul != std::string::npos) {
      ThrowAt(content, at + nul, source, "holds NUL bytes: not a text file",
              "Name a text file, convert this one to CSV, or say what it is with --encoding.");
    }
    blank = blank && piece.find_first_not_of(" \r\n") == std::string::npos;
    const size_t next = utf8 ? CheckUtf8(content, at, at + piece.size()) : std::string_view::npos;
    utf8 = utf8 && next != std::string_view::npos;
    at = utf8 ? std::max(at, next) : at + piece.size();
    done(content.data() + at);
  }
  if (blank) {
    throw Error(ErrorCode::kBadData, "the file is empty", {.file = source});
  }
  return utf8;
}

bool IsUtf16(std::string_view content) { return content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"); }

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Makes `content` UTF-8 and returns what it was; "" for UTF-8.
std::string Decode(std::string& content, const std::string& source, const std::string& asked) {
  const bool automatic = asked == "auto";
  std::string encoding = automatic && IsUtf16(content) ? GuessEncoding(content) : automatic ? "UTF-8" : asked;
  if (encoding != "UTF-8" && encoding != "utf-8") {
    content = ConvertToUtf8(content, encoding);
    CheckText(content, source, [](const char*) {});
    return encoding;
  }
  if (content.starts_with(kByteOrderMark)) {
    content.erase(0, kByteOrderMark.size());
  }
  if (CheckText(content, source, [](const char*) {})) {
    return "";
  }
  if (!automatic) {
    const size_t at = FindNotUtf8(content);
    ThrowAt(content, at, source, fmt::format("not UTF-8 text: byte 0x{:02x}", static_cast<unsigned char>(content[at])),
            "Leave --encoding out, or name another one.");
  }
  content = ConvertToUtf8(content, GuessEncoding(content));
  return "Windows-1252";
}

// Plain UTF-8 that ends in '\n'.
void Normalise(std::string& content) {
  if (content.find('\n') == std::string::npos) {
    std::replace(content.begin(), content.end(), '\r', '\n');  // line ends of old Macintosh files
  }
  if (!content.ends_with('\n')) {
    content += '\n';
  }
}

// Blanks a first line "sep=;", by which Excel knows the separator, and returns that; 0 where there is none.
char BlankSeparatorLine(std::span<char> text) {
  constexpr std::string_view kStart = "sep=";
  const std::string_view content(text.data(), text.size());
  const size_t end = content.find('\n');
  const std::string_view line = TrimField(content.substr(0, end));
  if (end == std::string_view::npos || line.size() > kStart.size() + 1 || !content.starts_with(kStart)) {
    return 0;
  }
  const char separator = content[kStart.size()];
  std::fill_n(text.begin(), end, ' ');
  return separator == '\r' || separator == '\n' ? '\0' : separator;
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

// What is known of columns before they are read.
void ApplyKnown(const std::vector<std::string>& names, const ReadOptions& options, const std::string& source,
                std::vector<CsvColumnPlan>& plans) {
  Table table;  // for its look-up by name or number
  table.source = source;
  table.columns.resize(names.size());
  for (size_t j = 0; j < names.size(); ++j) {
    table.columns[j].name = names[j];
  }
  const auto decide = [&](int64_t column, FieldKind kind) {
    plans[static_cast<size_t>(column)].kind = kind;
    plans[static_cast<size_t>(column)].decided = true;
  };
  for (const KnownColumn& known : options.known_columns) {
    const auto it = std::find(names.begin(), names.end(), known.name);
    if (it != names.end()) {
      decide(it - names.begin(), known.kind == ColumnKind::kText ? FieldKind::kText
                                 : known.is_date                 ? FieldKind::kDate
                                                                 : FieldKind::kNumber);
      CsvColumnPlan& plan = plans[static_cast<size_t>(it - names.begin())];
      ColumnFormat& format = plan.format;
      plan.is_flag = known.is_flag;
      format.unit = known.format.unit;  // amounts in another one are none of the model's
      format.date_order = format.date_order == DateOrder::kAuto ? known.format.date_order : format.date_order;
    }
  }
  for (const std::string& name : options.text_columns) {
    decide(table.FindColumn(name), FieldKind::kText);
  }
  for (const std::string& name : options.answer_columns) {
    if (const std::optional<int64_t> column = table.ColumnIfPresent(name)) {
      plans[static_cast<size_t>(*column)].is_answer = true;
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

// Changes the plans of columns that turned out to be something else; returns whether there are such. `words`: of few
// numbers, a column each.
bool ChangePlans(CsvRecords& records, std::vector<CsvColumnPlan>& plans, std::vector<std::string>& words) {
  bool changed = false;
  for (size_t j = 0; j < plans.size(); ++j) {
    const FieldKind before = records.columns[j].kind();
    const FieldKind kind = records.columns[j].KindByAll();
    if (kind != before) {
      words[j] = kind == FieldKind::kText ? records.columns[j].WordOfFew() : "";
      plans[j].kind = kind;
      changed = true;
    }
  }
  for (CsvColumnPlan& plan : plans) {
    plan.decided = plan.decided || changed;
  }
  return changed;
}

// Of a text without trailing blank lines. `file`: where it is one's, which gives its memory back behind the reader, and
// numbers are kept in files, too; `restore` then brings back what was changed in the text.
struct TextSource {
  std::string_view text;
  char separator;
  const std::string& source;
  TextFile* file = nullptr;
  std::function<void()> restore = [] {};
};

// `numbers`: what the columns need as long as they are not finished.
CsvRecords ReadAll(const TextSource& from, const CsvRecordsPlan& plan, bool header, const ReadOptions& options,
                   std::unique_ptr<NumberFile>& numbers) {
  CsvCursor cursor(from.text, from.separator, from.source);
  while (cursor.SkipBlankLine()) {
  }
  for (bool more = header; more; more = !cursor.record_ended()) {
    cursor.NextField();
  }
  if (from.file == nullptr) {
    return ReadRecords(cursor, plan, options.parts);
  }
  const int64_t columns = std::ssize(plan.names);  // a field has a byte at least, its separator
  numbers = std::make_unique<NumberFile>(options.scratch, columns, std::ssize(from.text) / columns + 1);
  return ReadRecordsToFile(cursor, plan, *from.file, *numbers);
}

Table ReadText(const TextSource& from, const ReadOptions& options) {
  const MissingMarks marks(options.missing_values);
  const CsvSample sample = TakeSample(from.text, from.separator, from.source);
  const bool header =
      options.header == Header::kYes || (options.header == Header::kAuto && DetectHeader(sample, marks));
  const std::vector<std::string> names = ColumnNames(sample.records.front(), header, from.source);
  std::vector<CsvColumnPlan> plans =
      PlanColumns(sample, header, names, {from.text, from.separator, from.source}, marks, options);
  ApplyKnown(names, options, from.source, plans);
  const CsvRules rules{from.source, marks, options.strict};
  Table table;
  table.source = from.source;
  table.has_names = header;
  std::vector<std::string> words(names.size());
  std::unique_ptr<NumberFile> numbers;
  const auto read = [&] {
    return ReadAll(from, {names, plans, rules, EstimateRows(from.text, sample)}, header, options, numbers);
  };
  CsvRecords records = read();
  if (records.lines.empty()) {
    throw Error(ErrorCode::kBadData, "holds no rows, only a header line",
                {.file = from.source, .remedy = "If the first line is data, use --header no."});
  }
  if (ChangePlans(records, plans, words)) {
    from.restore();
    records = {};
    records = read();
  }
  size_t columns = names.size();  // without those behind a last separator of every line
  while (header && columns > 1 && sample.records.front()[columns - 1].empty() &&
         records.columns[columns - 1].kind() == FieldKind::kMissing) {
    --columns;
  }
  table.rows = std::ssize(records.lines);
  table.lines = std::move(records.lines);
  for (size_t j = 0; j < columns; ++j) {
    table.columns.push_back(std::move(records.columns[j]).Finish());
    table.columns[j].word_of_few = words[j];
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
  const std::string encoding = Decode(content, source, options.encoding);
  Normalise(content);
  const char told = BlankSeparatorLine(content);
  const char asked = options.separator != 0 ? options.separator : told;
  BlankLeadingComments(content, asked);
  const char separator = asked != 0 ? asked : DetectSeparator(WithoutTrailingBlankLines(content));
  CheckSeparator(separator);
  if (separator == ' ') {
    CollapseBlanks(content);
  }
  Table table = ReadText({WithoutTrailingBlankLines(content), separator, source}, options);
  table.encoding = encoding;
  return table;
}

Table ReadCsvFile(std::string_view content, const std::string& source, const ReadOptions& options) {
  TextFile file(content, source, options.scratch);
  std::span<char> text = file.text();
  const std::string_view all(text.data(), text.size());
  if (IsUtf16(all) || (options.encoding != "auto" && options.encoding != "utf-8")) {
    return ReadCsv(std::string(all.substr(0, all.size() - 1)), source, options);  // converted, in memory
  }
  if (all.starts_with(kByteOrderMark)) {
    text = text.subspan(kByteOrderMark.size());
  }
  const std::string_view view(text.data(), text.size());
  const char* checked = text.data();
  const bool utf8 = CheckText(view, source, [&](const char* at) {
    file.Release(checked, at);
    checked = at;
  });
  const size_t first_line = view.find('\n');
  const bool old_line_ends = first_line + 1 == view.size() && view.find('\r') < first_line;
  if (!utf8 || old_line_ends) {
    return ReadCsv(std::string(view.substr(0, view.size() - 1)), source, options);  // made anew, in memory
  }
  const auto blank = [&] {
    const char told = BlankSeparatorLine(text);
    const char asked = options.separator != 0 ? options.separator : told;
    BlankLeadingComments(text, asked);
    return asked;
  };
  const char asked = blank();
  const char separator = asked != 0 ? asked : DetectSeparator(WithoutTrailingBlankLines(view));
  CheckSeparator(separator);
  if (separator == ' ') {
    return ReadCsv(std::string(view.substr(0, view.size() - 1)), source, options);
  }
  return ReadText({WithoutTrailingBlankLines(view), separator, source, &file, blank}, options);
}

}  // namespace lamina
