// TrainSession: one training run from files to model, as the program and the desktop application do it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/model/calibrate.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/model.h"
#include "lamina/run/int8_outcome.h"
#include "lamina/settings/settings.h"
#include "lamina/train/trainer.h"

namespace lamina {

class Communicator;  // cluster/communicator.h
struct OthersBeside;
struct RawData;
class ResolvedSettings;
class RunOrigin;
struct Line;
struct TrainData;

/// What came out of Run().
struct TrainResult {
  History history;
  std::optional<Evaluation> test;          // on the test rows, if there are any, by the weights kept
  double train_seconds = 0;                // steps only
  double waited_seconds = 0;               // for other ranks: communication that nothing hid
  double exchange_seconds = 0;             // in all of it, hidden or not
  Verdict overlaps;                        // whether ranks exchange gradients while they compute; the reason if not
  std::string exchanged_by;                // what carries gradients from rank to rank: ShardedSteps::ExchangedBy()
  std::optional<Calibration> calibration;  // where validation rows fitted a temperature: Calibrates()
  std::optional<Int8Outcome> int8;         // of --quantize-aware
  std::vector<double> coverage;            // of the test rows by the intervals kept, one a target; empty: none
};

using MakesBackend = std::function<std::unique_ptr<Backend>()>;

/// What other runs on the same data have found out, instead of the validation rows of this one (CrossValidate).
struct FoundByFolds {
  std::optional<double> temperature;         // to calibrate by
  std::optional<AnswerIntervals> intervals;  // of --intervals
  nlohmann::json cross_validation;           // kept in the model's "training"
  // With --bag and --effort best alone:
  std::optional<Preprocessor> encoding;  // that of all rows, instead of the training rows'
  std::vector<Network> networks;         // they answer together, nothing is trained
  std::vector<double> shares;            // of each; empty: equal ones
  MakesBackend make_backend;             // called once, in the place of that of the settings (SideBySide)
};

class TrainSession {
 public:
  /// Validates the settings and checks that every output can be written. Then reads and splits the data, fits the
  /// preprocessing on the training rows, encodes, builds and initializes the network. Throws Error.
  /// `ranks`: those that train together, by MPI or as threads; null: this process alone. All ranks make the same
  /// session and call Run(); the first one writes the files. Throws Error(kInvalidArgument) on all ranks where their
  /// data, settings or programs differ. It outlives the session.
  explicit TrainSession(const TrainSettings& settings, std::vector<Activation> custom = {},
                        Communicator* ranks = nullptr);
  ~TrainSession();

  /// As above with what ReadRawData(settings) has read, which is not needed any more afterwards.
  TrainSession(const TrainSettings& settings, const RawData& raw, std::vector<Activation> custom = {});
  TrainSession(const TrainSettings& settings, const RawData& raw, FoundByFolds found,
               std::vector<Activation> custom = {});

  /// As the first, going on from a checkpoint file (settings come from there; ResumeSettings() reads them).
  /// Throws Error(kBadModel) where data or network are not those of the checkpoint.
  /// The number of ranks may be another one than that of the run that wrote it. `raw`: as above, or null.
  TrainSession(const TrainSettings& settings, const std::string& checkpoint, std::vector<Activation> custom = {},
               Communicator* ranks = nullptr, const RawData* raw = nullptr);

  /// Trains, writes model and history files as the settings say, evaluates the test rows. Throws Error(kIo)
  /// where another run writes the same model or checkpoint (FileClaim). An interrupted run writes a
  /// checkpoint to CheckpointPath() and the history, but no model. model() then holds the weights kept so far. Another
  /// Run() goes on with the same bits as one that was never interrupted. `callbacks.checkpoint` is ignored.
  /// A kernel machine and trees beside the network come last. model() has them only when they are whole. Where a line
  /// answers first, losses of epochs are those of both.
  TrainResult Run(TrainCallbacks callbacks);

  /// The file that CheckpointOrigin reads. Only where can_go_on().
  void WriteCheckpoint(const std::string& path);

  /// settings.checkpoint, else the model's name with ".checkpoint", else "" (none).
  std::string CheckpointPath() const;

  /// What to know of settings().precision on this machine ("bf16 without hardware for it ..."), or "".
  std::string PrecisionRemark() const;

  const TrainSettings& settings() const { return settings_; }
  /// What the settings mean for these rows: epochs and batch are numbers.
  const TrainOptions& options() const { return options_; }
  /// The weights kept so far, also of a run that was stopped.
  const Model& model() const { return so_far_ ? *so_far_ : model_; }
  const Backend& backend() const { return *backend_; }
  /// The training rows; of settings().shard_data those of this rank alone. All of them are rows().train.
  const Dataset& train() const;
  const Dataset& validation() const;
  const Dataset& test() const;
  TrainRows rows() const;
  const EncodeReport& encode_report() const;
  /// What reading and fitting decided about columns, and how many rows were left out for missing values.
  const std::vector<ColumnDecision>& decisions() const;
  /// What was chosen that nobody asked for: MethodChoice::remark.
  const std::string& recipe_remark() const { return recipe_remark_; }
  int64_t left_out_rows() const;
  double load_seconds() const { return load_seconds_; }                  // reading, splitting and encoding
  const std::string& tuning_warning() const { return tuning_warning_; }  // of a stored profile that is ignored
  /// "8 threads of 2 ranks on 4 cores: ..." where there are more threads than cores, or "".
  const std::string& threads_warning() const { return threads_warning_; }
  int64_t first_epoch() const;                                  // of the next Run(): 1, or where it goes on
  bool can_go_on() const { return resume_state_.has_value(); }  // interrupted, or from a checkpoint
  /// Whether the network is trained and what answers beside it is not. Stopped within, that begins anew: who stops by
  /// the clock asks this first.
  bool only_others_left() const { return only_others_left_; }

 private:
  void Prepare(RunOrigin& origin, const RawData* raw);
  void CheckSettings(const RunOrigin& origin);
  void ChooseOptions(const ResolvedSettings& settings);
  void ChooseBackend();
  void LetLineAnswerFirst();
  History RunTrainer(TrainCallbacks callbacks, TrainResult& result);
  void TrainModel(TrainCallbacks callbacks, OthersBeside& others, TrainResult& result);
  bool RunOthers(const std::function<bool()>& stop_requested, OthersBeside& trained);
  void RequireQuality() const;
  bool Calibrates() const;
  void CalibrateBy(const Dataset& rows, TrainResult& result);
  void FindIntervals(const Dataset& rows);
  void MeasureTest(TrainResult& result);
  void MeasureMore(TrainResult& result);
  uint64_t Fingerprint();
  int Threads();
  void RequireSameOnRanks();
  bool IsFirst() const;
  void WriteFiles(const TrainResult& result);

  TrainSettings settings_;
  std::vector<Activation> custom_;
  Communicator* ranks_ = nullptr;
  std::unique_ptr<Backend> backend_;
  std::string tuning_warning_;
  std::string threads_warning_;
  Model model_;
  TrainOptions options_;
  std::shared_ptr<const TrainData> data_;
  std::unique_ptr<const Line> line_;          // that answers first; null: none
  std::shared_ptr<const TrainData> learned_;  // what the line leaves; without one: data_
  std::optional<Model> so_far_;               // of a run that was stopped, model_ with the line
  std::optional<TrainState> resume_state_;
  bool only_others_left_ = false;
  std::optional<FoundByFolds> found_;
  std::optional<uint64_t> fingerprint_;  // of the data; taken when it is first needed
  std::string recipe_remark_;
  double load_seconds_ = 0;
};

/// Throws Error(kInvalidArgument) where --memory is given and the data are no encoded ones: before they are read.
void RequireEncodedForMemory(const TrainSettings& settings);

/// Throws Error(kInvalidArgument) where a file of the settings cannot be written. So it does where one would replace a
/// model of other data, or a file that is no checkpoint.
void CheckTrainOutputs(const TrainSettings& settings, std::span<const Activation> custom = {});

}  // namespace lamina
