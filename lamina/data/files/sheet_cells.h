// The filled cells of one sheet, and the CSV text that they become. Private to the readers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

inline constexpr int64_t kMostSheetRows = int64_t{1} << 24;
inline constexpr int64_t kMostSheetColumns = int64_t{1} << 14;

/// Text for ReadCsv: comma, all but plain numbers in quotes.
struct SheetCsv {
  std::string text;
  std::vector<int64_t> rows;                    // of the sheet, 1-based, a row for each line of the text
  std::vector<std::vector<std::string>> heads;  // the texts of the first rows, among which the names of columns are
};

class SheetCells {
 public:
  /// `decimal`: of numbers in the text. `most_bytes`: that may be kept; 0: by the memory of the machine.
  SheetCells(const std::string& source, char decimal, int64_t most_bytes)
      : source_(source), decimal_(decimal), most_bytes_(most_bytes), asked_(most_bytes != 0) {}

  /// The cells that follow are in `row`, 1-based. Throws Error(kBadData) unless it is below the one before.
  void BeginRow(int64_t row);
  /// Blanks at both ends do not count, nor does a cell of nothing else. `column`: from 0, to the right of the one
  /// before, else Error(kBadData). Throws Error(kResource) where there is more than most_bytes.
  void AddText(int64_t column, std::string_view text);
  /// As the sheet's file has it, with a decimal point; `unit`: behind it, "%". What is no number is text.
  void AddNumber(int64_t column, std::string_view number, std::string_view unit = {});
  /// The next `count` rows hold nothing; sheets end with a million of such.
  void SkipRows(int64_t count) { row_ = std::min(row_ + count, kMostSheetRows); }
  /// The next `count` rows hold the same as this one.
  void RepeatRow(int64_t count);

  bool empty() const { return cells_.empty(); }
  int64_t row() const { return row_; }
  /// The first column with a filled cell, from 0.
  int64_t first_column() const { return first_column_; }
  int64_t last_column() const { return last_column_; }
  /// From the first filled row and column on. Rows without a filled cell are left out, but within a single column.
  SheetCsv TakeCsv();

 private:
  struct Cell {
    int64_t begin;  // in text_
    int32_t length;
    int32_t column;
  };
  struct Row {
    int64_t number;
    size_t begin;  // in cells_
  };
  void AddField(int64_t column, std::string_view text, bool quoted);
  void CheckSize(int64_t more_bytes = 0);
  void WriteRow(size_t index, SheetCsv& csv) const;

  std::string source_;
  char decimal_;
  int64_t most_bytes_;
  bool asked_;
  std::string text_;  // fields as CSV has them
  std::vector<Cell> cells_;
  std::vector<Row> rows_;  // the filled ones
  int64_t row_ = 0;
  int64_t column_ = -1;  // of the last cell of the row
  int64_t first_column_ = kMostSheetColumns;
  int64_t last_column_ = -1;
};

/// What a book's reader found.
struct Sheet {
  SheetOrigin origin;
  SheetCsv csv;
};

/// How a book is read.
struct SheetQuery {
  std::string name;        // "": the first one that is not hidden
  char decimal = '.';      // of numbers in the text
  int64_t most_bytes = 0;  // SheetCells
};

struct SheetName {
  std::string name;
  bool hidden = false;
};
/// Throws Error(kNotFound) that lists `sheets`, none of which is what `wanted` asks for.
[[noreturn]] void ThrowNoSheet(const std::vector<SheetName>& sheets, const std::string& wanted,
                               const std::string& source);
/// Which sheet `wanted` asks for. Throws as ThrowNoSheet.
size_t ChooseSheet(const std::vector<SheetName>& sheets, const std::string& wanted, const std::string& source);
/// The chosen sheet as text. Throws Error(kBadData) where it is empty.
Sheet FinishSheet(SheetCells cells, const std::vector<SheetName>& sheets, size_t chosen, const SheetQuery& query,
                  const std::string& source);

}  // namespace lamina
