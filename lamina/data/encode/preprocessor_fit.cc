// Learns from training rows what the Preprocessor needs: roles of columns, scales, categories, classes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_access.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/preprocessor.h"

namespace lamina {
namespace {

constexpr size_t kMaxAutoClasses = 100;
constexpr double kPixelMax = 255;

struct Roles {
  std::vector<int64_t> inputs;
  std::vector<int64_t> targets;
};

Roles FindRoles(const Table& table, const PreprocessOptions& options) {
  std::vector<char> role(table.columns.size(), 'i');
  for (const std::string& name : options.drop_columns) {
    role[static_cast<size_t>(table.FindColumn(name))] = 'd';
  }
  Roles roles;
  for (const std::string& name : options.targets) {
    const int64_t column = table.FindColumn(name);
    char& current = role[static_cast<size_t>(column)];
    if (current != 'i') {
      throw Error(ErrorCode::kInvalidArgument,
                  current == 'd' ? "a target column is also dropped" : "a target column is named twice",
                  {.column = table.columns[static_cast<size_t>(column)].name});
    }
    current = 't';
    roles.targets.push_back(column);
  }
  if (roles.targets.empty()) {
    const auto last = std::find(role.rbegin(), role.rend(), 'i');
    if (last != role.rend()) {
      *last = 't';
      roles.targets.push_back(role.rend() - last - 1);
    }
  }
  for (size_t j = 0; j < role.size(); ++j) {
    if (role[j] == 'i') {
      roles.inputs.push_back(static_cast<int64_t>(j));
    }
  }
  if (roles.inputs.empty() || roles.targets.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("no {} column is left", roles.targets.empty() ? "target" : "input"),
                {.file = table.source,
                 .remedy = fmt::format("The table has {} column(s); targets and dropped columns take them all.",
                                       table.columns.size())});
  }
  return roles;
}

std::vector<const Column*> Pick(const Table& table, std::span<const int64_t> columns) {
  std::vector<const Column*> picked;
  for (const int64_t column : columns) {
    picked.push_back(&table.columns[static_cast<size_t>(column)]);
  }
  return picked;
}

// Of SignedLogarithm(), over copies of the columns.
std::vector<ColumnStatistics> LogStatistics(std::span<const Column* const> columns, std::span<const int64_t> rows) {
  std::vector<int64_t> all(rows.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  std::vector<ColumnStatistics> statistics(columns.size());
#pragma omp parallel for schedule(dynamic)
  for (size_t j = 0; j < columns.size(); ++j) {
    std::vector<double> values(rows.size());
    DispatchNumbers(*columns[j], [&](const auto* numbers) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto x = static_cast<double>(numbers[rows[i] * columns[j]->stride]);
        values[i] = SignedLogarithm(x);
      }
    });
    Column logarithms;
    logarithms.numbers = values.data();
    const Column* const one[] = {&logarithms};
    statistics[j] = ComputeStatistics(one, all)[0];
  }
  return statistics;
}

void SetScale(FittedColumn& column, Scaling scaling, const ColumnStatistics& statistics, const std::string& source) {
  if (scaling == Scaling::kStandardize || scaling == Scaling::kAuto || scaling == Scaling::kLog) {
    column.scaling.offset = statistics.mean;
    column.scaling.scale = statistics.deviation > 0 ? statistics.deviation : 1;
  } else if (scaling == Scaling::kMinMax) {
    column.scaling.offset = statistics.min;
    column.scaling.scale = statistics.max > statistics.min ? statistics.max - statistics.min : 1;
  }
  if (!std::isfinite(column.scaling.offset) || !std::isfinite(column.scaling.scale)) {
    throw Error(ErrorCode::kBadData, "values too large to scale",
                {.file = source, .column = column.name, .remedy = "Check the values, or use --scale none."});
  }
}

[[noreturn]] void ThrowNoValues(const Table& table, const std::string& column) {
  throw Error(ErrorCode::kBadData, "has no values in the training rows",
              {.file = table.source, .column = column, .remedy = "Drop the column with --drop."});
}

FittedColumn FitText(const Table& table, const Column& column, std::span<const int64_t> rows,
                     const PreprocessOptions& options) {
  FittedColumn fitted;
  fitted.name = column.name;
  fitted.kind = ColumnKind::kText;
  fitted.one_hot = options.encoding == Encoding::kOneHot;
  const CategoryView view(column, rows);
  fitted.categories = SortedNames(view, rows);
  if (fitted.categories.empty()) {
    ThrowNoValues(table, column.name);
  }
  const std::vector<int32_t> index = MatchNames(view, fitted.categories);
  std::vector<double> counts(fitted.categories.size());
  for (const int64_t row : rows) {
    if (view.Code(row) >= 0) {
      ++counts[static_cast<size_t>(index[static_cast<size_t>(view.Code(row))])];
    }
  }
  fitted.fill_category = static_cast<int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  if (!fitted.one_hot) {
    ColumnStatistics statistics;
    double total = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      total += counts[i];
      statistics.mean += counts[i] * static_cast<double>(i);
    }
    statistics.mean /= total;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double difference = static_cast<double>(i) - statistics.mean;
      statistics.deviation += counts[i] * difference * difference;
    }
    statistics.deviation = std::sqrt(statistics.deviation / total);
    statistics.max = static_cast<double>(counts.size() - 1);
    SetScale(fitted, options.scaling, statistics, table.source);
  }
  return fitted;
}

bool IsWhole(double value) { return value == std::trunc(value) && std::abs(value) < 1e15; }

// The rule stated at PreprocessOptions::task.
bool LooksLikeClasses(const Column& column, std::span<const int64_t> rows) {
  std::unordered_set<double> values;
  for (const int64_t row : rows) {
    if (column.IsMissing(row)) {
      continue;
    }
    const double value = column.Number(row);
    if (!IsWhole(value)) {
      return false;
    }
    values.insert(value);
    if (values.size() > kMaxAutoClasses) {
      return false;
    }
  }
  return values.size() <= 2 || values.size() * 2 <= rows.size();
}

Task ResolveTask(const Table& table, std::span<const Column* const> targets, std::span<const int64_t> rows, Task task) {
  const auto is_text = [](const Column* column) { return column->kind == ColumnKind::kText; };
  const auto text = std::find_if(targets.begin(), targets.end(), is_text);
  if (task == Task::kAuto && targets.size() == 1) {
    task = is_text(targets[0]) || LooksLikeClasses(*targets[0], rows) ? Task::kClassification : Task::kRegression;
  }
  if (task == Task::kClassification && targets.size() > 1) {
    throw Error(ErrorCode::kInvalidArgument, "classification takes one target column",
                {.file = table.source, .value = targets[1]->name, .remedy = "Name a single target."});
  }
  if (text != targets.end() && task != Task::kClassification) {
    throw Error(ErrorCode::kInvalidArgument,
                task == Task::kAuto ? "several targets must be numbers, this one is text"
                                    : "a target of regression must be numbers, this one is text",
                {.file = table.source,
                 .column = (*text)->name,
                 .value = (*text)->categories.empty() ? "" : (*text)->categories[0],
                 .remedy = "Choose another target, or a single one with --task classification."});
  }
  return task == Task::kAuto ? Task::kRegression : task;
}

[[noreturn]] void ThrowMissing(const Table& table, std::span<const Column* const> columns,
                               std::span<const int64_t> rows, CellPosition cell, const char* remedy) {
  ThrowCell(table, rows[static_cast<size_t>(cell.row)], *columns[static_cast<size_t>(cell.column)], "missing value",
            remedy);
}

}  // namespace

Preprocessor Preprocessor::Fit(const Table& table, std::span<const int64_t> rows, const PreprocessOptions& options) {
  const Roles roles = FindRoles(table, options);
  if (options.positive_target == options.negative_target || !std::isfinite(options.positive_target) ||
      !std::isfinite(options.negative_target)) {
    throw Error(ErrorCode::kInvalidArgument, "the target values of the true and the other classes must differ",
                {.value = fmt::format("{}, {}", options.positive_target, options.negative_target)});
  }
  Preprocessor fitted;
  fitted.missing_ = options.missing;
  fitted.unseen_ = options.unseen;
  fitted.positive_target_ = options.positive_target;
  fitted.negative_target_ = options.negative_target;
  fitted.column_count_ = static_cast<int64_t>(table.columns.size());
  fitted.derive_ = options.derive;
  fitted.class_map_ = options.class_map;

  std::vector<const Column*> used = Pick(table, roles.inputs);
  const std::vector<const Column*> targets = Pick(table, roles.targets);
  used.insert(used.end(), targets.begin(), targets.end());
  std::vector<int64_t> usable;
  if (options.missing == MissingPolicy::kDropRow) {
    usable = CompleteRows(used, rows);
    rows = usable;
  } else if (options.missing == MissingPolicy::kMean) {
    usable = CompleteRows(fitted.DerivedOf(targets), rows);
    rows = usable;
  }
  if (rows.empty()) {
    const bool dropped = options.missing == MissingPolicy::kDropRow;
    throw Error(ErrorCode::kBadData, fmt::format("no training rows{}", dropped ? " without missing values" : ""),
                {.file = table.source});
  }
  const bool mean = options.missing == MissingPolicy::kMean;  // targets are never made up
  const std::span<const Column* const> complete = mean ? targets : used;
  if (const auto cell = FindMissing(complete, rows)) {
    ThrowMissing(table, complete, rows, *cell,
                 mean ? "Targets are not filled in: leave such rows out with --missing drop."
                      : "Leave such rows out with --missing drop, or fill them in with --missing mean.");
  }
  fitted.FitInputs(table, rows, roles.inputs, options);
  fitted.FitTargets(table, rows, roles.targets, options);
  fitted.FitBaseline(table, options);
  fitted.image_height_ = table.image_height;
  fitted.image_width_ = table.image_width;
  fitted.FinishFit();
  return fitted;
}

std::vector<const Column*> Preprocessor::DerivedOf(std::vector<const Column*> columns) const {
  std::erase_if(columns, [&](const Column* column) { return !IsDerived(column->name); });
  return columns;
}

void Preprocessor::FitInputs(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> columns,
                             const PreprocessOptions& options) {
  std::vector<const Column*> measured;  // the columns whose statistics are needed
  std::vector<size_t> measured_input;
  for (const int64_t position : columns) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    FittedColumn fitted;
    if (column.kind == ColumnKind::kText) {
      fitted = FitText(table, column, rows, options);
    } else {
      fitted.name = column.name;
      const bool pixel = options.scaling == Scaling::kAuto && table.is_image && column.dtype == DType::kU8;
      fitted.scaling.scale = pixel ? kPixelMax : 1;
      const bool scaled = !pixel && options.scaling != Scaling::kNone;
      if (scaled || (options.missing == MissingPolicy::kMean && CanBeMissing(column))) {
        measured.push_back(&column);
        measured_input.push_back(inputs_.size());
      }
    }
    fitted.position = position;
    inputs_.push_back(std::move(fitted));
  }
  const std::vector<ColumnStatistics> statistics = ComputeStatistics(measured, rows);
  std::vector<ColumnStatistics> logarithms;
  if (options.scaling == Scaling::kLog) {
    logarithms = LogStatistics(measured, rows);
  }
  for (size_t i = 0; i < measured.size(); ++i) {
    FittedColumn& fitted = inputs_[measured_input[i]];
    if (statistics[i].count == 0) {
      ThrowNoValues(table, fitted.name);
    }
    fitted.fill = statistics[i].mean;
    fitted.scaling.logarithm = options.scaling == Scaling::kLog;
    SetScale(fitted, options.scaling, fitted.scaling.logarithm ? logarithms[i] : statistics[i], table.source);
  }
}

void Preprocessor::FitTargets(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> columns,
                              const PreprocessOptions& options) {
  const std::vector<const Column*> targets = Pick(table, columns);
  task_ = ResolveTask(table, targets, rows, class_map_.empty() ? options.task : Task::kClassification);
  for (const int64_t position : columns) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    FittedColumn fitted;
    fitted.name = column.name;
    fitted.kind = column.kind;
    fitted.position = position;
    if (task_ == Task::kRegression && options.target_scaling != Scaling::kNone) {
      const Column* const one[] = {&column};
      fitted.scaling.logarithm = options.target_scaling == Scaling::kLog;
      SetScale(fitted, options.target_scaling,
               (fitted.scaling.logarithm ? LogStatistics(one, rows) : ComputeStatistics(one, rows))[0], table.source);
    }
    targets_.push_back(std::move(fitted));
  }
  if (task_ == Task::kClassification) {
    single_output_ = options.single_output;
    FitClasses(table, *targets[0], rows);
  }
}

void Preprocessor::FitBaseline(const Table& table, const PreprocessOptions& options) {
  if (options.baseline.empty()) {
    return;
  }
  if (task_ != Task::kRegression || targets_.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument, "--baseline is the naive guess of one number to predict",
                {.value = options.baseline, .remedy = "Leave it out, or use --task regression with one target."});
  }
  baseline_.name = options.baseline;
  baseline_.position = -1;
  const auto names = table.ColumnNames();
  const double number = ParseNumber(options.baseline);
  if (std::isfinite(number) && std::find(names.begin(), names.end(), options.baseline) == names.end()) {
    baseline_.fill = number;
    return;
  }
  baseline_.position = table.FindColumn(options.baseline);
  const Column& column = table.columns[static_cast<size_t>(baseline_.position)];
  if (column.kind == ColumnKind::kText) {
    throw Error(ErrorCode::kInvalidArgument, "--baseline must be a column of numbers, this one is text",
                {.file = table.source, .column = column.name});
  }
}

void Preprocessor::FitClasses(const Table& table, const Column& column, std::span<const int64_t> rows) {
  if (column.kind == ColumnKind::kNumber) {
    const auto fraction =
        std::find_if(rows.begin(), rows.end(), [&](int64_t row) { return !IsWhole(column.Number(row)); });
    if (fraction != rows.end()) {
      ThrowCell(table, *fraction, column, "a class must be a whole number or text",
                "For numbers to be predicted use --task regression; for classes read them with --text-columns.");
    }
  }
  class_names_ = SortedNames(CategoryView(column, rows), rows);
  if (!class_map_.empty()) {
    targets_[0].categories = class_names_;  // to tell new values from those of training
    for (std::string& name : class_names_) {
      name = class_map_.Of(name);
    }
    std::sort(class_names_.begin(), class_names_.end());
    class_names_.erase(std::unique(class_names_.begin(), class_names_.end()), class_names_.end());
    class_names_ = class_map_.InOrder(std::move(class_names_));
  }
  if (class_names_.size() < 2) {
    throw Error(ErrorCode::kBadData, "the training rows hold one class only",
                {.file = table.source,
                 .column = column.name,
                 .value = class_names_.empty() ? "" : class_names_[0],
                 .remedy = "Give rows of at least two classes, or choose another target."});
  }
  if (single_output_ && class_names_.size() != 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a single output tells two classes apart, there are {}", class_names_.size()),
                {.file = table.source, .column = column.name, .remedy = "Use one output per class."});
  }
}

void Preprocessor::FinishFit() {
  measured_means_ = missing_ == MissingPolicy::kMean;
  input_count_ = 0;
  for (FittedColumn& input : inputs_) {
    input.first_input = input_count_;
    input_count_ += input.width();
  }
  target_names_.clear();
  for (const FittedColumn& target : targets_) {
    target_names_.push_back(target.name);
  }
}

}  // namespace lamina
