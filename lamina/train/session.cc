// From settings to data sets, network, training and files.
#include "lamina/train/session.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/timing.h"
#include "lamina/base/version.h"
#include "lamina/data/category_lookup.h"

namespace lamina {
namespace {

constexpr const char* kSettingsKey = "settings";

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

}  // namespace

TrainSettings ResumeSettings(const std::string& checkpoint, std::span<const Activation> custom) {
  const Checkpoint saved = LoadCheckpoint(checkpoint, custom);
  if (!saved.model.training.contains(kSettingsKey)) {
    throw Error(ErrorCode::kBadModel, "the checkpoint holds no settings", {.file = checkpoint});
  }
  return TrainSettingsFromJson(saved.model.training[kSettingsKey]);
}

TrainSession::TrainSession(const TrainSettings& settings, std::vector<Activation> custom)
    : settings_(settings), custom_(std::move(custom)) {
  ValidateSettings(settings_, custom_);
  CheckOutputs();
  backend_ = MakeBackend(settings_.backend, {.threads = static_cast<int>(settings_.threads)});
  LoadData(nullptr);
  BuildNetwork();
}

TrainSession::TrainSession(const TrainSettings& settings, const std::string& checkpoint, std::vector<Activation> custom)
    : settings_(settings), custom_(std::move(custom)) {
  ValidateSettings(settings_, custom_);
  CheckOutputs();
  backend_ = MakeBackend(settings_.backend, {.threads = static_cast<int>(settings_.threads)});
  Checkpoint saved = LoadCheckpoint(checkpoint, custom_);
  LoadData(&saved.model.preprocessor);
  BuildNetwork();
  if (saved.model.network.layers() != model_.network.layers()) {
    throw Error(ErrorCode::kBadModel, "the checkpoint's network is not the one of these settings",
                {.file = checkpoint, .remedy = "Resume without flags that change the network."});
  }
  if (saved.data_fingerprint != DataFingerprint(train_, validation_.size() == 0 ? nullptr : &validation_)) {
    throw Error(ErrorCode::kBadModel, "the checkpoint was written for other training data",
                {.file = checkpoint, .remedy = "Resume with the same data, split and seed."});
  }
  const TrainOptions options = TrainOptionsFrom(settings_, output_.loss);
  if (const Verdict verdict = CheckTrainState(saved.state, model_.network, options); !verdict) {
    throw Error(ErrorCode::kBadModel, "the checkpoint's training state does not fit: " + verdict.reason,
                {.file = checkpoint, .remedy = "Resume without flags that change the optimizer or the weights kept."});
  }
  resume_state_ = std::move(saved.state);
}

int64_t TrainSession::first_epoch() const { return resume_state_ ? resume_state_->epoch + 1 : 1; }

void TrainSession::CheckOutputs() const {
  for (const std::string& path : {settings_.model, settings_.history, settings_.history_json, CheckpointPath()}) {
    if (!path.empty()) {
      RequireWritableTarget(path);
    }
  }
  const NamedPath written[] = {{"--model", settings_.model},
                               {"--history", settings_.history},
                               {"--history-json", settings_.history_json},
                               {"--checkpoint", CheckpointPath()}};
  const NamedPath read[] = {
      {"--data", settings_.data}, {"--test", settings_.test}, {"--validation", settings_.validation}};
  RequireSeparateFiles(written, read);
  if (settings_.checkpoint_epochs > 0 && CheckpointPath().empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--checkpoint-epochs needs --checkpoint FILE or --model FILE");
  }
}

std::string TrainSession::CheckpointPath() const {
  if (!settings_.checkpoint.empty() || settings_.model.empty()) {
    return settings_.checkpoint;
  }
  return settings_.model + ".checkpoint";
}

void TrainSession::FitPreprocessor(const Table& table, std::span<const int64_t> rows,
                                   const std::optional<std::string>& target) {
  TrainSettings settings = settings_;
  if (settings.target.empty() && target) {
    settings.target = {*target};
  }
  PreprocessOptions options = PreprocessOptionsFrom(settings, Activation(), false);
  model_.preprocessor = Preprocessor::Fit(table, rows, options);
  const bool classes = model_.preprocessor.task() == Task::kClassification;
  output_ =
      PlanOutput(settings_, classes ? static_cast<int64_t>(model_.preprocessor.class_names().size()) : 0, custom_);
  const PreprocessOptions planned = PreprocessOptionsFrom(settings, output_.activation, output_.single_output);
  if (planned.negative_target != options.negative_target || planned.single_output) {
    model_.preprocessor = Preprocessor::Fit(table, rows, planned);  // other target values
  }
}

void TrainSession::LoadData(const Preprocessor* fitted) {
  const Stopwatch watch;
  const ReadOptions read = ReadOptionsFrom(settings_);
  ReadResult result = ReadData(settings_.data, read);
  const Table& table = result.train;
  ReadOptions read_others = read;  // text is text in every file, even where one holds only numbers
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kText) {
      read_others.text_columns_if_present.push_back(column.name);
    }
  }
  if (!settings_.test.empty()) {
    result.test = ReadTable(settings_.test, read_others);
  }
  std::optional<Table> validation_table;
  if (!settings_.validation.empty()) {
    validation_table = ReadTable(settings_.validation, read_others);
  }
  std::vector<int64_t> rows = SelectRows(table.rows, settings_.samples, settings_.random_samples, settings_.seed);
  SplitOptions split_options = SplitOptionsFrom(settings_, result.test.has_value(), validation_table.has_value());
  std::vector<int32_t> strata;
  if (settings_.stratify) {
    std::string target = settings_.target.empty() ? result.target.value_or("-1") : settings_.target.front();
    strata = StrataOf(table, rows, target);
  }
  const Split split = SplitRows(rows, strata, split_options);
  const DType dtype = ParseDType(settings_.dtype);
  if (fitted != nullptr) {
    model_.preprocessor = *fitted;
    output_ = PlanOutput(
        settings_, fitted->task() == Task::kClassification ? static_cast<int64_t>(fitted->class_names().size()) : 0,
        custom_);
  } else {
    FitPreprocessor(table, split.train, result.target);
  }
  const Preprocessor& preprocessor = model_.preprocessor;
  const auto encode = [&](const Table& from, const std::vector<int64_t>& chosen) {
    return preprocessor.Encode(from, preprocessor.UsableRows(from, chosen, true), dtype, &encode_report_);
  };
  train_ = encode(table, split.train);
  validation_ =
      validation_table ? encode(*validation_table, AllRows(*validation_table)) : encode(table, split.validation);
  test_ = result.test ? encode(*result.test, AllRows(*result.test)) : encode(table, split.test);
  const WeightOptions weights = WeightOptionsFrom(settings_);
  if (weights.balanced_classes || !weights.class_weights.empty() || !weights.weight_column.empty()) {
    train_.sample_weights = SampleWeights(table, train_, preprocessor, weights);
  }
  load_seconds_ = watch.Elapsed_seconds();
}

void TrainSession::BuildNetwork() {
  const std::vector<LayerSpec> layers =
      LayersFrom(settings_, output_, model_.preprocessor.input_count(), model_.preprocessor.output_count(), custom_);
  model_.network = Network(layers, ParseDType(settings_.dtype));
  model_.network.Initialize(InitializationFrom(settings_, layers), settings_.seed);
  model_.loss = output_.loss;
  model_.training = {{kSettingsKey, ToJson(settings_)}, {"lamina_version", Version()}};
}

TrainResult TrainSession::Run(TrainCallbacks callbacks) {
  TrainOptions options = TrainOptionsFrom(settings_, output_.loss);
  options.class_threshold = model_.preprocessor.class_threshold();
  Trainer trainer(model_.network, *backend_, options);
  if (resume_state_) {
    trainer.Resume(*std::exchange(resume_state_, std::nullopt));
  }
  callbacks.checkpoint = nullptr;
  if (const std::string path = CheckpointPath(); !path.empty()) {
    callbacks.checkpoint = [this, path](const TrainState& state) {
      const uint64_t fingerprint = DataFingerprint(train_, validation_.size() == 0 ? nullptr : &validation_);
      SaveCheckpoint(path, model_, state, fingerprint);
    };
  }
  TrainResult result;
  result.history = trainer.Run(train_, &validation_, callbacks);
  for (const EpochRecord& record : result.history.epochs) {
    result.train_seconds += record.train_seconds;
  }
  if (test_.size() > 0 && result.history.stop_reason != "interrupted") {
    result.test = Evaluate(model_, *backend_, test_);
  }
  WriteFiles(result);
  return result;
}

void TrainSession::WriteFiles(const TrainResult& result) {
  if (!settings_.history.empty()) {
    WriteFileAtomically(settings_.history, result.history.ToCsv());
  }
  if (!settings_.history_json.empty()) {
    WriteFileAtomically(settings_.history_json, result.history.ToJson().dump(2) + "\n");
  }
  if (result.history.stop_reason == "interrupted" || settings_.model.empty()) {
    return;
  }
  model_.training["epochs"] = result.history.epochs.size();
  model_.training["best_epoch"] = result.history.best_epoch;
  if (result.test) {
    model_.training["test"] = ToJson(*result.test);
  }
  SaveModel(settings_.model, model_);
}

}  // namespace lamina
