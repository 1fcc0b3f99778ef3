// Rows and beginnings of runs.
#include "lamina/run/run_origin.h"

#include <utility>

#include "lamina/data/encode/bound_table.h"
#include "lamina/model/drift.h"
#include "lamina/run/checkpoint_settings.h"
#include "lamina/run/encoded_data.h"
#include "lamina/run/method_choice.h"
#include "lamina/run/start_model.h"
#include "lamina/settings/recipe.h"

namespace lamina {
namespace {

RunRows EncodedRows(TrainSettings& settings, std::span<const Activation> custom, const Preprocessor* fitted,
                    const RankShare& share) {
  EncodedData encoded = OpenEncodedData(settings, custom, fitted, share);
  RunRows rows{std::make_shared<const TrainData>(std::move(encoded.data)), std::move(encoded.profile),
               RecipeRemark(settings, encoded.is_image)};
  settings = std::move(encoded.settings);
  return rows;
}

RunRows TableRows(TrainSettings& settings, const RawData& raw, std::span<const Activation> custom,
                  const Preprocessor* fitted, const RankShare& share) {
  RunRows rows;
  const Table& table = raw.main.train;
  if (fitted == nullptr) {  // what goes on keeps its method
    MethodChoice choice = ChooseMethod(settings, raw, custom);
    rows.recipe_remark = std::move(choice.remark);
    settings = std::move(choice.settings);
  } else {
    rows.recipe_remark = RecipeRemark(settings, table.is_image);
    settings.recipe = RecipeFor(settings, table.is_image);
  }
  TrainData data = EncodeData(raw, settings, custom, fitted, {{}, share});
  const std::vector<int64_t> all_rows = std::exchange(data.all_rows, {});
  rows.profile = ProfileOf(BoundTable(data.preprocessor, table), data.preprocessor,
                           data.sharded_rows > 0 ? all_rows : data.train.rows);
  rows.data = std::make_shared<const TrainData>(std::move(data));
  return rows;
}

}  // namespace

RunRows OpenRunRows(TrainSettings& settings, const RawData* raw, std::span<const Activation> custom,
                    const Preprocessor* fitted, const RankShare& share) {
  if (raw != nullptr) {
    return TableRows(settings, *raw, custom, fitted, share);
  }
  if (IsEncodedData(settings.data)) {
    return EncodedRows(settings, custom, fitted, share);
  }
  DataSources sources = SourcesFrom(settings);
  if (fitted != nullptr) {  // an earlier program may have read text where this one sees numbers
    fitted->AddTo(sources.read);
  }
  return TableRows(settings, ReadRawData(sources), custom, fitted, share);
}

void RunOrigin::Complete(TrainSettings& /*settings*/, std::span<const Activation> /*custom*/) {}
void RunOrigin::RequireNetwork(const ResolvedSettings& /*settings*/, const Preprocessor& /*data*/,
                               std::span<const Activation> /*custom*/) const {}
void RunOrigin::Begin(const TrainSettings& /*settings*/, Model& /*model*/) const {}

CheckpointOrigin::CheckpointOrigin(const TrainSettings& settings, const std::string& path,
                                   std::span<const Activation> custom)
    : saved_(LoadCheckpoint(path, custom)) {
  RequireFixedSettings(settings, saved_);
  resumed_ = ResumedWith(settings, saved_);
}

void CheckpointOrigin::RequireNetwork(const ResolvedSettings& settings, const Preprocessor& data,
                                      std::span<const Activation> custom) const {
  RequireNoLargerNetwork(settings, data, custom, saved_);
}

void CheckpointOrigin::Begin(const TrainSettings& /*settings*/, Model& model) const {
  if (!resumed_.is_null()) {
    model.training[kResumedKey] = resumed_;
  }
}

void ModelOrigin::Complete(TrainSettings& settings, std::span<const Activation> custom) {
  start_ = ReadStartModel(settings, custom);
}

void ModelOrigin::Begin(const TrainSettings& settings, Model& model) const {
  model.training["start_from"] = TakeParameters(start_, settings.start_from, model.network);
}

std::unique_ptr<RunOrigin> OriginFrom(const TrainSettings& settings) {
  return settings.start_from.empty() ? std::make_unique<RunOrigin>() : std::make_unique<ModelOrigin>();
}

}  // namespace lamina
