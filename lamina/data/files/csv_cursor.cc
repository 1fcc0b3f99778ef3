// Field by field over CSV text (RFC 4180, with spaces allowed around quoted fields).
#include "lamina/data/files/csv_cursor.h"

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {

std::string_view TrimField(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view CsvCursor::NextField() {
  const char* p = at_;
  while (*p == ' ' && *p != separator_) {
    ++p;
  }
  if (*p == '"') {
    return NextQuoted(p);
  }
  const char* start = p;
  while (*p != separator_ && *p != '\n') {
    ++p;
  }
  const std::string_view field = TrimField({start, static_cast<size_t>(p - start)});
  EndFieldAt(p);
  return field;
}

std::string_view CsvCursor::NextQuoted(const char* open) {
  const char* p = open + 1;
  const char* piece = p;
  bool doubled = false;
  buffer_.clear();
  while (true) {
    p = std::find(p, end_, '"');
    if (p == end_) {
      throw Error(ErrorCode::kBadData, "a quoted field is never closed",
                  {.file = *source_,
                   .line = line_,
                   .value = Excerpt({open, static_cast<size_t>(end_ - open) - 1}),
                   .remedy = "Close it with a quote, or double quotes that belong to the text."});
    }
    if (p[1] != '"') {  // the final '\n' makes p[1] exist
      break;
    }
    buffer_.append(piece, p + 1);
    doubled = true;
    p += 2;
    piece = p;
  }
  std::string_view field(piece, static_cast<size_t>(p - piece));
  if (doubled) {
    buffer_.append(field);
    field = buffer_;
  }
  const int64_t lines_inside = std::count(open, p, '\n');
  ++p;
  while (*p == ' ' && *p != separator_) {
    ++p;
  }
  const int64_t first_line = line_;
  line_ += lines_inside;
  if (!EndFieldAt(p)) {
    throw Error(ErrorCode::kBadData, "text after the closing quote of a field",
                {.file = *source_,
                 .line = first_line + lines_inside,
                 .value = Excerpt({p, static_cast<size_t>(std::find(p, end_, '\n') - p)}),
                 .remedy = "Double the quotes that belong to the text."});
  }
  return field;
}

bool CsvCursor::SkipBlankLine() {
  const char* p = at_;
  while ((*p == ' ' || *p == '\r') && *p != separator_) {
    ++p;
  }
  if (*p != '\n') {
    return false;
  }
  at_ = p + 1;
  ++line_;
  return true;
}

bool CsvCursor::SkipComment(size_t columns) {
  if (at_ == end_ || *at_ != '#' || columns < 2) {
    return false;
  }
  const char* line_end = std::find(at_, end_, '\n');
  if (FieldsOfLine({at_, static_cast<size_t>(line_end - at_)}, separator_) == columns) {
    return false;
  }
  at_ = line_end + 1;
  ++line_;
  return true;
}

size_t FieldsOfLine(std::string_view line, char separator) {
  bool quoted = false;
  size_t fields = 1;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    fields += c == separator && !quoted ? 1 : 0;
  }
  return fields;
}

}  // namespace lamina
