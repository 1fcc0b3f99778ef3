// Reading, splitting, encoding; the network that fits the data.
#include "lamina/train/train_data.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/timing.h"
#include "lamina/base/version.h"
#include "lamina/data/category_lookup.h"
#include "lamina/train/centres.h"

namespace lamina {
namespace {

std::vector<int64_t> AllRows(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
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

Split SplitOf(const RawData& raw, const TrainSettings& settings) {
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

PreprocessOptions OptionsFor(const RawData& raw, const TrainSettings& settings, const OutputPlan* plan) {
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

Preprocessor FitFor(const RawData& raw, std::span<const int64_t> rows, const TrainSettings& settings,
                    std::span<const Activation> custom) {
  const Table& table = raw.main.train;
  const PreprocessOptions options = OptionsFor(raw, settings, nullptr);
  Preprocessor fitted = Preprocessor::Fit(table, rows, options);
  const OutputPlan plan = PlanOutput(settings, ClassCount(fitted), custom);
  const PreprocessOptions planned = OptionsFor(raw, settings, &plan);
  if (planned.negative_target != options.negative_target || planned.single_output) {
    fitted = Preprocessor::Fit(table, rows, planned);  // other target values
  }
  return fitted;
}

// The names of the group "Data", which decides what is read and how it is encoded.
struct DataNames {
  bool in_group = false;
  std::vector<std::string> names;
  void Group(const char* title) { in_group = std::string_view(title) == "Data"; }
  template <class T>
  void operator()(const char* name, const T&, const char*) {
    if (in_group) {
      names.emplace_back(name);
    }
  }
};

std::string KeyOf(const TrainSettings& settings, std::initializer_list<const char*> more) {
  DataNames data;
  VisitTrainSettings(settings, data);
  data.names.insert(data.names.end(), more.begin(), more.end());
  const nlohmann::json all = ToJson(settings);
  nlohmann::json key = nlohmann::json::object();
  for (const std::string& name : data.names) {
    key[name] = all[name];
  }
  return key.dump();
}

}  // namespace

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

TrainData EncodeData(const RawData& raw, const TrainSettings& settings, std::span<const Activation> custom,
                     const Preprocessor* fitted) {
  const Stopwatch watch;
  const Split split = SplitOf(raw, settings);
  TrainData data;
  data.preprocessor = fitted != nullptr ? *fitted : FitFor(raw, split.train, settings, custom);
  const Preprocessor& preprocessor = data.preprocessor;
  const DType dtype = ParseDType(settings.dtype);
  const auto encode = [&](const Table& from, const std::vector<int64_t>& chosen) {
    return preprocessor.Encode(from, preprocessor.UsableRows(from, chosen, true), dtype, &data.report);
  };
  const auto encode_part = [&](const std::optional<Table>& other, const std::vector<int64_t>& chosen) {
    return other ? encode(*other, AllRows(*other)) : encode(raw.main.train, chosen);
  };
  data.train = encode(raw.main.train, split.train);
  data.validation = encode_part(raw.validation, split.validation);
  data.test = encode_part(raw.main.test, split.test);
  const WeightOptions weights = WeightOptionsFrom(settings);
  if (weights.balanced_classes || !weights.class_weights.empty() || !weights.weight_column.empty()) {
    data.train.sample_weights = SampleWeights(raw.main.train, data.train, preprocessor, weights);
  }
  data.seconds = watch.Elapsed_seconds();
  return data;
}

int64_t TrainData::classes() const { return ClassCount(preprocessor); }

Model BuildModel(const TrainSettings& settings, const TrainData& data, std::span<const Activation> custom) {
  Model model;
  model.preprocessor = data.preprocessor;
  const OutputPlan plan = PlanOutput(settings, data.classes(), custom);
  std::vector<LayerSpec> layers = LayersFrom(settings, plan, model.preprocessor.input_count(),
                                             model.preprocessor.output_count(), custom);
  LayerSpec& first = layers.front();
  const bool radius_given = settings.layers.substr(0, settings.layers.find(':')).find("radius=") != std::string::npos;
  if (IsDistance(first.synapse) && !radius_given) {
    first.activation = WithRadiusFor(first.activation, MeanDistance(first.synapse, data.train, settings.seed));
  }
  model.network = Network(layers, ParseDType(settings.dtype));
  model.network.Initialize(InitializationFrom(settings, layers), settings.seed);
  if (IsDistance(first.synapse)) {
    PlaceCentres(model.network, data.train, settings.seed);
  }
  model.loss = plan.loss;
  model.training = {{"settings", ToJson(settings)}, {"lamina_version", Version()}};
  return model;
}

std::shared_ptr<const TrainData> DataCache::Get(const TrainSettings& settings) {
  const std::lock_guard lock(mutex_);
  const std::string file_key = KeyOf(settings, {});
  std::shared_ptr<const RawData>& raw = files_[file_key];
  if (raw == nullptr) {
    raw = std::make_shared<const RawData>(ReadRawData(settings));
  }
  const std::string row_key = KeyOf(settings, {"dtype", "seed"});
  // Loss and activations matter as far as they change the form of the targets.
  const auto form = [&](int64_t classes) {
    const OutputPlan plan = PlanOutput(settings, classes, {});
    const PreprocessOptions options = OptionsFor(*raw, settings, &plan);
    return fmt::format("{} {} {}", row_key, options.negative_target, options.single_output);
  };
  if (const auto known = classes_.find(row_key); known != classes_.end()) {
    if (auto data = encoded_[form(known->second)].lock()) {
      return data;
    }
  }
  auto data = std::make_shared<const TrainData>(EncodeData(*raw, settings));
  classes_[row_key] = data->classes();
  encoded_[form(data->classes())] = data;
  last_ = data;
  return data;
}

}  // namespace lamina
