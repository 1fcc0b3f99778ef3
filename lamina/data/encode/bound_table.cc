// Finding the columns of a table by name or by position, and encoding its rows.
#include "lamina/data/encode/bound_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/column_encode.h"
#include "lamina/data/encode/column_statistics.h"

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

[[noreturn]] void ThrowLacking(const Table& table, std::span<const std::string> lacking, const char* what) {
  constexpr size_t kShown = 10;
  const auto names = table.ColumnNames();
  std::string list;
  std::string remedy;
  for (size_t i = 0; i < std::min(kShown, lacking.size()); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", lacking[i]);
    remedy += DidYouMean(lacking[i], names);
  }
  if (lacking.size() > kShown) {
    list += fmt::format(" and {} more", lacking.size() - kShown);
  }
  throw Error(ErrorCode::kNotFound,
              fmt::format("the table lacks {} {} column{}", lacking.size(), what, lacking.size() == 1 ? "" : "s"),
              {.file = table.source,
               .value = list,
               .remedy = remedy + "Columns are matched by name with those of the training data."});
}

bool BindsByPosition(const Table& table, const Preprocessor& preprocessor) {
  const auto columns = ByName(table);
  const auto known = [&](const FittedColumn& fitted) { return columns.contains(fitted.name); };
  const std::vector<FittedColumn>& inputs = preprocessor.inputs().columns();
  const std::vector<FittedColumn>& targets = preprocessor.targets().columns();
  if (std::all_of(inputs.begin(), inputs.end(), known)) {
    return false;
  }
  const bool any =
      std::any_of(inputs.begin(), inputs.end(), known) || std::any_of(targets.begin(), targets.end(), known);
  return !any || IsAutoNamed(table);
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

}  // namespace

BoundTable::BoundTable(const Preprocessor& preprocessor, const Table& table)
    : preprocessor_(preprocessor), table_(table) {
  RequireImageSize(table, preprocessor.inputs());
  if (BindsByPosition(table, preprocessor)) {
    BindByPosition();
  } else {
    BindByName();
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

void BoundTable::BindByName() {
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
    ThrowLacking(table_, lacking, "input");
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
