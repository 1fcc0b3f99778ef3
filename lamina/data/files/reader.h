// Reading tables: the options, the table of formats, and the entry points.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// Reads `path`: a file of any format in FormatTable(), gzip-compressed or not, or a folder holding
/// {train,t10k}-images-idx3-ubyte[.gz] and labels (the labels become the last column, text categories
/// "0".."9", named "label"), or NAME:FOLDER for a data set of DataSetTable(). Throws Error(kNotFound | kIo | kBadData).
ReadResult ReadData(const std::string& path, const ReadOptions& options = {});

/// The file that describes a folder of encoded data (train/encoded_data.h), which is no table.
inline constexpr const char* kEncodedManifest = "encoded.json";

/// The files that ReadData(path) reads: those of a folder or data set that are there, or `path` itself.
std::vector<std::string> DataFiles(const std::string& path);

/// One table from one file.
Table ReadTable(const std::string& path, const ReadOptions& options = {});

/// One row a format. `matches` looks at the decompressed start of the content and the name without ".gz".
struct FormatRow {
  std::string_view name;
  bool (*matches)(std::string_view start, std::string_view path);
  Table (*read)(std::string content, const std::string& source, const ReadOptions& options);
  bool has_sheets = false;        // of which ReadOptions::sheet chooses one
  std::string_view endings = {};  // of usual names, with blanks between them; for dialogs, readers look at the content
};
std::span<const FormatRow> FormatTable();

/// Folders read as one data set, written NAME:FOLDER.
struct DataSetRow {
  std::string_view name;
  ReadResult (*read)(const std::string& folder, const ReadOptions& options);
  std::vector<std::string> (*files)(const std::string& folder);  // those of its files that are there
};
std::span<const DataSetRow> DataSetTable();

}  // namespace lamina
