// From settings to data sets, network, training and files. Prepare(), which every constructor calls, checks settings
// first, so that nothing is read for settings that cannot work. It then reads, encodes, builds network and backend, and
// requires a checkpoint to fit them. Run() trains (session_training.cc; methods without gradients: direct_training.cc),
// judges by validation and test rows, and writes the files. Where a run begins is run_origin.h's.
#include "lamina/run/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "lamina/backend/backends.h"
#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/file_claim.h"
#include "lamina/base/sha256.h"
#include "lamina/base/stop.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/base/version.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/shards.h"
#include "lamina/model/drift.h"
#include "lamina/run/checkpoint.h"
#include "lamina/run/checkpoint_settings.h"
#include "lamina/run/encoded_data.h"
#include "lamina/run/line_first.h"
#include "lamina/run/memory_limit.h"
#include "lamina/run/others_beside.h"
#include "lamina/run/run_origin.h"
#include "lamina/run/start_model.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/centres.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/embedding.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"
#include "lamina/settings/monitor.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/validation.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

constexpr const char* kSettingsKey = "settings";

// The same table may be named from another folder.
std::string FileName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// Training again replaces what it made before; another model is only replaced where that was asked for.
void RequireOwnModel(const TrainSettings& settings, std::span<const Activation> custom) {
  std::error_code ignored;
  if (settings.model.empty() || settings.overwrite || !std::filesystem::is_regular_file(settings.model, ignored)) {
    return;
  }
  std::string what = "a file that is no model";
  try {
    const Model there = LoadModel(settings.model, custom);
    const nlohmann::json of = there.training.value(kSettingsKey, nlohmann::json::object());
    const auto data = of.value("data", std::string());
    if (FileName(data) == FileName(settings.data) &&
        of.value("target", std::vector<std::string>()) == settings.target) {
      return;
    }
    what = fmt::format("a model of {}{}", fmt::join(there.preprocessor.targets().names(), ", "),
                       data.empty() ? "" : ", trained on " + data);
  } catch (const Error&) {  // it says what is wrong with it, which does not matter
  }
  RefuseSetting("model", fmt::format("--model would replace {}", what), settings.model,
                "Give another name, or --overwrite.");
}

void RequireOwnCheckpoint(const TrainSettings& settings) {
  const std::string path = CheckpointPathOf(settings);
  std::error_code ignored;
  const bool replaces = settings.overwrite && !settings.checkpoint.empty();
  if (path.empty() || replaces || !std::filesystem::is_regular_file(path, ignored) || IsCheckpoint(path)) {
    return;
  }
  RefuseSetting(
      settings.checkpoint.empty() ? "model" : "checkpoint",
      fmt::format("the checkpoint{} would replace a file that is none",
                  settings.checkpoint.empty() ? " of --model" : ""),
      path, settings.checkpoint.empty() ? "Move it, or give --checkpoint FILE." : "Give another name, or --overwrite.");
}

// What this process has waited for ranks, `sign` times: before a run and after it.
void AddWaits(const Communicator* ranks, double sign, TrainResult& result) {
  if (ranks != nullptr) {
    result.waited_seconds += sign * ranks->waited_seconds();
    result.exchange_seconds += sign * ranks->exchange_seconds();
  }
}

}  // namespace

void RequireEncodedForMemory(const TrainSettings& settings) {
  if (!settings.memory.empty() && !IsEncodedData(settings.data)) {
    RefuseSetting("memory", "--memory is for encoded data", settings.memory,
                  "Encode them with lamina data encode, and train on the folder.");
  }
}

void CheckTrainOutputs(const TrainSettings& settings, std::span<const Activation> custom) {
  CheckFiles(FilesOf(settings));
  if (settings.checkpoint_epochs > 0 && CheckpointPathOf(settings).empty()) {
    RefuseSetting("checkpoint-epochs", "--checkpoint-epochs needs a file to write to", "",
                  "Give --checkpoint FILE or --model FILE, also beside --resume, or leave it out "
                  "(--checkpoint-epochs 0).");
  }
  RequireOwnModel(settings, custom);
  RequireOwnCheckpoint(settings);
}

TrainSession::TrainSession(const TrainSettings& settings, std::vector<Activation> custom, Communicator* ranks)
    : settings_(settings), custom_(std::move(custom)), ranks_(ranks) {
  Prepare(*OriginFrom(settings_), nullptr);
}

TrainSession::TrainSession(const TrainSettings& settings, const RawData& raw, std::vector<Activation> custom)
    : settings_(settings), custom_(std::move(custom)) {
  Prepare(*OriginFrom(settings_), &raw);
}

TrainSession::TrainSession(const TrainSettings& settings, const RawData& raw, FoundByFolds found,
                           std::vector<Activation> custom)
    : settings_(settings), custom_(std::move(custom)), found_(std::move(found)) {
  FoldsOrigin origin(found_->encoding);
  Prepare(origin, &raw);
}

TrainSession::TrainSession(const TrainSettings& settings, const std::string& checkpoint, std::vector<Activation> custom,
                           Communicator* ranks, const RawData* raw)
    : settings_(settings), custom_(std::move(custom)), ranks_(ranks) {
  CheckpointOrigin origin(settings_, checkpoint, custom_);
  Prepare(origin, raw);
}

void TrainSession::Prepare(RunOrigin& origin, const RawData* raw) {
  CheckSettings(origin);
  origin.Complete(settings_, custom_);
  const Stopwatch watch;
  const CostMatrix costs = settings_.cost_matrix.empty() ? CostMatrix() : CostMatrix::Read(settings_.cost_matrix);
  const RankShare share = ranks_ == nullptr ? RankShare() : RankShare{ranks_->size(), ranks_->rank()};
  RunRows opened = OpenRunRows(settings_, raw, custom_, origin.encoding(), share);
  data_ = std::move(opened.data);
  recipe_remark_ = std::move(opened.recipe_remark);
  load_seconds_ = watch.Elapsed_seconds();
  const ResolvedSettings resolved = ResolveFor(settings_, rows());
  origin.RequireNetwork(resolved, data_->preprocessor, custom_);
  model_ = BuildModel(resolved, *data_, custom_);
  model_.profile = std::move(opened.profile);
  RequireCentres(settings_, model_.network.layers().front());
  origin.Begin(settings_, model_);
  RequireKernelsBeside(settings_, *data_, model_);
  RequireTreesBeside(settings_, *data_, model_);
  ChooseOptions(resolved);
  RequireQuality();
  LetLineAnswerFirst();
  ChooseBackend();
  if (!costs.empty()) {
    RequireCosts(costs, model_);
    model_.training[kCostsKey] = costs.ToJson();
  }
  if (Checkpoint* const saved = origin.saved(); saved != nullptr) {
    RequireSameRun(*saved, model_, options_, Fingerprint(), rows().train);
    resume_state_ = std::move(saved->state);
  }
  RequireSameOnRanks();
}

// What is wrong whatever the rows are, and files that cannot be written.
void TrainSession::CheckSettings(const RunOrigin& origin) {
  TrainSettings checked = settings_;
  checked.bag = checked.bag && !origin.is_bag();
  if (EffortFrom(settings_) == Effort::kBest && (!found_ || found_->networks.empty())) {
    RefuseSetting("effort", "--effort best makes many runs, and this is one", settings_.effort,
                  "Use lamina train, which makes them all.");
  }
  ValidateSettings(checked, custom_);
  const bool leaves = settings_.method == NameOf(Method::kKernelMachine, kMethods);  // which ranks share as they are
  if ((ranks_ != nullptr || settings_.shard_data) && settings_.shards == 0 && !leaves) {
    settings_.shards = kShardsOfRanks;
  }
  const bool by_gradients = settings_.shards > 0 || settings_.quantize_aware > 0;
  if (by_gradients && settings_.method == kAutoText) {  // of shards one method for any number of ranks
    settings_.method = kBackpropagation;
  }
  const auto is_shared = [](Method method) { return method == Method::kElm || method == Method::kKernelMachine; };
  if (ranks_ != nullptr && !LearnsByGradient(settings_) && !is_shared(MethodFrom(settings_))) {
    RefuseSetting("method", fmt::format("the method {} has no sums that ranks could share", settings_.method),
                  settings_.method, "Train it in one process.");
  }
  RequireEncodedForMemory(settings_);
  CheckTrainOutputs(settings_, custom_);
}

void TrainSession::ChooseOptions(const ResolvedSettings& settings) {
  options_ = TrainOptionsFrom(settings, model_.loss, rows());
  options_.step.class_threshold = model_.preprocessor.targets().class_threshold();
  options_.step.embedding_layers = EmbeddingLayersOf(settings, model_.preprocessor.inputs());
  options_.step.frozen = FrozenLayers(settings_, model_.network);
  if (!settings_.memory.empty()) {
    options_.window_rows = WindowRows(ParseBytes(settings_.memory), rows().train, model_.network, options_);
    model_.training["window_rows"] = options_.window_rows;
  }
  SetMonitor(settings, model_, validation(), options_);
  options_.RequireRoutes(model_.network.layers(), settings_.members);
}

void TrainSession::ChooseBackend() {
  const std::string_view backend = LearnsByGradient(settings_)
                                       ? BackendForTraining(settings_.backend, model_.network.layers(), options_.batch,
                                                            model_.network.dtype(), options_.StateCount())
                                       : settings_.backend;
  const BackendOptions options{.threads = Threads(), .device = ranks_ == nullptr ? 0 : NumberOnHost(*ranks_)};
  backend_ =
      found_ && found_->make_backend ? found_->make_backend() : MakeTunedBackend(backend, options, &tuning_warning_);
  if (settings_.precision == kAutoText) {
    const Techniques techniques = TechniquesOf(model_.network.layers(), settings_.members, options_.step);
    settings_.precision = FastestPrecision(*backend_, model_.network, options_.batch,
                                           !model_.preprocessor.targets().class_names().empty(),
                                           Accepts(Route::kWholeNetwork, techniques).ok);
    options_.step.precision = PrecisionFrom(settings_);
  }
}

bool TrainSession::IsFirst() const { return ranks_ == nullptr || ranks_->is_first(); }

// The ranks of a host share its cores.
int TrainSession::Threads() {
  const auto asked = static_cast<int>(settings_.threads);
  if (ranks_ == nullptr) {
    return asked;
  }
  const int cores = CoresOfRank(*ranks_);
  if (asked > cores) {
    threads_warning_ =
        fmt::format("{} threads a rank, and {} on host {} for each: they will wait for one another", asked,
                    cores == 1 ? "1 core" : fmt::format("{} cores", cores), ranks_->host(ranks_->rank()));
  }
  return asked > 0 ? asked : cores;
}

void TrainSession::RequireSameOnRanks() {
  if (ranks_ == nullptr) {
    return;
  }
  RequireSame(*ranks_, "the version of lamina", Version(), "Install the same one on all hosts.");
  RequireSame(*ranks_, "the backend", fmt::format("{} ({})", backend_->name(), CpuTargets().front()),
              "Their numbers would differ. Choose one that all hosts have: --backend, LAMINA_ISA=avx2.");
  RequireSame(*ranks_, "the settings", ToJson(settings_).dump(), "Start all ranks with the same command.");
  RequireSame(*ranks_, "the data", fmt::format("checksum {:016x}", Fingerprint()),
              "Copy the same files to all hosts, or read them from a file system that all share.");
  Sha256 parameters;
  parameters.Update(model_.network.parameters(), static_cast<size_t>(model_.network.parameter_bytes()));
  RequireSame(*ranks_, "the network at the start", parameters.HexDigest(),
              "Start from the same model or checkpoint on all hosts.");
}

uint64_t TrainSession::Fingerprint() {
  if (!fingerprint_ && data_->fingerprint) {
    fingerprint_ = data_->fingerprint;
  } else if (!fingerprint_) {
    fingerprint_ = DataFingerprint(train(), validation().size() == 0 ? nullptr : &validation());
  }
  return *fingerprint_;
}

int64_t TrainSession::first_epoch() const { return resume_state_ ? resume_state_->epoch + 1 : 1; }

TrainSession::~TrainSession() = default;
const Dataset& TrainSession::train() const { return data_->train; }
const Dataset& TrainSession::validation() const { return data_->validation; }
const Dataset& TrainSession::test() const { return data_->test; }
TrainRows TrainSession::rows() const { return RowsOf(*data_); }
const EncodeReport& TrainSession::encode_report() const { return data_->report; }
const std::vector<ColumnDecision>& TrainSession::decisions() const { return data_->decisions; }
int64_t TrainSession::left_out_rows() const { return data_->left_out_rows; }

std::string TrainSession::PrecisionRemark() const {
  const Network& network = model_.network;
  return backend_
      ->Supports({network.layers().front(), Pass::kForward, options_.batch, network.dtype(), PrecisionFrom(settings_)})
      .reason;
}

std::string TrainSession::CheckpointPath() const { return CheckpointPathOf(settings_); }

TrainResult TrainSession::Run(TrainCallbacks callbacks) {
  std::vector<std::unique_ptr<FileClaim>> claims;  // of what a second run would overwrite with its own
  for (const std::string& path : {settings_.model, CheckpointPath()}) {
    claims.push_back(path.empty() || !IsFirst() ? nullptr : FileClaim::Take(path));
  }
  TrainResult result;
  so_far_.reset();
  AddWaits(ranks_, -1, result);
  OthersBeside others;
  if (found_ && !found_->networks.empty()) {
    AnswerTogether(found_->networks, found_->shares, model_);
    result.history.stop_reason = "folds";
  } else {
    TrainModel(line_ ? InUnitsOfTargets(*line_, std::move(callbacks)) : std::move(callbacks), others, result);
  }
  AddWaits(ranks_, 1, result);
  for (const EpochRecord& record : result.history.epochs) {
    result.train_seconds += record.train_seconds;
  }
  if (IsFirst() && result.history.stop_reason != "interrupted") {
    CalibrateBy(validation(), result);
    AnswerWithOthers(std::move(others), settings_, *learned_, *backend_, model_);
    if (line_) {
      AddLine(*line_, model_);
    }
    FindIntervals(validation());
    MeasureTest(result);
  }
  model_.training["epochs"] = result.history.epochs.size();
  model_.training["best_epoch"] = result.history.best_epoch;
  model_.training["batch"] = options_.batch;
  model_.training["rows"] = {{"train", rows().train}, {"validation", validation().size()}, {"test", test().size()}};
  if (found_ && !found_->cross_validation.is_null()) {
    model_.training["cross_validation"] = found_->cross_validation;
  }
  if (line_ && result.history.stop_reason == "interrupted") {
    so_far_ = model_;
    AddLine(*line_, *so_far_);
  }
  if (IsFirst()) {
    WriteFiles(result);
  }
  return result;
}

void TrainSession::WriteFiles(const TrainResult& result) {
  if (!settings_.history.empty()) {
    WriteFileAtomically(settings_.history, result.history.ToCsv());
  }
  if (!settings_.history_json.empty()) {
    WriteFileAtomically(settings_.history_json, result.history.ToJson().dump(2) + "\n");
  }
  if (result.history.stop_reason != "interrupted" && !settings_.model.empty()) {
    SaveModel(settings_.model, model_);
  }
}

}  // namespace lamina
