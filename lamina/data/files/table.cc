// Access to the cells and columns of a Table.
#include "lamina/data/files/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/mapped_file.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/files/number_formats.h"

namespace lamina {
namespace {

template <class T>
double At(const void* numbers, int64_t index) {
  return static_cast<double>(static_cast<const T*>(numbers)[index]);
}

}  // namespace

std::string DateText(double days) {
  constexpr double kLastDay = 2932896;   // 9999-12-31
  constexpr double kFirstDay = -719528;  // 0000-01-01
  if (!(days >= kFirstDay && days < kLastDay + 1)) {
    return fmt::format("{:g}", days);
  }
  constexpr int64_t kDay_seconds = 86'400;
  const int64_t seconds = std::llround(days * kDay_seconds);
  const int64_t day = seconds >= 0 ? seconds / kDay_seconds : -((kDay_seconds - 1 - seconds) / kDay_seconds);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (const int64_t rest = seconds - day * kDay_seconds; rest != 0) {
    text += fmt::format(" {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  }
  return text;
}

std::string ColumnFormat::Text() const {
  std::string text = decimal == ',' ? "decimal comma" : "";
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!unit.empty()) {
    add("in " + unit);
  }
  if (date_order != DateOrder::kAuto) {
    add(fmt::format("dates, {} first{}", date_order == DateOrder::kDayFirst ? "day" : "month",
                    order_assumed ? " (both are possible)" : ""));
  }
  return text;
}

std::string OddCells::Text() const {
  constexpr size_t kShown = 3;
  constexpr size_t kMost_bytes = 24;
  std::string text = Counted(count(), "cell{s}");
  for (size_t i = 0; i < std::min(kShown, words.size()); ++i) {
    text += fmt::format("{} '{}'", i == 0 ? "" : ",", WithoutControls(Excerpt(words[i], kMost_bytes)));
  }
  return words.size() > kShown ? text + fmt::format(" and {} more", words.size() - kShown) : text;
}

void Column::Release() const {
  if (mapping != nullptr) {
    mapping->Release(0, mapping->size_bytes());
  }
}

double Column::Number(int64_t row) const {
  const int64_t index = row * stride;
  if (kind == ColumnKind::kNumber) {
    switch (dtype) {
      case DType::kF64: return At<double>(numbers, index);
      case DType::kF32: return At<float>(numbers, index);
      case DType::kI64: return At<int64_t>(numbers, index);
      case DType::kI32: return At<int32_t>(numbers, index);
      case DType::kI16: return At<int16_t>(numbers, index);
      case DType::kI8: return At<int8_t>(numbers, index);
      case DType::kU8: return At<uint8_t>(numbers, index);
      case DType::kF16:
      case DType::kBF16: break;  // readers convert these to f32
    }
  }
  Check(false, "Column::Number: not a column of numbers");
  return kNaN;
}

bool Column::IsMissing(int64_t row) const {
  if (kind == ColumnKind::kText) {
    return codes[static_cast<size_t>(row)] < 0;
  }
  return (dtype == DType::kF64 || dtype == DType::kF32) && std::isnan(Number(row));
}

std::vector<std::string> Table::ColumnNames() const {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Column& column : columns) {
    names.push_back(column.name);
  }
  return names;
}

std::optional<int64_t> Table::ColumnIfPresent(std::string_view name) const {
  const auto count = static_cast<int64_t>(columns.size());
  for (int64_t i = 0; i < count; ++i) {
    if (columns[static_cast<size_t>(i)].name == name) {
      return i;
    }
  }
  const auto number = ParseInteger(name);
  if (!number || *number < -count || *number >= count) {
    return std::nullopt;
  }
  return *number < 0 ? count + *number : *number;
}

int64_t Table::FindColumn(std::string_view name) const {
  if (const auto column = ColumnIfPresent(name)) {
    return *column;
  }
  if (ParseInteger(name)) {
    const auto count = std::ssize(columns);
    throw Error(ErrorCode::kNotFound, "no such column",
                {.file = source,
                 .value = std::string(name),
                 .remedy = fmt::format("Columns are numbered 0 to {}, or -1 to -{} from the end.", count - 1, count)});
  }
  const auto names = ColumnNames();
  std::string remedy = DidYouMean(name, names);
  if (remedy.empty()) {
    const size_t shown = std::min<size_t>(names.size(), 20);
    remedy = fmt::format("The columns are: {}{}.", fmt::join(names.begin(), names.begin() + shown, ", "),
                         shown < names.size() ? ", ..." : "");
  } else {
    remedy.pop_back();
  }
  if (sheet && sheet->assumed()) {
    remedy += fmt::format(" It is {}: --sheet names another one.", sheet->Text());
  }
  throw Error(ErrorCode::kNotFound, "no such column", {.file = source, .value = std::string(name), .remedy = remedy});
}

std::string SheetOrigin::Text() const {
  const std::string shown = WithoutControls(Excerpt(name));
  return assumed() ? fmt::format("sheet '{}', the first of {}", shown, sheets.size())
                   : fmt::format("sheet '{}'", shown);
}

std::string Table::RowText(int64_t row) const {
  const int64_t line = LineOf(row);
  return line > 0 ? LineText(line) : fmt::format("row {} (counted from 0)", row);
}

std::string Table::LineText(int64_t line) const { return fmt::format("{} {}", sheet ? "row" : "line", line); }

std::string Table::CellText(int64_t row, const Column& column) const {
  const auto at =
      std::find_if(columns.begin(), columns.end(), [&](const Column& each) { return each.name == column.name; }) -
      columns.begin();
  return sheet && at < sheet->columns ? fmt::format("cell {}{}", ColumnLetters(sheet->first_column + at), LineOf(row))
                                      : RowText(row);
}

std::vector<int64_t> AllRowsOf(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

std::vector<int64_t> SpreadOut(std::span<const int64_t> rows, int64_t most) {
  const auto count = std::min<int64_t>(std::ssize(rows), most);
  std::vector<int64_t> some;
  for (int64_t i = 0; i < count; ++i) {
    some.push_back(rows[static_cast<size_t>(i * std::ssize(rows) / count)]);
  }
  return some;
}

std::vector<int64_t> SpreadOut(std::span<const int64_t> rows, int64_t most, const Column& with) {
  std::vector<int64_t> some = SpreadOut(rows, most);
  std::erase_if(some, [&](int64_t row) { return with.IsMissing(row); });
  return some;
}

std::string NumberName(double value) {
  if (std::abs(value) < 1e15 && value == std::trunc(value)) {
    return fmt::format("{}", static_cast<int64_t>(value));
  }
  return fmt::format("{}", value);
}

void ThrowCell(const Table& table, int64_t row, const Column& column, const std::string& message,
               const std::string& remedy) {
  std::string value;
  const auto odd = std::find_if(column.odd.cells.begin(), column.odd.cells.end(),
                                [&](const OddCells::Cell& cell) { return cell.row == row; });
  if (odd != column.odd.cells.end()) {
    value = column.odd.words[static_cast<size_t>(odd->word)];
  } else if (!column.IsMissing(row)) {
    value = column.kind == ColumnKind::kText
                ? column.categories[static_cast<size_t>(column.codes[static_cast<size_t>(row)])]
                : NumberName(column.Number(row));
  }
  const int64_t line = table.LineOf(row);
  throw Error(ErrorCode::kBadData,
              line > 0 && !table.sheet ? message : fmt::format("{} in {}", message, table.CellText(row, column)),
              {.file = table.source, .line = line, .column = column.name, .value = value, .remedy = remedy});
}

}  // namespace lamina
