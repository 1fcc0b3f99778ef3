// Walks over the fields and records of CSV text. Private to the CSV reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lamina {

/// Without spaces, tabs and carriage returns at both ends.
std::string_view TrimField(std::string_view text);
/// How many fields `line` has.
size_t FieldsOfLine(std::string_view line, char separator);

class CsvCursor {
 public:
  /// `content` must end in '\n' and outlive the cursor. `line`: that its first byte is in.
  CsvCursor(std::string_view content, char separator, const std::string& source, int64_t line = 1)
      : at_(content.data()), end_(at_ + content.size()), separator_(separator), source_(&source), line_(line) {}

  bool AtEnd() const { return at_ == end_; }
  /// True when the field just read was the last of its record.
  bool record_ended() const { return record_ended_; }
  /// Line of the next field, 1-based.
  int64_t line() const { return line_; }

  /// The next field; valid until the next call (quoted fields with "" live in a buffer). Throws for broken
  /// quoting.
  std::string_view NextField();
  /// Skips the line if nothing but spaces is on it.
  bool SkipBlankLine();
  /// Skips a line that starts with '#' where it is no record of `columns` fields; in a table of one column it is.
  bool SkipComment(size_t columns);

  // For the fast paths of the parser, which look at the bytes themselves.
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  char separator() const { return separator_; }
  const std::string& source() const { return *source_; }
  /// Moves on if a field ends at `p` (separator or line end); false leaves the cursor where it is.
  bool EndFieldAt(const char* p) {
    if (*p == separator_) {
      at_ = p + 1;
      record_ended_ = false;
      return true;
    }
    if (*p == '\r' && p[1] == '\n') {  // a '\n' is always the last byte, so p[1] exists
      ++p;
    }
    if (*p == '\n') {
      at_ = p + 1;
      record_ended_ = true;
      ++line_;
      return true;
    }
    return false;
  }

 private:
  std::string_view NextQuoted(const char* open);

  const char* at_;
  const char* end_;
  char separator_;
  const std::string* source_;
  std::string buffer_;
  int64_t line_;
  bool record_ended_ = true;
};

}  // namespace lamina
