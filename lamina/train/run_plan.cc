// From settings and tables to split, preprocessing and layers.
#include "lamina/train/run_plan.h"

#include <cmath>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_statistics.h"

namespace lamina {
namespace {

// A class per row for stratified splitting; rows without one are a class of their own.
std::vector<int32_t> StrataOf(const Table& table, std::span<const int64_t> rows, const std::string& target) {
  const Column& column = table.columns[static_cast<size_t>(table.FindColumn(target))];
  const CategoryView classes(column, rows);
  std::vector<int32_t> strata;
  for (const int64_t row : rows) {
    if (column.kind == ColumnKind::kNumber && !column.IsMissing(row) &&
        column.Number(row) != std::trunc(column.Number(row))) {
      ThrowCell(table, row, column, "--stratify needs classes, and the target is a number to predict",
                "Leave --stratify out, or name a target of classes.");
    }
    strata.push_back(classes.Code(row));
  }
  return strata;
}

Split SplitOf(const TrainSettings& settings, const RawData& raw) {
  const Table& table = raw.main.train;
  const std::vector<int64_t> rows = SelectRows(table.rows, settings.samples, settings.random_samples, settings.seed);
  const SplitOptions options = SplitOptionsFrom(settings, raw.main.test.has_value(), raw.validation.has_value());
  if (!settings.split_by.empty()) {
    return SplitRowsBy(table, settings.split_by, rows, options);
  }
  std::vector<int32_t> strata;
  if (settings.stratify) {
    strata = StrataOf(table, rows, settings.target.empty() ? raw.main.target.value_or("-1") : settings.target.front());
  }
  return SplitRows(rows, strata, options);
}

Preprocessor FitFor(const TrainSettings& settings, const RawData& raw, std::span<const int64_t> rows,
                    std::span<const Activation> custom) {
  const Table& table = raw.main.train;
  const PreprocessOptions options = OptionsFor(settings, raw, nullptr);
  Preprocessor fitted = Preprocessor::Fit(table, rows, options);
  const OutputPlan plan = PlanOutput(settings, ClassCount(fitted), custom);
  const PreprocessOptions planned = OptionsFor(settings, raw, &plan);
  if (planned.negative_target != options.negative_target || planned.single_output) {
    fitted = Preprocessor::Fit(table, rows, planned);  // other target values
  }
  return fitted;
}

// Fit() has looked at the training rows; a value missing in the others would end the run later.
void RequireOthersComplete(const Table& table, const DataPlan& plan) {
  std::vector<const Column*> used;
  for (const FittedColumn& input : plan.preprocessor.inputs()) {
    used.push_back(&table.columns[static_cast<size_t>(input.position)]);
  }
  for (const std::string& target : plan.preprocessor.target_names()) {
    used.push_back(&table.columns[static_cast<size_t>(table.FindColumn(target))]);
  }
  for (const std::vector<int64_t>* rows : {&plan.split.validation, &plan.split.test}) {
    if (const auto cell = FindMissing(used, *rows)) {
      ThrowCell(table, (*rows)[static_cast<size_t>(cell->row)], *used[static_cast<size_t>(cell->column)],
                "missing value", "Leave such rows out with --missing drop, or fill them in with --missing mean.");
    }
  }
}

}  // namespace

PreprocessOptions OptionsFor(const TrainSettings& settings, const RawData& raw, const OutputPlan* plan) {
  PreprocessOptions options = plan == nullptr ? PreprocessOptionsFrom(settings, Activation(), false)
                                              : PreprocessOptionsFrom(settings, plan->activation, plan->single_output);
  if (settings.target.empty() && raw.main.target) {
    options.targets = {*raw.main.target};
  }
  if (settings.unseen == "auto" && raw.main.unseen_expected) {
    options.unseen = UnseenPolicy::kZero;
  }
  return options;
}

int64_t ClassCount(const Preprocessor& preprocessor) {
  return preprocessor.task() == Task::kClassification ? std::ssize(preprocessor.class_names()) : 0;
}

RawData ReadRawData(const TrainSettings& settings) {
  const ReadOptions options = ReadOptionsFrom(settings);
  RawData raw{ReadData(settings.data, options), std::nullopt};
  ReadOptions others = options;  // text is text in every file, even where one holds only numbers
  for (const Column& column : raw.main.train.columns) {
    if (column.kind == ColumnKind::kText) {
      others.text_columns_if_present.push_back(column.name);
    }
  }
  if (!settings.test.empty()) {
    raw.main.test = ReadTable(settings.test, others);
  }
  if (!settings.validation.empty()) {
    raw.validation = ReadTable(settings.validation, others);
  }
  const DeriveOptions derive{settings.derive, settings.series_by, settings.order_by};
  DeriveColumns(raw.main.train, derive);
  for (std::optional<Table>* table : {&raw.main.test, &raw.validation}) {
    if (table->has_value()) {
      DeriveColumns(**table, derive);
    }
  }
  return raw;
}

DataPlan PlanData(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom,
                  const Preprocessor* fitted) {
  DataPlan plan;
  plan.split = SplitOf(settings, raw);
  plan.preprocessor = fitted != nullptr ? *fitted : FitFor(settings, raw, plan.split.train, custom);
  return plan;
}

int64_t NetworkPlan::parameter_count() const {
  int64_t count = 0;
  for (const LayerSpec& layer : layers) {
    count += layer.parameter_count();
  }
  return count;
}

NetworkPlan PlanNetwork(const TrainSettings& settings, const Preprocessor& preprocessor,
                        std::span<const Activation> custom) {
  NetworkPlan plan;
  plan.output = PlanOutput(settings, ClassCount(preprocessor), custom);
  plan.layers = LayersFrom(settings, plan.output, preprocessor.input_count(), preprocessor.output_count(), custom);
  if (const Verdict verdict = Network::CheckLayers(plan.layers, ParseDType(settings.dtype)); !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason);
  }
  return plan;
}

RunPlan PlanRun(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom) {
  RunPlan plan;
  plan.data = PlanData(settings, raw, custom);
  if (settings.missing == "error") {
    RequireOthersComplete(raw.main.train, plan.data);
  }
  plan.network = PlanNetwork(settings, plan.data.preprocessor, custom);
  plan.train_rows = std::ssize(plan.data.split.train);
  plan.validation_rows = raw.validation ? raw.validation->rows : std::ssize(plan.data.split.validation);
  plan.test_rows = raw.main.test ? raw.main.test->rows : std::ssize(plan.data.split.test);
  return plan;
}

}  // namespace lamina
