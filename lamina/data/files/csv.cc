// The CSV reader: checks the text, makes it UTF-8 with plain line ends, finds the separator; csv_text does the rest.
#include "lamina/data/files/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <span>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/utf8.h"
#include "lamina/data/files/csv_box.h"
#include "lamina/data/files/csv_cursor.h"
#include "lamina/data/files/csv_dialect.h"
#include "lamina/data/files/csv_frame.h"
#include "lamina/data/files/csv_text.h"
#include "lamina/data/files/encodings.h"
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
  MixedText mixed = CellsToUtf8(content);
  content = std::move(mixed.text);
  return mixed.utf8_line == 0 ? "Windows-1252"
                              : fmt::format("a mix of UTF-8 (first in line {}) and Windows-1252 (first in line {})",
                                            mixed.utf8_line, mixed.other_line);
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

bool CanSeparate(char character) {
  return character != '"' && character != '\n' && character != '\r' &&
         std::isalnum(static_cast<unsigned char>(character)) == 0;
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
  const bool names_none = separator == '\r' || separator == '\n';
  if (!names_none && !CanSeparate(separator)) {
    return 0;  // a cell that looks like it
  }
  std::fill_n(text.begin(), end, ' ');
  return names_none ? '\0' : separator;
}

void CheckSeparator(char separator) {
  if (!CanSeparate(separator)) {
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

char SeparatorOf(std::string_view content, const ReadOptions& options) {
  return DetectSeparator(WithoutTrailingBlankLines(content.substr(OffsetOfLine(content, options.header_line))));
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
  const bool is_box = IsBox(content);
  if (is_box) {
    BlankBox(content);
  }
  const char told = is_box ? '|' : BlankSeparatorLine(content);
  const char asked = options.separator != 0 ? options.separator : told;
  BlankLeadingComments(content, asked);
  const char separator = asked != 0 ? asked : SeparatorOf(content, options);
  CheckSeparator(separator);
  if (separator == ' ') {
    CollapseBlanks(content);
  }
  Table table = ReadCsvText({WithoutTrailingBlankLines(content), separator, source}, options);
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
  if (!utf8 || old_line_ends || IsBox(view)) {
    return ReadCsv(std::string(view.substr(0, view.size() - 1)), source, options);  // made anew, in memory
  }
  const auto blank = [&] {
    const char told = BlankSeparatorLine(text);
    const char asked = options.separator != 0 ? options.separator : told;
    BlankLeadingComments(text, asked);
    return asked;
  };
  const char asked = blank();
  const char separator = asked != 0 ? asked : SeparatorOf(view, options);
  CheckSeparator(separator);
  if (separator == ' ') {
    return ReadCsv(std::string(view.substr(0, view.size() - 1)), source, options);
  }
  return ReadCsvText({WithoutTrailingBlankLines(view), separator, source, &file, blank}, options);
}

}  // namespace lamina
