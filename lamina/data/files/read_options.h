// How a table is read, and what comes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

enum class Header { kAuto, kYes, kNo };
enum class Decimal { kAuto, kPoint, kComma };
/// What happens to lines around a table: titles above its names, units below them, sums and notes at its end.
enum class Around { kSkip, kKeep };

/// A column as it was in an earlier file (of a model's training): this one's is read alike.
struct KnownColumn {
  std::string name;
  ColumnKind kind = ColumnKind::kNumber;
  bool is_date = false;
  ColumnFormat format = {};  // where a file does not show it
  bool is_flag = false;      // its numbers are 0 and 1: "true" and "false" are such, too

  bool operator==(const KnownColumn&) const = default;
};
/// How `column` can be known later.
KnownColumn KnownColumnOf(const Column& column);

struct ReadOptions {
  Header header = Header::kAuto;            // CSV: is the first line column names?
  int64_t header_line = 0;                  // CSV and books: the line (row) that holds the names; 0: by `header`
  Around around = Around::kSkip;            // CSV and books
  char separator = 0;                       // CSV: 0 finds out (comma, semicolon, tab, |, spaces)
  Decimal decimal = Decimal::kAuto;         // CSV: of numbers; kAuto: as each column shows
  DateOrder date_order = DateOrder::kAuto;  // CSV: of dates whose year is not first; kAuto: the same
  std::vector<std::string> text_columns;    // CSV: read as text even if they look like numbers
  std::vector<std::string> missing_values;  // cells that mean "missing", beside CommonMissingMarks()
  bool strict = false;                      // an odd cell among numbers is an error
  std::vector<KnownColumn> known_columns;   // an earlier file's, where this one has them
  /// Answers, by name or number: in text, words such as "none" and "-" are values there. Unknown ones do not matter.
  std::vector<std::string> answer_columns;
  bool by_position = false;       // of rows for a model: the names of columns do not count, their order does
  std::string encoding = "auto";  // CSV: of the text; auto: UTF-8, UTF-16 by its mark, else Windows-1252
  std::string sheet;              // of a book (.xlsx, .ods); "": the first that is not hidden
  /// CSV: a folder for files that hold the columns of numbers, while the text is read piece by piece; "": all in
  /// memory.
  std::string scratch;
  /// CSV: the text is read in so many parts at once, with the same result; 0: by its size and the processors.
  int64_t parts = 0;

  bool operator==(const ReadOptions&) const = default;
};

/// A file or the pair of files that make a data set.
struct ReadResult {
  Table train;
  std::optional<Table> test;          // a folder of IDX files brings its own test set
  std::optional<std::string> target;  // the label column's name where the format knows it (IDX)
};

}  // namespace lamina
