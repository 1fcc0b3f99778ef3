// Grids from JSON.
#include "lamina/serve/cell_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "lamina/base/error.h"

namespace lamina::serve {
namespace {

constexpr int64_t kMostColumns = 1 << 20;

[[noreturn]] void RefuseGrid(const std::string& what) { throw Error(ErrorCode::kBadData, what, {.file = "request"}); }

}  // namespace

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

void CellGrid::AddColumn(std::string_view name) {
  if (columns >= kMostColumns) {
    RefuseGrid(fmt::format("more than {} columns", kMostColumns));
  }
  names.emplace_back(name);
  if (rows > 0) {
    std::vector<GridCell> wider(static_cast<size_t>(rows * (columns + 1)));
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(cells.begin() + row * columns, columns, wider.begin() + row * (columns + 1));
    }
    cells = std::move(wider);
  }
  ++columns;
}

int64_t CellGrid::ColumnOf(std::string_view name, int64_t hint) {
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

void CellGrid::BeginRow() {
  ++rows;
  cells.resize(static_cast<size_t>(rows * columns));
}

void CellGrid::ReadRow(JsonCursor& json) {
  if (rows > 0 && names.empty()) {
    RefuseGrid(fmt::format("row {} (counted from 0) has names, the rows before it have none", rows));
  }
  BeginRow();
  int64_t hint = 0;
  int64_t seen = 0;
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
    ++seen;
  });
}

void CellGrid::ReadList(JsonCursor& json) {
  const size_t before = cells.size();
  json.Array([&] { cells.push_back(ReadCell(json)); });
  const auto count = static_cast<int64_t>(cells.size() - before);
  if (rows == 0 && columns == 0) {
    columns = count;
  }
  if (count != columns) {
    RefuseGrid(fmt::format("row {} (counted from 0) has {} values, not {}", rows, count, columns));
  }
  ++rows;
}

void CellGrid::ReadRows(JsonCursor& json) {
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

void CellGrid::ReadNames(JsonCursor& json) {
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

void CellGrid::ReadColumns(JsonCursor& json) {
  std::vector<std::vector<GridCell>> read;
  json.Object([&](std::string_view name) {
    names.emplace_back(name);
    std::vector<GridCell>& column = read.emplace_back();
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

void CellGrid::Check() const {
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

}  // namespace lamina::serve
