// Rows of a request: names of columns and cells, whatever protocol brought them.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/serve/json_cursor.h"

namespace lamina::serve {

struct GridCell {
  enum class Kind : uint8_t { kMissing, kNumber, kText };
  Kind kind = Kind::kMissing;
  double number = 0;
  std::string_view text;  // of a text, and of a number as it was written (where it was)
};

/// Thrown by a grid of numbers at what is no JSON number: read the request again, as a grid of any cells.
struct NotPlain : std::exception {};

/// `Cell` is GridCell, or double: most requests are numbers alone, and those take a quarter of the memory without what
/// they were written as. A missing number is NaN.
template <class Cell>
struct BasicGrid {
  std::vector<std::string> names;  // of the columns; empty: in the model's order
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<Cell> cells;        // row after row
  std::deque<std::string> owned;  // texts that are no part of the request

  /// What a row lacks.
  static Cell Missing();
  /// One value; a true and a false are texts.
  Cell ReadCell(JsonCursor& json);
  /// A list of rows: lists (by position), objects (by name; what a row lacks is missing) or, of one column, values.
  void ReadRows(JsonCursor& json);
  /// One row as an object.
  void ReadRow(JsonCursor& json);
  /// An object of columns, each a list of values, or of columns by row numbers as pandas writes them.
  void ReadColumns(JsonCursor& json);
  /// A list of names; numbers among them are places, so that there are no names.
  void ReadNames(JsonCursor& json);
  /// Throws Error(kBadData) unless names and rows fit together.
  void Check() const;

 private:
  int64_t ColumnOf(std::string_view name, int64_t hint);
  void AddColumn(std::string_view name);
  void BeginRow();
  void ReadList(JsonCursor& json);
};

using CellGrid = BasicGrid<GridCell>;
using NumberGrid = BasicGrid<double>;
template <>
GridCell CellGrid::Missing();
template <>
GridCell CellGrid::ReadCell(JsonCursor& json);
template <>
double NumberGrid::Missing();
template <>
double NumberGrid::ReadCell(JsonCursor& json);
extern template struct BasicGrid<GridCell>;
extern template struct BasicGrid<double>;

}  // namespace lamina::serve
