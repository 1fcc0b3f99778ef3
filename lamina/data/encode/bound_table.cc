// Finding the columns of a table by name or by position, and encoding its rows.
#include "lamina/data/encode/bound_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/column_encode.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/files/text_numbers.h"

namespace lamina {
namespace {

// Columns named by a reader, not by a person.
bool IsAutoNamed(const Table& table) {
  for (size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].name != fmt::format("c{}", j)) {
      return false;
    }
  }
  return true;
}

std::unordered_map<std::string_view, const Column*> ByName(const Table& table) {
  std::unordered_map<std::string_view, const Column*> columns;
  for (const Column& column : table.columns) {
    columns.try_emplace(column.name, &column);
  }
  return columns;
}

// "a, b and 3 more".
std::string ShownNames(std::span<const std::string> names) {
  constexpr size_t kShown = 10;
  std::string list;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", names[i]);
  }
  return names.size() > kShown ? list + fmt::format(" and {} more", names.size() - kShown) : list;
}

[[noreturn]] void ThrowLacking(const Table& table, std::span<const std::string> lacking, std::string_view what,
                               bool by_position = false) {
  constexpr size_t kSuggested = 10;
  const auto names = table.ColumnNames();
  std::string remedy;
  for (size_t i = 0; i < std::min(kSuggested, lacking.size()); ++i) {
    const std::string near = DidYouMean(lacking[i], names);
    remedy += remedy.find(near) == std::string::npos ? near : "";  // p1, p2 and p3 may all be near to one name
  }
  remedy +=
      fmt::format("Columns are matched by name with those of the training data; the table has: {}.", ShownNames(names));
  if (by_position) {
    remedy += " --by-position takes the columns in their order, whatever their names.";
  }
  if (table.sheet && table.sheet->assumed()) {
    remedy += fmt::format(" It is {}: --sheet names another one.", table.sheet->Text());
  }
  throw Error(ErrorCode::kNotFound,
              fmt::format("the table lacks {} {} column{}", lacking.size(), what, lacking.size() == 1 ? "" : "s"),
              {.file = table.source, .value = ShownNames(lacking), .remedy = remedy});
}

bool BindsByPosition(const Table& table, const Preprocessor& preprocessor) {
  const auto columns = ByName(table);
  const auto known = [&](const FittedColumn& fitted) { return columns.contains(fitted.name); };
  const std::vector<FittedColumn>& inputs = preprocessor.inputs().columns();
  return (!table.has_names || IsAutoNamed(table)) &&
         !(IsAutoNamed(table) && std::all_of(inputs.begin(), inputs.end(), known));
}

// Odd cells in `rows` of a table of `all` rows.
void CountOdd(std::span<const Column* const> columns, std::span<const int64_t> rows, int64_t all,
              EncodeReport& report) {
  constexpr size_t kOddWords = 3;
  std::vector<char> asked;
  for (const Column* column : columns) {
    if (column->odd.cells.empty()) {
      continue;
    }
    if (asked.empty()) {
      asked.resize(static_cast<size_t>(all));
      std::for_each(rows.begin(), rows.end(), [&](int64_t row) { asked[static_cast<size_t>(row)] = 1; });
    }
    const auto count =
        std::count_if(column->odd.cells.begin(), column->odd.cells.end(),
                      [&](const OddCells::Cell& cell) { return asked[static_cast<size_t>(cell.row)] != 0; });
    report.odd_values += count;
    for (const OddCells::Cell& cell : column->odd.cells) {
      const std::string& word = column->odd.words[static_cast<size_t>(cell.word)];
      if (report.odd_words.size() < kOddWords && asked[static_cast<size_t>(cell.row)] != 0 &&
          std::find(report.odd_words.begin(), report.odd_words.end(), word) == report.odd_words.end()) {
        report.odd_words.push_back(word);
      }
    }
    if (count > 0 &&
        std::find(report.odd_columns.begin(), report.odd_columns.end(), column->name) == report.odd_columns.end()) {
      report.odd_columns.push_back(column->name);
    }
  }
}

bool AllAreMissing(const Table& table, const Column& column) {
  int64_t row = 0;
  while (row < table.rows && column.IsMissing(row)) {
    ++row;
  }
  return row == table.rows;
}

void RequireImageSize(const Table& table, const InputEncoder& inputs) {
  if (table.is_image && inputs.image_height() > 0 &&
      (table.image_height != inputs.image_height() || table.image_width != inputs.image_width())) {
    throw Error(ErrorCode::kBadData,
                fmt::format("images of {} x {} pixels, those of the training have {} x {}", table.image_height,
                            table.image_width, inputs.image_height(), inputs.image_width()),
                {.file = table.source, .remedy = "Bring the images to the size of the training data."});
  }
}

// Numbers for dates, or dates for numbers, would be days since 1970. Arrays have nothing but numbers.
void RequireDates(const Table& table, const Column& column, const FittedColumn& fitted) {
  if (!table.has_names || fitted.kind != ColumnKind::kNumber || column.kind != ColumnKind::kNumber ||
      column.is_date == fitted.is_date || AllAreMissing(table, column)) {
    return;
  }
  throw Error(ErrorCode::kBadData,
              fitted.is_date ? "numbers where the training had dates" : "dates where the training had numbers",
              {.file = table.source,
               .column = column.name,
               .remedy = fitted.is_date ? "Give dates, or text that is one." : "Give numbers."});
}

}  // namespace

BoundTable::BoundTable(const Preprocessor& preprocessor, const Table& table, TableUse use)
    : preprocessor_(preprocessor), table_(table) {
  RequireImageSize(table, preprocessor.inputs());
  if (BindsByPosition(table, preprocessor)) {
    BindByPosition();
  } else {
    BindByName(use);
  }
  const std::vector<FittedColumn>& fitted = preprocessor.inputs().columns();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    RequireDates(table, *inputs_[i], fitted[i]);
    if (fitted[i].kind == ColumnKind::kNumber && inputs_[i]->kind == ColumnKind::kText) {
      read_.push_back(std::make_unique<Column>(
          NumbersOfText(*inputs_[i], fitted[i].is_date, fitted[i].format, fitted[i].IsFlag())));
      inputs_[i] = read_.back().get();
    }
  }
}

void BoundTable::BindByPosition() {
  const std::vector<FittedColumn>& inputs = preprocessor_.inputs().columns();
  const std::vector<FittedColumn>& targets = preprocessor_.targets().columns();
  const auto count = std::ssize(table_.columns);
  const int64_t with_targets = preprocessor_.column_count();
  const int64_t without_targets = with_targets - std::ssize(targets);
  const bool inputs_only = count != with_targets && count != without_targets && count == std::ssize(inputs);
  if (count != with_targets && count != without_targets && !inputs_only) {
    throw Error(
        ErrorCode::kBadData,
        fmt::format("none of the training columns by name, and {} columns instead of {} (or {} without targets)", count,
                    with_targets, without_targets),
        {.file = table_.source, .remedy = "Give the columns of the training data."});
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    int64_t position = inputs[i].position;
    if (inputs_only) {
      position = static_cast<int64_t>(i);
    } else if (count != with_targets) {
      position -= std::count_if(targets.begin(), targets.end(),
                                [&](const FittedColumn& target) { return target.position < inputs[i].position; });
    }
    inputs_.push_back(&table_.columns[static_cast<size_t>(position)]);
  }
  if (count != with_targets) {
    lacking_targets_ = preprocessor_.targets().names();
    return;
  }
  for (const FittedColumn& target : targets) {
    targets_.push_back(&table_.columns[static_cast<size_t>(target.position)]);
  }
  if (preprocessor_.targets().baseline_is_column()) {
    baseline_ = &table_.columns[static_cast<size_t>(preprocessor_.targets().baseline().position)];
  }
}

void BoundTable::BindByName(TableUse use) {
  const auto columns = ByName(table_);
  const auto find = [&](const std::vector<FittedColumn>& fitted, Columns& found) {
    std::vector<std::string> lacking;
    for (const FittedColumn& each : fitted) {
      const auto column = columns.find(each.name);
      if (column == columns.end()) {
        lacking.push_back(each.name);
      } else {
        found.push_back(column->second);
      }
    }
    return lacking;
  };
  if (const auto lacking = find(preprocessor_.inputs().columns(), inputs_); !lacking.empty()) {
    ThrowLacking(table_, lacking, "input", /*by_position=*/use == TableUse::kForModel);
  }
  lacking_targets_ = find(preprocessor_.targets().columns(), targets_);
  if (preprocessor_.targets().baseline_is_column()) {
    const auto column = columns.find(preprocessor_.targets().baseline().name);
    baseline_ = column == columns.end() ? nullptr : column->second;
  }
}

void BoundTable::RequireTargets() const {
  if (!has_targets()) {
    ThrowLacking(table_, lacking_targets_, "target");
  }
  if (preprocessor_.targets().baseline_is_column() && baseline_ == nullptr) {
    ThrowLacking(table_, std::span(&preprocessor_.targets().baseline().name, 1), "baseline");
  }
}

BoundTable::Columns BoundTable::TargetColumns() const {
  RequireTargets();
  Columns columns = targets_;
  if (baseline_ != nullptr) {
    columns.push_back(baseline_);
  }
  return columns;
}

BoundTable::Columns BoundTable::NeededColumns(bool with_targets) const {
  const Columns targets = with_targets ? TargetColumns() : Columns();
  Columns needed;
  if (preprocessor_.policies().missing == MissingPolicy::kDropRow) {
    needed = inputs_;
    needed.insert(needed.end(), targets.begin(), targets.end());
  } else if (Fills(preprocessor_.policies().missing) && with_targets) {
    needed = targets;
  }
  return needed;
}

std::vector<int64_t> BoundTable::UsableRows(std::span<const int64_t> rows, bool with_targets) const {
  return CompleteRows(NeededColumns(with_targets), rows);
}

std::vector<int64_t> BoundTable::RowsWithTargets(std::span<const int64_t> rows) const {
  return CompleteRows(TargetColumns(), rows);
}

std::string BoundTable::MissingColumn(int64_t row, bool with_targets) const {
  Columns columns = Fills(preprocessor_.policies().missing) ? Columns() : inputs_;
  if (with_targets) {
    const Columns targets = TargetColumns();
    columns.insert(columns.end(), targets.begin(), targets.end());
  }
  const auto missing =
      std::find_if(columns.begin(), columns.end(), [&](const Column* column) { return column->IsMissing(row); });
  return missing == columns.end() ? "" : (*missing)->name;
}

Dataset BoundTable::EncodeParts(std::span<const int64_t> rows, bool inputs, bool targets, DType dtype,
                                EncodeReport* report) const {
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    throw Error(ErrorCode::kInvalidArgument, "rows are encoded as f32 or f64",
                {.value = std::string(DTypeName(dtype))});
  }
  EncodeReport unwanted;
  EncodeReport& counts = report != nullptr ? *report : unwanted;
  const EncodePolicies& policies = preprocessor_.policies();
  Dataset dataset;
  dataset.rows = UsableRows(rows, targets);
  dataset.features = Matrix(std::ssize(dataset.rows), inputs ? preprocessor_.inputs().count() : 0, dtype);
  if (inputs) {
    CountOdd(inputs_, dataset.rows, table_.rows, counts);
    EncodeColumns(table_, preprocessor_.inputs().columns(), inputs_, dataset.rows, policies, dataset.features, counts);
  }
  if (targets) {
    preprocessor_.targets().Encode(table_, targets_, baseline_, policies.unseen, dataset, counts);
  }
  for (const Columns* columns : {&inputs_, &targets_}) {
    std::for_each(columns->begin(), columns->end(), [](const Column* column) { column->Release(); });
  }
  return dataset;
}

Dataset BoundTable::Encode(std::span<const int64_t> rows, DType dtype, EncodeReport* report) const {
  return EncodeParts(rows, true, true, dtype, report);
}

Dataset BoundTable::EncodeInputs(std::span<const int64_t> rows, DType dtype, EncodeReport* report) const {
  return EncodeParts(rows, true, false, dtype, report);
}

Dataset BoundTable::EncodeTargets(std::span<const int64_t> rows, DType dtype, EncodeReport* report) const {
  return EncodeParts(rows, false, true, dtype, report);
}

}  // namespace lamina
