// From settings and tables to split, preprocessing and layers.
#include "lamina/train/run_plan.h"

#include <cmath>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/category_lookup.h"
#include "lamina/data/column_statistics.h"

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

Split SplitOf(const TrainSettings& settings, const RunTables& tables) {
  const Table& table = tables.main.train;
  const std::vector<int64_t> rows = SelectRows(table.rows, settings.samples, settings.random_samples, settings.seed);
  std::vector<int32_t> strata;
  if (settings.stratify) {
    strata =
        StrataOf(table, rows, settings.target.empty() ? tables.main.target.value_or("-1") : settings.target.front());
  }
  return SplitRows(rows, strata,
                   SplitOptionsFrom(settings, tables.main.test.has_value(), tables.validation.has_value()));
}

OutputPlan OutputFor(const TrainSettings& settings, const Preprocessor& preprocessor,
                     std::span<const Activation> custom) {
  const bool classes = preprocessor.task() == Task::kClassification;
  return PlanOutput(settings, classes ? static_cast<int64_t>(preprocessor.class_names().size()) : 0, custom);
}

void FitPreprocessor(TrainSettings settings, const RunTables& tables, std::span<const Activation> custom,
                     RunPlan& plan) {
  if (settings.target.empty() && tables.main.target) {
    settings.target = {*tables.main.target};
  }
  const Table& table = tables.main.train;
  const PreprocessOptions options = PreprocessOptionsFrom(settings, Activation(), false);
  plan.preprocessor = Preprocessor::Fit(table, plan.split.train, options);
  plan.output = OutputFor(settings, plan.preprocessor, custom);
  const PreprocessOptions planned = PreprocessOptionsFrom(settings, plan.output.activation, plan.output.single_output);
  if (planned.negative_target != options.negative_target || planned.single_output) {
    plan.preprocessor = Preprocessor::Fit(table, plan.split.train, planned);  // other target values
  }
}

// Fit() has looked at the training rows; a value missing in the others would end the run later.
void RequireOthersComplete(const Table& table, const RunPlan& plan) {
  std::vector<const Column*> used;
  for (const FittedColumn& input : plan.preprocessor.input_columns()) {
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

RunTables ReadRunTables(const TrainSettings& settings) {
  const ReadOptions options = ReadOptionsFrom(settings);
  RunTables tables{ReadData(settings.data, options), std::nullopt};
  ReadOptions others = options;  // text is text in every file, even where one holds only numbers
  for (const Column& column : tables.main.train.columns) {
    if (column.kind == ColumnKind::kText) {
      others.text_columns_if_present.push_back(column.name);
    }
  }
  if (!settings.test.empty()) {
    tables.main.test = ReadTable(settings.test, others);
  }
  if (!settings.validation.empty()) {
    tables.validation = ReadTable(settings.validation, others);
  }
  return tables;
}

int64_t RunPlan::parameter_count() const {
  int64_t count = 0;
  for (const LayerSpec& layer : layers) {
    count += layer.parameter_count();
  }
  return count;
}

RunPlan PlanRun(const TrainSettings& settings, const RunTables& tables, const Preprocessor* fitted,
                std::span<const Activation> custom) {
  RunPlan plan;
  plan.split = SplitOf(settings, tables);
  if (fitted != nullptr) {
    plan.preprocessor = *fitted;
    plan.output = OutputFor(settings, *fitted, custom);
  } else {
    FitPreprocessor(settings, tables, custom, plan);
    if (settings.missing == "error") {
      RequireOthersComplete(tables.main.train, plan);
    }
  }
  plan.layers =
      LayersFrom(settings, plan.output, plan.preprocessor.input_count(), plan.preprocessor.output_count(), custom);
  if (const Verdict verdict = Network::CheckLayers(plan.layers, ParseDType(settings.dtype)); !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason);
  }
  plan.train_rows = std::ssize(plan.split.train);
  plan.validation_rows = tables.validation ? tables.validation->rows : std::ssize(plan.split.validation);
  plan.test_rows = tables.main.test ? tables.main.test->rows : std::ssize(plan.split.test);
  return plan;
}

}  // namespace lamina
