// Grids from JSON.
#include "lamina/serve/cell_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"

namespace lamina::serve {
namespace {

constexpr int64_t kMostColumns = 1 << 20;

[[noreturn]] void RefuseGrid(const std::string& what) { throw Error(ErrorCode::kBadData, what, {.file = "request"}); }

}  // namespace

template <>
GridCell CellGrid::Missing() {
  return {};
}

template <>
double NumberGrid::Missing() {
  return kNaN;
}

template <>
double NumberGrid::ReadCell(JsonCursor& json) {
  JsonNumber number;
  if (!json.ShortNumber(number)) {
    if (json.Peek() != JsonCursor::Kind::kNumber) {
      throw NotPlain();
    }
    number = json.Number();
  }
  return number.value;
}

template <>
GridCell CellGrid::ReadCell(JsonCursor& json) {
  if (JsonNumber number; json.ShortNumber(number)) {
    return {GridCell::Kind::kNumber, number.value, number.text};
  }
  switch (json.Peek()) {
    case JsonCursor::Kind::kNull: json.Null(); return {};
    case JsonCursor::Kind::kBool: return {GridCell::Kind::kText, 0, json.Bool() ? "true" : "false"};
    case JsonCursor::Kind::kNumber: {
      const JsonNumber number = json.Number();
      return std::isnan(number.value) ? GridCell{} : GridCell{GridCell::Kind::kNumber, number.value, number.text};
    }
    case JsonCursor::Kind::kString: {
      std::string room;
      std::string_view text = json.String(room);
      if (!text.empty() && text.data() == room.data()) {
        text = owned.emplace_back(std::move(room));
      }
      return {GridCell::Kind::kText, 0, text};
    }
    default: json.Fail("a cell is a number, a text, true, false or null");
  }
}

template <class Cell>
void BasicGrid<Cell>::ReadCells(JsonCursor& json, std::vector<Cell>& to) {
  if constexpr (std::is_same_v<Cell, double>) {
    json.ShortNumbers(to);
  }
  to.push_back(ReadCell(json));
}

template <class Cell>
void BasicGrid<Cell>::AddColumn(std::string_view name) {
  if (columns >= kMostColumns) {
    RefuseGrid(fmt::format("more than {} columns", kMostColumns));
  }
  names.emplace_back(name);
  if (rows > 0) {
    std::vector<Cell> wider(static_cast<size_t>(rows * (columns + 1)), Missing());
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(cells.begin() + row * columns, columns, wider.begin() + row * (columns + 1));
    }
    cells = std::move(wider);
  }
  ++columns;
}

template <class Cell>
int64_t BasicGrid<Cell>::ColumnOf(std::string_view name, int64_t hint) {
  if (hint < columns && names[static_cast<size_t>(hint)] == name) {
    return hint;
  }
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    AddColumn(name);
    return columns - 1;
  }
  return found - names.begin();
}

template <class Cell>
void BasicGrid<Cell>::BeginRow() {
  ++rows;
  cells.resize(static_cast<size_t>(rows * columns), Missing());
}

template <class Cell>
void BasicGrid<Cell>::ReadRow(JsonCursor& json) {
  if (rows > 0 && names.empty()) {
    RefuseGrid(fmt::format("row {} (counted from 0) has names, the rows before it have none", rows));
  }
  BeginRow();
  int64_t hint = 0;
  std::vector<bool> told(static_cast<size_t>(columns));
  json.Object([&](std::string_view name) {
    const int64_t column = ColumnOf(name, hint);
    told.resize(static_cast<size_t>(columns));
    if (told[static_cast<size_t>(column)]) {
      RefuseGrid(fmt::format("row {} (counted from 0) has column '{}' twice", rows - 1, name));
    }
    told[static_cast<size_t>(column)] = true;
    cells[static_cast<size_t>((rows - 1) * columns + column)] = ReadCell(json);
    hint = column + 1;
  });
}

template <class Cell>
void BasicGrid<Cell>::ReadList(JsonCursor& json) {
  const size_t before = cells.size();
  json.Array([&] { ReadCells(json, cells); });
  const auto count = static_cast<int64_t>(cells.size() - before);
  if (rows == 0 && columns == 0) {
    columns = count;
  }
  if (count != columns) {
    RefuseGrid(fmt::format("row {} (counted from 0) has {} values, not {}", rows, count, columns));
  }
  ++rows;
}

template <class Cell>
void BasicGrid<Cell>::ReadRows(JsonCursor& json) {
  const bool named = !names.empty() || columns > 0;  // or numbered
  json.Array([&] {
    const JsonCursor::Kind kind = json.Peek();
    if (kind == JsonCursor::Kind::kObject && !named) {
      ReadRow(json);
    } else if (kind == JsonCursor::Kind::kArray) {
      if (!named && !names.empty()) {
        RefuseGrid(fmt::format("row {} (counted from 0) has no names, the rows before it have", rows));
      }
      ReadList(json);
    } else {  // of one column
      if ((rows > 0 || named) && columns != 1) {
        RefuseGrid(fmt::format("row {} (counted from 0) is one value, not {}", rows, columns));
      }
      columns = 1;
      cells.push_back(ReadCell(json));
      ++rows;
    }
  });
}

template <class Cell>
void BasicGrid<Cell>::ReadNames(JsonCursor& json) {
  bool numbers = false;
  json.Array([&] {
    std::string room;
    const bool number = json.Peek() == JsonCursor::Kind::kNumber;
    numbers |= number;
    names.emplace_back(number ? json.Number().text : json.String(room));
  });
  columns = std::ssize(names);
  if (numbers) {  // what pandas has where nobody gave names
    names.clear();
  }
}

template <class Cell>
void BasicGrid<Cell>::ReadColumns(JsonCursor& json) {
  std::vector<std::vector<Cell>> read;
  json.Object([&](std::string_view name) {
    names.emplace_back(name);
    std::vector<Cell>& column = read.emplace_back();
    if (json.Peek() == JsonCursor::Kind::kArray) {
      json.Array([&] {
        if (json.Peek() == JsonCursor::Kind::kArray) {  // a tensor of rows × 1
          json.Array([&] { column.push_back(ReadCell(json)); });
        } else {
          column.push_back(ReadCell(json));
        }
      });
    } else if (json.Peek() == JsonCursor::Kind::kObject) {
      json.Object([&](std::string_view) { column.push_back(ReadCell(json)); });
    } else {
      column.push_back(ReadCell(json));
    }
    if (column.size() != read.front().size()) {
      RefuseGrid(
          fmt::format("column '{}' has {} values, the first has {}", names.back(), column.size(), read.front().size()));
    }
  });
  columns = std::ssize(names);
  rows = read.empty() ? 0 : std::ssize(read.front());
  cells.resize(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      cells[static_cast<size_t>(row * columns + column)] = read[static_cast<size_t>(column)][static_cast<size_t>(row)];
    }
  }
}

template <class Cell>
void BasicGrid<Cell>::Check() const {
  if (rows == 0 || columns == 0) {
    RefuseGrid("there are no rows");
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      RefuseGrid(fmt::format("column '{}' is there twice", name));
    }
  }
}

template struct BasicGrid<GridCell>;
template struct BasicGrid<double>;

}  // namespace lamina::serve
