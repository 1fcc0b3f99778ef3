// Answers of a fitted Preprocessor, and binding it to the columns of a table.
#include "lamina/data/encode/preprocessor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/preprocessor_binding.h"

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

}  // namespace

void ThrowCell(const Table& table, int64_t row, const Column& column, const std::string& message,
               const std::string& remedy) {
  std::string value;
  if (!column.IsMissing(row)) {
    value = column.kind == ColumnKind::kText
                ? column.categories[static_cast<size_t>(column.codes[static_cast<size_t>(row)])]
                : NumberName(column.Number(row));
  }
  const int64_t line = table.LineOf(row);
  throw Error(ErrorCode::kBadData, line > 0 ? message : fmt::format("{} in row {} (counted from 0)", message, row),
              {.file = table.source, .line = line, .column = column.name, .value = value, .remedy = remedy});
}

void Preprocessor::Prepare(Table& table) const {
  std::vector<std::string> optional = target_names_;
  optional.push_back(baseline_.name);
  DeriveOptions absent = derive_;
  const auto names = table.ColumnNames();
  std::erase_if(absent.columns, [&](const std::string& text) {
    return std::find(names.begin(), names.end(), DerivedName(text)) != names.end();
  });
  DeriveColumns(table, absent, optional);
}

bool Preprocessor::IsDerived(const std::string& name) const {
  return std::any_of(derive_.columns.begin(), derive_.columns.end(),
                     [&](const std::string& text) { return DerivedName(text) == name; });
}

bool Preprocessor::BindsByPosition(const Table& table) const {
  const auto columns = ByName(table);
  const auto known = [&](const FittedColumn& fitted) { return columns.contains(fitted.name); };
  if (std::all_of(inputs_.begin(), inputs_.end(), known)) {
    return false;
  }
  const bool any =
      std::any_of(inputs_.begin(), inputs_.end(), known) || std::any_of(targets_.begin(), targets_.end(), known);
  return !any || IsAutoNamed(table);
}

Preprocessor::Binding Preprocessor::BindByPosition(const Table& table) const {
  const auto count = static_cast<int64_t>(table.columns.size());
  const int64_t without_targets = column_count_ - static_cast<int64_t>(targets_.size());
  const bool inputs_only = count != column_count_ && count != without_targets && count == std::ssize(inputs_);
  if (count != column_count_ && count != without_targets && !inputs_only) {
    throw Error(
        ErrorCode::kBadData,
        fmt::format("none of the training columns by name, and {} columns instead of {} (or {} without targets)", count,
                    column_count_, without_targets),
        {.file = table.source, .remedy = "Give the columns of the training data."});
  }
  Binding binding;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    int64_t position = inputs_[i].position;
    if (inputs_only) {
      position = static_cast<int64_t>(i);
    } else if (count != column_count_) {
      position -= std::count_if(targets_.begin(), targets_.end(),
                                [&](const FittedColumn& target) { return target.position < inputs_[i].position; });
    }
    binding.inputs.push_back(&table.columns[static_cast<size_t>(position)]);
  }
  if (count == column_count_) {
    for (const FittedColumn& target : targets_) {
      binding.targets.push_back(&table.columns[static_cast<size_t>(target.position)]);
    }
    if (!baseline_.name.empty() && baseline_.position >= 0) {
      binding.baseline = &table.columns[static_cast<size_t>(baseline_.position)];
    }
  }
  return binding;
}

void Preprocessor::RequireImageSize(const Table& table) const {
  if (table.is_image && image_height_ > 0 &&
      (table.image_height != image_height_ || table.image_width != image_width_)) {
    throw Error(ErrorCode::kBadData,
                fmt::format("images of {} x {} pixels, those of the training have {} x {}", table.image_height,
                            table.image_width, image_height_, image_width_),
                {.file = table.source, .remedy = "Bring the images to the size of the training data."});
  }
}

Preprocessor::Binding Preprocessor::Bind(const Table& table, bool with_targets) const {
  RequireImageSize(table);
  Binding binding;
  std::vector<std::string> lacking;
  if (BindsByPosition(table)) {
    binding = BindByPosition(table);
    if (with_targets && binding.targets.empty()) {
      ThrowLacking(table, target_names_, "target");
    }
  } else {
    const auto columns = ByName(table);
    const auto find = [&](const FittedColumn& fitted, std::vector<const Column*>& found) {
      const auto column = columns.find(fitted.name);
      if (column == columns.end()) {
        lacking.push_back(fitted.name);
      } else {
        found.push_back(column->second);
      }
    };
    for (const FittedColumn& input : inputs_) {
      find(input, binding.inputs);
    }
    if (!lacking.empty()) {
      ThrowLacking(table, lacking, "input");
    }
    for (const FittedColumn& target : targets_) {
      find(target, binding.targets);
    }
    if (with_targets && !lacking.empty()) {
      ThrowLacking(table, lacking, "target");
    }
    if (with_targets && !baseline_.name.empty() && baseline_.position >= 0) {
      std::vector<const Column*> found;
      find(baseline_, found);
      if (found.empty()) {
        ThrowLacking(table, lacking, "baseline");
      }
      binding.baseline = found.front();
    }
  }
  if (!with_targets) {
    binding.targets.clear();
    binding.baseline = nullptr;
  }
  return binding;
}

bool Preprocessor::HasTargets(const Table& table) const {
  if (BindsByPosition(table)) {
    return std::ssize(table.columns) == column_count_;
  }
  const auto columns = ByName(table);
  return std::all_of(targets_.begin(), targets_.end(),
                     [&](const FittedColumn& target) { return columns.contains(target.name); });
}

std::vector<int64_t> Preprocessor::UsableRows(const Table& table, std::span<const int64_t> rows,
                                              bool with_targets) const {
  return CompleteRows(NeededColumns(Bind(table, with_targets)), rows);
}

std::vector<const Column*> Preprocessor::NeededColumns(const Binding& binding) const {
  std::vector<const Column*> needed;
  const bool drop = missing_ == MissingPolicy::kDropRow;
  if (drop) {
    needed = binding.inputs;
  }
  for (size_t j = 0; j < binding.targets.size(); ++j) {
    if (drop || (missing_ == MissingPolicy::kMean && IsDerived(target_names_[j]))) {
      needed.push_back(binding.targets[j]);
    }
  }
  if (drop && binding.baseline != nullptr) {
    needed.push_back(binding.baseline);
  }
  return needed;
}

std::vector<int64_t> Preprocessor::RowsWithTargets(const Table& table, std::span<const int64_t> rows) const {
  const Binding binding = Bind(table, /*with_targets=*/true);
  std::vector<const Column*> columns = binding.targets;
  if (binding.baseline != nullptr) {
    columns.push_back(binding.baseline);
  }
  return CompleteRows(columns, rows);
}

std::string Preprocessor::MissingColumn(const Table& table, int64_t row, bool with_targets) const {
  const Binding binding = Bind(table, with_targets);
  std::vector<const Column*> columns = missing_ == MissingPolicy::kMean ? std::vector<const Column*>() : binding.inputs;
  columns.insert(columns.end(), binding.targets.begin(), binding.targets.end());
  if (binding.baseline != nullptr) {
    columns.push_back(binding.baseline);
  }
  const auto missing =
      std::find_if(columns.begin(), columns.end(), [&](const Column* column) { return column->IsMissing(row); });
  return missing == columns.end() ? "" : (*missing)->name;
}

void Preprocessor::UnscaleTargets(MatrixView outputs) const {
  Check(outputs.cols == output_count(), "UnscaleTargets: one column per target");
  DispatchFloat(outputs.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < outputs.rows; ++i) {
      T* row = outputs.Row<T>(i);
      for (size_t j = 0; j < targets_.size(); ++j) {
        row[j] = static_cast<T>(targets_[j].scaling.Decode(static_cast<double>(row[j])));
      }
    }
  });
}

int32_t Preprocessor::ClassOf(std::span<const double> outputs) const {
  if (std::any_of(outputs.begin(), outputs.end(), [](double output) { return std::isnan(output); })) {
    return -1;
  }
  if (single_output_) {
    return (outputs[0] > class_threshold()) == (positive_target_ > negative_target_) ? 1 : 0;
  }
  const auto best = positive_target_ > negative_target_ ? std::max_element(outputs.begin(), outputs.end())
                                                        : std::min_element(outputs.begin(), outputs.end());
  return static_cast<int32_t>(best - outputs.begin());
}

Task Preprocessor::task() const { return task_; }
int64_t Preprocessor::input_count() const { return input_count_; }
int64_t Preprocessor::output_count() const {
  if (task_ == Task::kRegression) {
    return std::ssize(targets_);
  }
  return single_output_ ? 1 : std::ssize(class_names_);
}
const std::vector<std::string>& Preprocessor::class_names() const { return class_names_; }
const std::vector<std::string>& Preprocessor::target_names() const { return target_names_; }
bool Preprocessor::is_image() const { return image_height_ > 0 && image_height_ * image_width_ == std::ssize(inputs_); }
int64_t Preprocessor::image_height() const { return image_height_; }
int64_t Preprocessor::image_width() const { return image_width_; }
double Preprocessor::class_threshold() const { return (positive_target_ + negative_target_) / 2; }

std::vector<std::string> Preprocessor::TextColumns() const {
  std::vector<std::string> names;
  for (const std::vector<FittedColumn>* columns : {&inputs_, &targets_}) {
    for (const FittedColumn& column : *columns) {
      if (column.kind == ColumnKind::kText) {
        names.push_back(column.name);
      }
    }
  }
  return names;
}

std::vector<std::string> Preprocessor::InputNames() const {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(input_count_));
  for (const FittedColumn& input : inputs_) {
    if (!input.one_hot) {
      names.push_back(input.name);
    }
    for (size_t i = 0; input.one_hot && i < input.categories.size(); ++i) {
      names.push_back(input.name + "=" + input.categories[i]);
    }
  }
  return names;
}

}  // namespace lamina
