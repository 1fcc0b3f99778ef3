// Cells as CSV text in which every field is quoted, for the reader of files.
#include "lamina/data/files/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/stop.h"
#include "lamina/data/files/csv.h"
#include "lamina/data/files/missing_marks.h"

namespace lamina {
namespace {

constexpr int64_t kRowsAtOnce = 1 << 14;  // before somebody asks whether to stop

void AppendQuoted(std::string_view cell, std::string& text) {
  text += '"';
  for (size_t begin = 0;;) {
    const size_t quote = cell.find('"', begin);
    text += cell.substr(begin, quote - begin);
    if (quote == std::string_view::npos) {
      break;
    }
    text += "\"\"";
    begin = quote + 1;
  }
  text += '"';
}

bool Names(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What `options` say about the columns of `table` that are called `names`.
ReadOptions OptionsFor(const Table& table, std::span<const std::string> names, const ReadOptions& options) {
  ReadOptions some = options;
  some.header = Header::kYes;
  some.header_line = 0;
  some.around = Around::kKeep;
  some.separator = ',';
  some.scratch.clear();
  some.by_position = false;
  const auto found = [&](const std::vector<std::string>& asked) {
    std::vector<std::string> present;
    for (const std::string& name : asked) {
      const std::optional<int64_t> column = table.ColumnIfPresent(name);
      if (column && Names(names, table.columns[static_cast<size_t>(*column)].name)) {
        present.push_back(table.columns[static_cast<size_t>(*column)].name);
      }
    }
    return present;
  };
  some.text_columns = found(options.text_columns);
  some.answer_columns = found(options.answer_columns);
  return some;
}

// `text` begins with a line of names; a line of the text is no place that anybody knows.
Table ReadQuoted(std::string text, const std::string& source, const ReadOptions& options) {
  try {
    Table table = ReadCsv(std::move(text), source, options);
    table.lines.clear();
    return table;
  } catch (const Error& error) {
    ErrorContext context = error.context();
    const int64_t row = std::exchange(context.line, 0) - 2;
    throw Error(error.code(),
                row < 0 ? error.message() : fmt::format("{} in row {} (counted from 0)", error.message(), row),
                std::move(context));
  }
}

// Numbers as the texts that they would be in a file.
void MakeText(Column& column, int64_t rows) {
  Column text;
  text.name = column.name;
  text.kind = ColumnKind::kText;
  std::vector<std::pair<double, int32_t>> seen;  // sorted
  for (int64_t row = 0; row < rows; ++row) {
    if (column.IsMissing(row)) {
      text.codes.push_back(-1);
      continue;
    }
    const double value = column.Number(row);
    auto at = std::lower_bound(seen.begin(), seen.end(), std::pair(value, int32_t{0}));
    if (at == seen.end() || at->first != value) {
      at = seen.insert(at, {value, static_cast<int32_t>(text.categories.size())});
      text.categories.push_back(column.is_date ? DateText(value) : NumberName(value));
    }
    text.codes.push_back(at->second);
  }
  column = std::move(text);
}

void BlankMarks(Column& column, int64_t rows, const MissingMarks& marks) {
  const auto numbers = std::make_shared<std::vector<double>>();
  bool found = false;
  for (int64_t row = 0; row < rows; ++row) {
    const double value = column.Number(row);
    const bool marked = marks.ContainsNumber(value);
    found = found || marked;
    numbers->push_back(marked ? kNaN : value);
  }
  if (found) {
    column.numbers = numbers->data();
    column.dtype = DType::kF64;
    column.stride = 1;
    column.owner = numbers;
    column.mapping = nullptr;
  }
}

}  // namespace

Table ReadCells(std::span<const std::string> names, std::span<const std::string_view> cells, const std::string& source,
                const ReadOptions& options) {
  Table named;
  std::string text;
  for (const std::string& name : names) {
    text += named.columns.empty() ? "" : ",";
    AppendQuoted(name, text);
    named.columns.emplace_back().name = name;
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    text += i % names.size() == 0 ? '\n' : ',';
    AppendQuoted(cells[i], text);
  }
  return ReadQuoted(std::move(text), source, OptionsFor(named, names, options));
}

namespace {

// Columns of text as a CSV file would have them.
std::string CsvOf(const std::vector<Column*>& columns, const std::vector<std::string>& names, int64_t rows) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? "" : ",";
    AppendQuoted(name, text);
  }
  for (int64_t row = 0; row < rows; ++row) {
    char before = '\n';
    for (const Column* column : columns) {
      text += std::exchange(before, ',');
      const int32_t code = column->codes[static_cast<size_t>(row)];
      AppendQuoted(code < 0 ? std::string_view() : column->categories[static_cast<size_t>(code)], text);
    }
    if (row % kRowsAtOnce == 0) {
      StopPoint();
    }
  }
  return text;
}

}  // namespace

void ReadAsCells(Table& table, const ReadOptions& options, std::span<const std::string> texts) {
  const MissingMarks marks(options.missing_values);
  std::vector<std::string> forced(texts.begin(), texts.end());
  for (const std::string& name : options.text_columns) {
    Column& column = table.columns[static_cast<size_t>(table.FindColumn(name))];
    forced.push_back(column.name);
    if (column.kind == ColumnKind::kNumber) {
      MakeText(column, table.rows);
    }
  }
  std::vector<Column*> read;
  std::vector<std::string> names;
  for (Column& column : table.columns) {
    if (column.kind == ColumnKind::kText) {
      read.push_back(&column);
      names.push_back(column.name);
    } else if (marks.has_numbers() && !column.is_date) {
      BlankMarks(column, table.rows, marks);
    }
  }
  if (read.empty() || table.rows == 0) {
    return;
  }
  ReadOptions some = OptionsFor(table, names, options);
  some.encoding = "auto";
  for (const std::string& name :
       forced) {  // also text to a model that knows the column as numbers, which reads it then
    if (std::none_of(some.known_columns.begin(), some.known_columns.end(),
                     [&](const KnownColumn& known) { return known.name == name; })) {
      some.known_columns.push_back({name, ColumnKind::kText});
    }
  }
  Table cells = ReadQuoted(CsvOf(read, names, table.rows), table.source, some);
  for (size_t i = 0; i < read.size(); ++i) {
    *read[i] = std::move(cells.columns[i]);
    read[i]->name = names[i];
  }
}

}  // namespace lamina
