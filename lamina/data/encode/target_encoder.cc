// Fitting targets, encoding them, reading answers, and their place in model files.
#include "lamina/data/encode/target_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_encode.h"
#include "lamina/data/encode/column_fit.h"
#include "lamina/data/encode/encoder_json.h"
#include "lamina/data/encode/new_labels.h"

namespace lamina {
namespace {

constexpr size_t kMaxAutoClasses = 20;  // more whole numbers than this are quantities
constexpr Named<Task> kTasks[] = {{"classification", Task::kClassification}, {"regression", Task::kRegression}};

bool IsWhole(double value) { return value == std::trunc(value) && std::abs(value) < 1e15; }

// The rule stated at PreprocessOptions.
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

std::vector<const Column*> ColumnsAt(const Table& table, std::span<const int64_t> positions) {
  std::vector<const Column*> columns;
  for (const int64_t position : positions) {
    columns.push_back(&table.columns[static_cast<size_t>(position)]);
  }
  return columns;
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

// As MatchNames(), through the map.
std::vector<int32_t> ClassIndex(const CategoryView& view, const ClassMap& map,
                                const std::vector<std::string>& classes) {
  std::vector<int32_t> index = MatchNames(view, classes);
  for (size_t i = 0; i < index.size() && !map.empty(); ++i) {
    const auto found = std::find(classes.begin(), classes.end(), map.Of(view.names()[i]));
    index[i] = found == classes.end() ? -1 : static_cast<int32_t>(found - classes.begin());
  }
  return index;
}

}  // namespace

Task TargetEncoder::TaskOf(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                           const PreprocessOptions& options) {
  return ResolveTask(table, ColumnsAt(table, positions), rows,
                     options.class_map.empty() ? options.task : Task::kClassification);
}

TargetEncoder TargetEncoder::Fit(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                                 const PreprocessOptions& options) {
  const std::vector<const Column*> columns = ColumnsAt(table, positions);
  TargetEncoder encoder;
  encoder.class_map_ = options.class_map;
  encoder.task_ = TaskOf(table, rows, positions, options);
  const bool classes = encoder.task_ == Task::kClassification;
  for (const int64_t position : positions) {
    encoder.columns_.push_back(FitTarget(table, rows, position, classes ? Scaling::kNone : options.target_scaling));
  }
  if (classes) {
    encoder.FitClasses(table, *columns[0], rows);
  }
  encoder.FitBaseline(table, options.baseline);
  PlaceColumns(encoder.columns_);
  return encoder;
}

void TargetEncoder::FitClasses(const Table& table, const Column& column, std::span<const int64_t> rows) {
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
    columns_[0].categories = class_names_;  // to tell new values from those of training
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
}

void TargetEncoder::FitBaseline(const Table& table, const std::string& baseline) {
  if (baseline.empty()) {
    return;
  }
  if (task_ != Task::kRegression || columns_.size() != 1) {
    throw Error(ErrorCode::kInvalidArgument, "--baseline is the naive guess of one number to predict",
                {.value = baseline, .remedy = "Leave it out, or use --task regression with one target."});
  }
  baseline_.name = baseline;
  baseline_.position = -1;
  const auto names = table.ColumnNames();
  const double number = ParseNumber(baseline);
  if (std::isfinite(number) && std::find(names.begin(), names.end(), baseline) == names.end()) {
    baseline_.fill = number;
    return;
  }
  baseline_.position = table.FindColumn(baseline);
  const Column& column = table.columns[static_cast<size_t>(baseline_.position)];
  if (column.kind == ColumnKind::kText) {
    throw Error(ErrorCode::kInvalidArgument, "--baseline must be a column of numbers, this one is text",
                {.file = table.source, .column = column.name});
  }
}

TargetEncoder TargetEncoder::For(const TargetForm& form) const {
  if (form.positive == form.negative || !std::isfinite(form.positive) || !std::isfinite(form.negative)) {
    throw Error(ErrorCode::kInvalidArgument, "the target values of the true and the other classes must differ",
                {.value = fmt::format("{}, {}", form.positive, form.negative)});
  }
  if (form.single_output && class_names_.size() != 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a single output tells two classes apart, there are {}", class_names_.size()),
                {.column = columns_[0].name, .remedy = "Use one output per class."});
  }
  TargetEncoder encoder = *this;
  encoder.form_ = form;
  return encoder;
}

int64_t TargetEncoder::count() const {
  if (task_ == Task::kRegression) {
    return std::ssize(columns_) * OutputsOfTarget();
  }
  return form_.single_output ? 1 : std::ssize(class_names_);
}

std::vector<std::string> TargetEncoder::names() const {
  std::vector<std::string> names;
  for (const FittedColumn& column : columns_) {
    names.push_back(column.name);
  }
  return names;
}

std::vector<std::string> TargetEncoder::answer_names() const {
  if (form_.quantiles.empty()) {
    return names();
  }
  std::vector<std::string> answers;
  for (const FittedColumn& column : columns_) {
    for (const double level : form_.quantiles) {
      answers.push_back(fmt::format("{} q{}", column.name, level));
    }
  }
  return answers;
}

void TargetEncoder::Encode(const Table& table, std::span<const Column* const> columns, const Column* baseline,
                           UnseenPolicy unseen, Dataset& dataset, EncodeReport& report) const {
  if (task_ == Task::kClassification) {
    EncodeClasses(table, *columns[0], unseen, dataset, report);
    return;
  }
  dataset.targets = Matrix(std::ssize(dataset.rows), std::ssize(columns_), dataset.features.dtype());
  EncodeColumns(table, columns_, columns, dataset.rows, {}, dataset.targets, report);
  if (OutputsOfTarget() > 1) {
    dataset.targets = Repeated(dataset.targets);
  }
  EncodeBaseline(table, baseline, dataset);
}

void TargetEncoder::EncodeClasses(const Table& table, const Column& column, UnseenPolicy unseen, Dataset& dataset,
                                  EncodeReport& report) const {
  const CategoryView view(column, dataset.rows);
  const std::vector<int32_t> index = ClassIndex(view, class_map_, class_names_);
  dataset.labels.resize(dataset.rows.size());
  std::vector<int64_t> counts(view.names().size());
  for (size_t i = 0; i < dataset.rows.size(); ++i) {
    const int32_t code = view.Code(dataset.rows[i]);
    if (code < 0) {
      ThrowCell(table, dataset.rows[i], column, "missing class", "Leave such rows out with --missing drop.");
    }
    const int32_t label = index[static_cast<size_t>(code)];
    if (label < 0 && unseen == UnseenPolicy::kError) {
      ThrowCell(table, dataset.rows[i], column, "class not seen in training",
                "Count rows of unseen classes as wrong with --unseen zero, or train on rows that have it.");
    }
    ++counts[static_cast<size_t>(code)];
    dataset.labels[i] = label;
  }
  AddNewLabels(view, counts, index, class_names_, class_map_.empty() ? class_names_ : columns_[0].categories, report);
  dataset.targets = TargetsOf(dataset.labels, dataset.features.dtype());
}

void TargetEncoder::EncodeBaseline(const Table& table, const Column* column, Dataset& dataset) const {
  if (baseline_.name.empty()) {
    return;
  }
  dataset.baseline.assign(dataset.rows.size(), baseline_.fill);
  for (size_t i = 0; i < dataset.rows.size() && column != nullptr; ++i) {
    dataset.baseline[i] = column->Number(dataset.rows[i]);
    if (std::isnan(dataset.baseline[i])) {
      ThrowCell(table, dataset.rows[i], *column, "missing value in the column of the baseline",
                "Leave such rows out with --missing drop.");
    }
  }
}

Matrix TargetEncoder::Repeated(const Matrix& targets) const {
  const int64_t columns = std::ssize(columns_);
  const int64_t given = targets.cols() / columns;  // outputs of a column
  const int64_t outputs = OutputsOfTarget();
  Matrix repeated(targets.rows(), count(), targets.dtype());
  DispatchFloat(targets.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < targets.rows(); ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        std::fill_n(repeated.Row<T>(i) + j * outputs, outputs, targets.Row<T>(i)[j * given]);
      }
    }
  });
  return repeated;
}

Matrix TargetEncoder::TargetsOf(std::span<const int32_t> labels, DType dtype) const {
  const int64_t outputs = count();
  Matrix targets(std::ssize(labels), outputs, dtype);
  DispatchFloat(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* target = targets.Row<T>(0);
    std::fill(target, target + std::ssize(labels) * outputs, static_cast<T>(form_.negative));
    for (const int32_t label : labels) {
      const int32_t output = form_.single_output ? label - 1 : label;  // class 1 is the positive one
      if (output >= 0) {
        target[output] = static_cast<T>(form_.positive);
      }
      target += outputs;
    }
  });
  return targets;
}

Dataset TargetEncoder::InForm(const Dataset& dataset) const {
  Dataset formed;
  formed.features = dataset.features.Share();
  formed.files = dataset.files;
  formed.targets = dataset.soft.rows() > 0             ? TargetsOf(dataset.soft, dataset.targets.dtype())
                   : task_ == Task::kClassification    ? TargetsOf(dataset.labels, dataset.targets.dtype())
                   : dataset.targets.cols() != count() ? Repeated(dataset.targets)
                                                       : dataset.targets.Share();
  formed.labels = dataset.labels;
  formed.soft = dataset.soft.Share();
  formed.rows = dataset.rows;
  formed.sample_weights = dataset.sample_weights;
  formed.groups = dataset.groups;
  formed.times = dataset.times;
  formed.baseline = dataset.baseline;
  return formed;
}

void TargetEncoder::Unscale(MatrixView outputs) const {
  Check(outputs.cols == count(), "Unscale: one column per output");
  const int64_t each = OutputsOfTarget();
  DispatchFloat(outputs.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < outputs.rows; ++i) {
      T* row = outputs.Row<T>(i);
      for (int64_t j = 0; j < outputs.cols; ++j) {
        row[j] = static_cast<T>(ScalingOf(j).Decode(static_cast<double>(row[j])));
      }
      for (int64_t j = 0; each > 1 && j < outputs.cols; j += each) {
        std::sort(row + j, row + j + each);
      }
    }
  });
}

int32_t TargetEncoder::ClassOf(std::span<const double> outputs) const {
  if (std::any_of(outputs.begin(), outputs.end(), [](double output) { return std::isnan(output); })) {
    return -1;
  }
  if (form_.single_output) {
    return (outputs[0] > class_threshold()) == highest_wins() ? 1 : 0;
  }
  const auto best = highest_wins() ? std::max_element(outputs.begin(), outputs.end())
                                   : std::min_element(outputs.begin(), outputs.end());
  return static_cast<int32_t>(best - outputs.begin());
}

void TargetEncoder::AddTo(nlohmann::json& object) const {
  object["task"] = NameOf(task_, kTasks);
  object["positive_target"] = form_.positive;
  object["negative_target"] = form_.negative;
  object["single_output"] = form_.single_output;
  if (!form_.quantiles.empty()) {
    object["quantiles"] = form_.quantiles;
  }
  object["targets"] = encoder_json::ToJson(columns_);
  object["classes"] = class_names_;
  if (!class_map_.empty()) {
    object["class_map"] = class_map_.Text();
  }
  if (!baseline_.name.empty()) {
    object["baseline"] = {{"name", baseline_.name}, {"number", baseline_.fill}, {"column", baseline_.position}};
  }
}

TargetEncoder TargetEncoder::FromJson(const nlohmann::json& object) {
  using namespace encoder_json;
  TargetEncoder encoder;
  encoder.task_ = GetKind(object, "task", kTasks);
  encoder.form_ = {Get<double>(object, "positive_target"), Get<double>(object, "negative_target"),
                   Get<bool>(object, "single_output"), NumbersIn(object, "quantiles")};
  encoder.columns_ = ColumnsFromJson(object, "targets");
  encoder.class_names_ = Get<std::vector<std::string>>(object, "classes");
  const bool classes = encoder.task_ == Task::kClassification;
  if (encoder.columns_.empty() || (classes && encoder.columns_.size() != 1)) {
    ThrowField("targets", "has a wrong number of columns");
  }
  if (classes && !encoder.form_.quantiles.empty()) {
    ThrowField("quantiles", "are of numbers, and the targets are classes");
  }
  const size_t names = encoder.class_names_.size();
  if (classes ? names < 2 || (encoder.form_.single_output && names != 2) : names != 0) {
    ThrowField("classes", "has a wrong number of names", std::to_string(names));
  }
  if (std::any_of(encoder.columns_.begin(), encoder.columns_.end(),
                  [&](const FittedColumn& column) { return !classes && column.kind != ColumnKind::kNumber; })) {
    ThrowField("kind", "of a number to predict is not number");
  }
  if (object.contains("class_map")) {  // older files have none
    encoder.class_map_ = AsField([&] { return ClassMap::Parse(Get<std::vector<std::string>>(object, "class_map")); });
  }
  if (object.contains("baseline")) {
    const nlohmann::json& baseline = object["baseline"];
    encoder.baseline_.name = Get<std::string>(baseline, "name");
    encoder.baseline_.fill = Get<double>(baseline, "number");
    const auto column = Get<double>(baseline, "column");
    if (column < -1 || column >= 1e15 || column != std::trunc(column)) {
      ThrowField("column", "of the baseline is no column");
    }
    encoder.baseline_.position = static_cast<int64_t>(column);
  }
  PlaceColumns(encoder.columns_);
  return encoder;
}

}  // namespace lamina
