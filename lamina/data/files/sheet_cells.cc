// Fields are kept as the text will have them; their columns are known when all have come.
#include "lamina/data/files/sheet_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/data/files/number_formats.h"

namespace lamina {
namespace {

constexpr int64_t kUnasked_bytes = 64 << 20;  // so much is had without asking what the machine has
constexpr int64_t kField_bytes = 9;           // of an empty one: its separator and what the table has for it
constexpr size_t kHeads = 40;
constexpr const char* kSaveAgain = "Save the file again by a spreadsheet program.";

std::string_view WithoutEndBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool IsPlainNumber(std::string_view text) {
  return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

std::string ListOf(const std::vector<SheetName>& sheets) {
  constexpr size_t kMost = 20;
  std::string list;
  for (size_t i = 0; i < std::min(kMost, sheets.size()); ++i) {
    list += fmt::format("{}'{}'{}", i == 0 ? "" : ", ", WithoutControls(Excerpt(sheets[i].name)),
                        sheets[i].hidden ? " (hidden)" : "");
  }
  return list + (sheets.size() > kMost ? fmt::format(" and {} more", sheets.size() - kMost) : "");
}

}  // namespace

void SheetCells::BeginRow(int64_t row) {
  if (row <= row_ || row > kMostSheetRows) {
    throw Error(ErrorCode::kBadData,
                row > row_ ? fmt::format("a sheet with a row {}", row)
                           : fmt::format("row {} of the sheet comes after row {}", row, row_),
                {.file = source_, .remedy = kSaveAgain});
  }
  row_ = row;
  column_ = -1;
}

void SheetCells::AddText(int64_t column, std::string_view text) { AddField(column, text, /*quoted=*/true); }

void SheetCells::AddNumber(int64_t column, std::string_view number, std::string_view unit) {
  number = WithoutEndBlanks(number);
  if (!IsPlainNumber(number)) {
    AddText(column, number);
    return;
  }
  std::string field(number);
  std::replace(field.begin(), field.end(), '.', decimal_);
  if (!unit.empty()) {
    field += fmt::format(" {}", unit);
  }
  AddField(column, field, decimal_ == ',' || !unit.empty());
}

void SheetCells::AddField(int64_t column, std::string_view text, bool quoted) {
  if (column <= column_ || column >= kMostSheetColumns) {
    throw Error(ErrorCode::kBadData,
                column > column_ ? fmt::format("a sheet with a column {}", column + 1)
                                 : fmt::format("cell {}{} of the sheet comes after cell {}{}", ColumnLetters(column),
                                               row_, ColumnLetters(column_), row_),
                {.file = source_, .line = row_, .remedy = kSaveAgain});
  }
  column_ = column;
  text = WithoutEndBlanks(text);
  if (text.empty()) {
    return;
  }
  if (rows_.empty() || rows_.back().number != row_) {
    rows_.push_back({row_, cells_.size()});
  }
  const size_t begin = text_.size();
  if (quoted) {
    text_ += '"';
    for (const char c : text) {
      text_.append(c == '"' ? 2 : c == '\0' ? 0 : 1, c);
    }
    text_ += '"';
  } else {
    text_ += text;
  }
  if (text_.size() - begin > std::numeric_limits<int32_t>::max()) {
    // no test: a cell of 2 GiB
    throw Error(ErrorCode::kBadData, "a cell of more than 2 GiB", {.file = source_, .line = row_});
  }
  cells_.push_back(
      {static_cast<int64_t>(begin), static_cast<int32_t>(text_.size() - begin), static_cast<int32_t>(column)});
  first_column_ = std::min(first_column_, column);
  last_column_ = std::max(last_column_, column);
  CheckSize();
}

void SheetCells::CheckSize(int64_t more_bytes) {
  const int64_t size_bytes =
      static_cast<int64_t>(text_.size() + cells_.size() * sizeof(Cell) + rows_.size() * sizeof(Row)) + more_bytes;
  if (!asked_ && size_bytes > kUnasked_bytes) {
    const int64_t usable_bytes = QueryHardware().UsableMemory_bytes();
    most_bytes_ = usable_bytes > 0 ? std::max(usable_bytes / 4, kUnasked_bytes) : std::numeric_limits<int64_t>::max();
    asked_ = true;
  }
  if (asked_ && size_bytes > most_bytes_) {
    throw Error(ErrorCode::kResource,
                fmt::format("the sheet holds more than {} of cells, which this machine's memory is not for",
                            BytesText(most_bytes_)),
                {.file = source_, .remedy = "Save it as CSV UTF-8, which is read in less memory."});
  }
}

void SheetCells::RepeatRow(int64_t count) {
  if (count > kMostSheetRows - row_) {
    throw Error(ErrorCode::kBadData, fmt::format("a sheet with {} rows", row_ + count),
                {.file = source_, .remedy = kSaveAgain});
  }
  const bool filled = !rows_.empty() && rows_.back().number == row_;
  const size_t begin = filled ? rows_.back().begin : cells_.size();
  const size_t end = cells_.size();
  for (int64_t i = 1; filled && i <= count; ++i) {
    rows_.push_back({row_ + i, cells_.size()});
    for (size_t j = begin; j < end; ++j) {
      cells_.push_back(cells_[j]);
    }
    CheckSize();
  }
  row_ += count;
}

void SheetCells::WriteRow(size_t index, SheetCsv& csv) const {
  const size_t end = index + 1 < rows_.size() ? rows_[index + 1].begin : cells_.size();
  int64_t column = first_column_;
  int64_t lines = 1;
  for (size_t i = rows_[index].begin; i < end; ++i) {
    csv.text.append(static_cast<size_t>(cells_[i].column - column), ',');
    column = cells_[i].column;
    const std::string_view field(text_.data() + cells_[i].begin, static_cast<size_t>(cells_[i].length));
    csv.text += field;
    lines += std::count(field.begin(), field.end(), '\n');
  }
  csv.text.append(static_cast<size_t>(last_column_ - column), ',');
  csv.text += '\n';
  csv.rows.insert(csv.rows.end(), static_cast<size_t>(lines), rows_[index].number);
}

SheetCsv SheetCells::TakeCsv() {
  SheetCsv csv;
  const int64_t width = last_column_ - first_column_;
  const double fields = static_cast<double>(width + 1) * static_cast<double>(rows_.size());
  constexpr double kManyFields = 1e7;
  constexpr double kLeastFilled = 1e-2;
  if (fields > kManyFields && static_cast<double>(cells_.size()) < kLeastFilled * fields) {
    throw Error(ErrorCode::kBadData,
                fmt::format("of {} x {} cells of the sheet only {} are filled", rows_.size(), width + 1, cells_.size()),
                {.file = source_, .remedy = "Delete what stands far away from the table."});
  }
  CheckSize(static_cast<int64_t>(fields) * kField_bytes);
  csv.text.reserve(text_.size() + static_cast<size_t>(fields) + rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    const int64_t gap = i == 0 || width > 0 ? 0 : rows_[i].number - rows_[i - 1].number - 1;
    for (int64_t k = 0; k < gap; ++k) {  // a missing value, as in a CSV file of one column
      csv.text += '\n';
      csv.rows.push_back(rows_[i - 1].number + 1 + k);
    }
    WriteRow(i, csv);
  }
  for (size_t row = 0; row < std::min(kHeads, rows_.size()); ++row) {
    const size_t end = row + 1 < rows_.size() ? rows_[row + 1].begin : cells_.size();
    std::vector<std::string>& head = csv.heads.emplace_back(static_cast<size_t>(width + 1));
    for (size_t i = rows_[row].begin; i < end; ++i) {
      std::string_view field(text_.data() + cells_[i].begin, static_cast<size_t>(cells_[i].length));
      if (field.starts_with('"')) {
        field = field.substr(1, field.size() - 2);
      }
      head[static_cast<size_t>(cells_[i].column - first_column_)] = field;
    }
  }
  text_ = {};
  cells_ = {};
  rows_ = {};
  return csv;
}

void ThrowNoSheet(const std::vector<SheetName>& sheets, const std::string& wanted, const std::string& source) {
  if (sheets.empty()) {
    throw Error(ErrorCode::kBadData, "the workbook has no sheets", {.file = source, .remedy = kSaveAgain});
  }
  if (wanted.empty()) {
    throw Error(
        ErrorCode::kBadData, "all sheets of the workbook are hidden",
        {.file = source, .remedy = fmt::format("Name one with --sheet: {}.", ListOf(sheets)), .setting = "sheet"});
  }
  throw Error(ErrorCode::kNotFound, "no such sheet",
              {.file = source,
               .value = wanted,
               .remedy = fmt::format("The sheets are {}.", ListOf(sheets)),
               .setting = "sheet"});
}

size_t ChooseSheet(const std::vector<SheetName>& sheets, const std::string& wanted, const std::string& source) {
  const auto found = std::find_if(sheets.begin(), sheets.end(), [&](const SheetName& sheet) {
    return wanted.empty() ? !sheet.hidden : sheet.name == wanted;
  });
  if (found == sheets.end()) {
    ThrowNoSheet(sheets, wanted, source);
  }
  return static_cast<size_t>(found - sheets.begin());
}

Sheet FinishSheet(SheetCells cells, const std::vector<SheetName>& sheets, size_t chosen, const SheetQuery& query,
                  const std::string& source) {
  Sheet sheet;
  sheet.origin = {.name = sheets[chosen].name, .asked = !query.name.empty()};
  std::transform(sheets.begin(), sheets.end(), std::back_inserter(sheet.origin.sheets),
                 [](const SheetName& each) { return each.name; });
  if (cells.empty()) {
    throw Error(ErrorCode::kBadData, "the sheet is empty",
                {.file = source,
                 .value = sheet.origin.name,
                 .remedy = sheets.size() > 1 ? fmt::format("Name another one with --sheet: {}.", ListOf(sheets)) : ""});
  }
  sheet.origin.first_column = cells.first_column();
  sheet.origin.columns = cells.last_column() - cells.first_column() + 1;
  sheet.csv = cells.TakeCsv();
  return sheet;
}

}  // namespace lamina
