// Column by column.
#include "lamina/run/table_rows.h"

#include <cstring>
#include <unordered_map>
#include <vector>

namespace lamina {
namespace {

void CopyNumbers(const Column& from, std::span<const int64_t> rows, Column& to) {
  const auto size_bytes = static_cast<size_t>(DTypeSize_bytes(from.dtype));
  const auto numbers = std::make_shared<std::vector<char>>(rows.size() * size_bytes);
  const auto* const first = static_cast<const char*>(from.numbers);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(numbers->data() + i * size_bytes, first + static_cast<size_t>(rows[i] * from.stride) * size_bytes,
                size_bytes);
  }
  to.numbers = numbers->data();
  to.owner = numbers;
  to.mapping = nullptr;
  to.stride = 1;
}

void CopyOddCells(const OddCells& from, std::span<const int64_t> rows, OddCells& to) {
  to.cells.clear();
  if (from.cells.empty()) {
    return;
  }
  std::unordered_map<int64_t, int32_t> words;
  for (const OddCells::Cell& cell : from.cells) {
    words[cell.row] = cell.word;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (const auto found = words.find(rows[i]); found != words.end()) {
      to.cells.push_back({static_cast<int64_t>(i), found->second});
    }
  }
}

}  // namespace

Table TableOfRows(const Table& table, std::span<const int64_t> rows) {
  Table some = table;
  some.rows = static_cast<int64_t>(rows.size());
  some.lines.clear();
  for (const int64_t row : rows) {
    if (!table.lines.empty()) {
      some.lines.push_back(table.LineOf(row));
    }
  }
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const Column& from = table.columns[c];
    Column& to = some.columns[c];
    to.codes.clear();
    for (const int64_t row : rows) {
      if (!from.codes.empty()) {
        to.codes.push_back(from.codes[static_cast<size_t>(row)]);
      }
    }
    if (from.numbers != nullptr) {
      CopyNumbers(from, rows, to);
    }
    CopyOddCells(from.odd, rows, to.odd);
  }
  return some;
}

}  // namespace lamina
