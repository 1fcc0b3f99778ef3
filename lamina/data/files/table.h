// A table as read from a file: named columns of numbers or text, not yet encoded for a network.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

class Mapping;  // base/mapped_file.h

enum class ColumnKind { kNumber, kText };
/// How day, month and year follow one another in dates whose year does not stand first (those need no telling).
enum class DateOrder { kAuto, kDayFirst, kMonthFirst };

/// How the values of a column are written in its file.
struct ColumnFormat {
  char decimal = '.';  // or ','
  DateOrder date_order = DateOrder::kAuto;
  bool order_assumed = false;  // days and months could be the other way round
  std::string unit;            // that stands beside the numbers: "$", "%"

  /// What is not usual about it, "decimal comma", "in $", "dates, day first"; "" for plain numbers.
  std::string Text() const;
  bool operator==(const ColumnFormat&) const = default;
};

/// Cells of a column of numbers (or dates) that are none: they count as missing.
struct OddCells {
  struct Cell {
    int64_t row = 0;
    int32_t word = 0;
  };
  std::vector<Cell> cells;         // in the order of rows
  std::vector<std::string> words;  // what stands there, in order of first appearance

  int64_t count() const { return static_cast<int64_t>(cells.size()); }
  /// "47 cells 'error'", "3 cells 'error', 'off' and 5 more".
  std::string Text() const;
};

/// One column. Numbers are a strided view of memory shared with the table, so that 8-bit images stay 8-bit. A CSV
/// column is dense; an IDX or npy column is one element per row of a row-major block. A missing number is a NaN (f64
/// columns only); a missing text has code -1.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kNumber;
  bool is_date = false;  // the numbers are days since 1970-01-01
  ColumnFormat format;

  const void* numbers = nullptr;
  DType dtype = DType::kF64;
  int64_t stride = 1;  // elements from one row to the next
  std::shared_ptr<const void> owner;
  std::shared_ptr<const Mapping> mapping;  // of the file that holds the numbers; null: they are in memory

  std::vector<int32_t> codes;           // index in categories, per row
  std::vector<std::string> categories;  // in order of first appearance

  OddCells odd;             // of numbers
  std::string word_of_few;  // text: a word among few different numbers, which made the column text

  double Number(int64_t row) const;
  bool IsMissing(int64_t row) const;
  /// Numbers in a file leave the resident memory; they are read again where they are needed.
  void Release() const;
};

/// "2024-03-01", or "2024-03-01 12:30:00" where `days` (since 1970-01-01) is no whole number. The number itself where
/// it is no date that can be read again.
std::string DateText(double days);

/// Where in a book of spreadsheets a table was.
struct SheetOrigin {
  std::string name;
  std::vector<std::string> sheets;  // of the book, hidden ones, too
  bool asked = false;               // for this one, by name
  int64_t first_column = 0;
  int64_t columns = 0;

  /// One of several, and nobody said which.
  bool assumed() const { return !asked && sheets.size() > 1; }
  /// "sheet 'Umsatz', the first of 3", "sheet 'Umsatz'".
  std::string Text() const;
};

/// Lines of a file, rows of a sheet, that stand around a table and are none of its rows; 0: there are none.
struct TableFrame {
  int64_t begin = 0;  // where the table begins, below titles
  int64_t units = 0;  // below the names
  int64_t sums = 0;   // of the rows above
  int64_t notes = 0;  // the first of those at the end
};

/// The columns of one source. Rows are counted from 0.
struct Table {
  std::string source;     // file name, for error messages
  bool has_names = true;  // the columns have names of their own; else c0, c1, ... by the reader
  std::string encoding;   // of a text file that is not UTF-8
  std::optional<SheetOrigin> sheet;
  TableFrame frame;
  int64_t rows = 0;
  std::vector<Column> columns;
  std::vector<int64_t> lines;  // 1-based line of each row in the file or the sheet; empty where lines make no sense
  bool is_image = false;       // all columns are pixels of one image (IDX)
  int64_t image_height = 0;
  int64_t image_width = 0;

  std::vector<std::string> ColumnNames() const;
  /// Index of the column called `name`, or numbered by it (0-based; negative from the end) when no column has
  /// that name. Throws Error(kNotFound) offering the nearest name.
  int64_t FindColumn(std::string_view name) const;
  /// The same without an error; nothing for a name or number that there is not.
  std::optional<int64_t> ColumnIfPresent(std::string_view name) const;
  int64_t LineOf(int64_t row) const { return lines.empty() ? 0 : lines[static_cast<size_t>(row)]; }
  /// "line 5", "row 5" of a sheet, "row 5 (counted from 0)" where lines make no sense.
  std::string RowText(int64_t row) const;
  /// The same of a line.
  std::string LineText(int64_t line) const;
  /// The same of a cell: "cell C5" of a sheet, else its row. `column`: one of `columns`, or a copy.
  std::string CellText(int64_t row, const Column& column) const;
};

/// 0, 1, ... of all rows.
std::vector<int64_t> AllRowsOf(const Table& table);
/// `most` of the rows, evenly spread; all where they are fewer.
std::vector<int64_t> SpreadOut(std::span<const int64_t> rows, int64_t most);
/// Those of them that have a value in the column.
std::vector<int64_t> SpreadOut(std::span<const int64_t> rows, int64_t most, const Column& with);

/// A number as a category and in messages: "3", "2.5".
std::string NumberName(double value);

/// An Error(kBadData) about one cell, with the file, line, column and value filled in.
[[noreturn]] void ThrowCell(const Table& table, int64_t row, const Column& column, const std::string& message,
                            const std::string& remedy);

}  // namespace lamina
