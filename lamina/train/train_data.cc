// Encoding; the network that fits the data; data shared by many trainings.
#include "lamina/train/train_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/timing.h"
#include "lamina/base/version.h"
#include "lamina/train/centres.h"

namespace lamina {
namespace {

std::vector<int64_t> AllRows(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

// What is read and how it is encoded, and `more`.
std::string KeyOf(const TrainSettings& settings, std::initializer_list<std::string_view> more) {
  nlohmann::json key = ToJson(settings);
  for (const auto& row : SettingRows<TrainSettings>()) {
    if (row.group != kDataGroup && std::find(more.begin(), more.end(), row.name) == more.end()) {
      key.erase(row.name);
    }
  }
  return key.dump();
}

}  // namespace

TrainData EncodeData(const RawData& raw, const TrainSettings& settings, std::span<const Activation> custom,
                     const Preprocessor* fitted) {
  const Stopwatch watch;
  DataPlan plan = PlanData(settings, raw, custom, fitted);
  const Split& split = plan.split;
  TrainData data;
  data.preprocessor = std::move(plan.preprocessor);
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
  NetworkPlan plan = PlanNetwork(settings, model.preprocessor, custom);
  std::vector<LayerSpec>& layers = plan.layers;
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
  model.loss = plan.output.loss;
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
    const PreprocessOptions options = OptionsFor(settings, *raw, &plan);
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
