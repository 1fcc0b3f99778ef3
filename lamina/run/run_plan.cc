// From settings and tables to split, preprocessing and layers. The method is chosen first, then the data is planned,
// the network, and the rows that can be used. Nothing is encoded or trained here: train_data.cc and TrainSession do
// that by the plan.
#include "lamina/run/run_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/soft_targets.h"
#include "lamina/run/method_choice.h"
#include "lamina/settings/embedding.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"
#include "lamina/settings/recipe.h"

namespace lamina {
namespace {

std::vector<std::string> TargetColumns(const std::vector<std::string>& targets) {
  return targets.empty() ? std::vector<std::string>{"-1"} : targets;
}

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

Split SplitOf(const DataOptions& options, const Table& table) {
  const std::vector<int64_t> rows = SelectRows(table.rows, options.samples, options.random_samples, options.split.seed);
  if (!options.split_by.empty() && options.folds.folds == 0) {
    return SplitRowsBy(table, options.split_by, rows, options.split);
  }
  if (!options.group.empty() && options.folds.folds == 0) {
    return SplitGroups(table, options.group, rows, options.split);
  }
  std::vector<int32_t> strata;
  if (options.split.stratify) {
    strata = StrataOf(table, rows, TargetColumns(options.preprocess.targets).front());
  }
  return options.folds.folds > 0 ? SplitFold(table, rows, strata, options.folds, options.split)
                                 : SplitRows(rows, strata, options.split);
}

// Fit() has looked at the training rows; a value missing in the others would end the run later.
void RequireOthersComplete(const Table& table, const DataPlan& plan) {
  std::vector<const Column*> used;
  const Preprocessor& fitted = plan.preprocessor;
  for (const std::vector<FittedColumn>* columns : {&fitted.inputs().columns(), &fitted.targets().columns()}) {
    for (const FittedColumn& column : *columns) {
      used.push_back(&table.columns[static_cast<size_t>(column.position)]);
    }
  }
  for (const std::vector<int64_t>* rows : {&plan.split.validation, &plan.split.test}) {
    if (const auto cell = FindMissing(used, *rows)) {
      ThrowCell(table, (*rows)[static_cast<size_t>(cell->row)], *used[static_cast<size_t>(cell->column)],
                "missing value", "Fill such cells in with --missing mean, or leave the rows out with --missing drop.");
    }
  }
}

}  // namespace

DataSources SourcesFrom(const TrainSettings& settings) {
  return {settings.data,
          settings.test,
          settings.validation,
          ReadOptionsFrom(settings),
          {settings.derive, settings.series_by, settings.order_by}};
}

RawData ReadRawData(const DataSources& sources) {
  RawData raw{ReadData(sources.data, sources.read), std::nullopt};
  ReadOptions others = sources.read;  // text is text in every file, even where one holds only numbers
  for (const Column& column : raw.main.train.columns) {
    others.known_columns.push_back(KnownColumnOf(column));
  }
  if (!sources.test.empty()) {
    raw.main.test = ReadTable(sources.test, others);
  }
  if (!sources.validation.empty()) {
    raw.validation = ReadTable(sources.validation, others);
  }
  DeriveColumns(raw.main.train, sources.derive);
  RequireDates(raw.main.train, sources.derive);
  for (std::optional<Table>* table : {&raw.main.test, &raw.validation}) {
    if (table->has_value()) {
      DeriveColumns(**table, sources.derive);
    }
  }
  return raw;
}

Task TaskOf(const TrainSettings& settings, const RawData& raw) {
  const Table& table = raw.main.train;
  PreprocessOptions options = PreprocessOptionsFrom(Resolve(settings));
  if (settings.target.empty() && raw.main.target) {
    options.targets = {*raw.main.target};
  }
  std::vector<int64_t> positions;
  for (const std::string& name : TargetColumns(options.targets)) {
    positions.push_back(table.FindColumn(name));
  }
  return TargetEncoder::TaskOf(table, SelectRows(table.rows, settings.samples, settings.random_samples, settings.seed),
                               positions, options);
}

const Table* TestTableOf(const TrainSettings& settings, const RawData& raw) {
  return raw.main.test && settings.fold == 0 ? &*raw.main.test : nullptr;
}

DataOptions DataOptionsFrom(const TrainSettings& settings, const RawData& raw) {
  DataOptions options;
  options.samples = settings.samples;
  options.random_samples = settings.random_samples;
  options.split_by = settings.split_by;
  options.group = settings.group;
  options.split = SplitOptionsFrom(settings, raw.main.test.has_value(), raw.validation.has_value());
  options.preprocess = PreprocessOptionsFrom(Resolve(settings));
  if (settings.target.empty() && raw.main.target) {
    options.preprocess.targets = {*raw.main.target};
  }
  options.in_order = !LearnsByGradient(settings);
  if (settings.folds > 0) {
    if (settings.fold == 0) {
      RefuseSetting("folds", "--folds makes a run for each fold, and this is one", FieldText(&settings.folds),
                    "Choose one with --fold, or use lamina train, which makes them all.");
    }
    options.folds = {settings.folds, settings.fold, settings.group, settings.split_by, settings.bag};
    const bool whole = !settings.group.empty() || !settings.split_by.empty();  // classes are where their groups are
    options.split.stratify = !whole && (settings.stratify || TaskOf(settings, raw) == Task::kClassification);
  }
  options.weights = WeightOptionsFrom(settings);
  options.soft_targets = settings.soft_target;
  options.dtype = ParseDType(settings.dtype);
  return options;
}

TargetForm FormFor(const ResolvedSettings& settings, const TargetEncoder& targets, std::span<const Activation> custom) {
  if (!LearnsByGradient(*settings)) {
    return TargetFormOfMethod(*settings);
  }
  const OutputPlan plan = PlanOutput(settings, std::ssize(targets.class_names()), custom);
  return TargetFormFrom(*settings, plan.activation, plan.single_output);
}

DataPlan PlanData(const TrainSettings& settings, const RawData& raw, std::span<const Activation> custom,
                  const Preprocessor* fitted) {
  const DataOptions options = DataOptionsFrom(settings, raw);
  DataPlan plan;
  plan.split = SplitOf(options, raw.main.train);
  if (options.in_order) {
    std::sort(plan.split.train.begin(), plan.split.train.end());
  }
  if (fitted != nullptr) {
    plan.preprocessor = *fitted;
  } else {
    plan.preprocessor = Preprocessor::Fit(raw.main.train, plan.split.train, options.preprocess);
    const TargetEncoder& targets = plan.preprocessor.targets();
    plan.preprocessor.set_form(FormFor(ResolveFor(settings, targets), targets, custom));
  }
  if (!options.soft_targets.empty()) {
    SoftTargetColumns(raw.main.train, plan.preprocessor.targets(), options.soft_targets);
  }
  plan.decisions = LeakDecisions(raw.main.train, plan.split.train, plan.preprocessor);
  for (ColumnDecision& decision : DecisionsOn(raw.main.train, plan.preprocessor, options.preprocess)) {
    plan.decisions.push_back(std::move(decision));
  }
  return plan;
}

int64_t NetworkPlan::parameter_count() const {
  int64_t count = 0;
  for (const LayerSpec& layer : layers) {
    count += layer.parameter_count();
  }
  const LayerSpec& last = layers.back();
  count += (members - 1) * (last.weight_count() + (last.bias ? last.outputs : 0));
  return count + (members > 1 ? members * layers.front().inputs : 0);
}

namespace {

// Layers of the embedding go before the others, which have its numbers as inputs.
void EmbedInputs(const ResolvedSettings& settings, const InputEncoder& inputs, std::vector<LayerSpec>& layers) {
  const InputEmbedding embedding(settings, inputs);
  if (embedding.empty()) {
    return;
  }
  if (IsDistance(layers.front().synapse)) {
    RefuseSetting("number-embedding", "the first hidden layer is of distances, which starts at training rows",
                  NeuronText(layers.front()), "Leave the embedding out, or begin with a dot layer.");
  }
  const std::vector<LayerSpec>& first = embedding.layers();
  layers.front().inputs = first.back().outputs;
  layers.insert(layers.begin(), first.begin(), first.end());
}

}  // namespace

NetworkPlan PlanNetwork(const ResolvedSettings& settings, const Preprocessor& preprocessor,
                        std::span<const Activation> custom) {
  NetworkPlan plan;
  const auto classes = std::ssize(preprocessor.targets().class_names());
  const int64_t inputs = preprocessor.inputs().count();
  const int64_t outputs = preprocessor.targets().count();
  plan.output = PlanOutput(settings, classes, custom);
  plan.layers = LearnsByGradient(*settings) ? LayersFrom(settings, plan.output, inputs, outputs, custom)
                                            : LayersOfMethod(settings, inputs, outputs, classes);
  if (LearnsByGradient(*settings)) {
    EmbedInputs(settings, preprocessor.inputs(), plan.layers);
  }
  if (settings->shard_data && LearnsByGradient(*settings) &&
      (IsDistance(plan.layers.front().synapse) || EmbeddingLayersOf(settings, preprocessor.inputs()) > 0)) {
    RefuseSetting("shard-data", "a first layer of distances and embeddings start at all training rows", "",
                  "Leave --shard-data out, or begin with a dot layer without --number-embedding.");
  }
  plan.members = settings->members;
  if (const Verdict verdict = Network::CheckLayers(plan.layers, ParseDType(settings->dtype), plan.members); !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason, {.value = LayersText(plan.layers)});
  }
  return plan;
}

RunPlan PlanRun(const TrainSettings& given, const RawData& raw, std::span<const Activation> custom) {
  MethodChoice choice = ChooseMethod(given, raw, custom);
  const TrainSettings& settings = choice.settings;
  RunPlan plan;
  plan.method = settings.method;
  plan.recipe = settings.recipe;
  plan.recipe_remark = std::move(choice.remark);
  plan.data = PlanData(settings, raw, custom);
  if (settings.missing == "error") {
    RequireOthersComplete(raw.main.train, plan.data);
  }
  const BoundTable main(plan.data.preprocessor, raw.main.train, TableUse::kForTraining);
  const auto usable = [&](const Table* other, const std::vector<int64_t>& chosen) {
    const int64_t asked = other != nullptr ? other->rows : std::ssize(chosen);
    const int64_t used = std::ssize(
        other != nullptr
            ? BoundTable(plan.data.preprocessor, *other, TableUse::kForTraining).UsableRows(AllRowsOf(*other), true)
            : main.UsableRows(chosen, true));
    plan.left_out_rows += asked - used;
    return used;
  };
  plan.train_rows = usable(nullptr, plan.data.split.train);
  plan.validation_rows = usable(raw.validation ? &*raw.validation : nullptr, plan.data.split.validation);
  plan.test_rows = usable(TestTableOf(settings, raw), plan.data.split.test);
  const ResolvedSettings resolved = ResolveFor(settings, plan.rows());
  plan.network = PlanNetwork(resolved, plan.data.preprocessor, custom);
  const TrainOptions options = TrainOptionsFrom(resolved, plan.network.output.loss, plan.rows());
  plan.training = {options.epochs, options.batch, options.patience, options.rule.weight_decay};
  return plan;
}

}  // namespace lamina
