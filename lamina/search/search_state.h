// Where a search keeps what it has done: nowhere but memory, or a folder that survives the process and that several
// processes may share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/model/model.h"
#include "lamina/search/shared_folder.h"
#include "lamina/search/trial.h"
#include "lamina/train/trainer.h"

namespace lamina {

/// What one of the files of a search holds.
struct StoredSearch {
  nlohmann::json definition = nlohmann::json::object();  // of search.json and stage-K.json
  int stages_decided = 0;
  std::vector<Trial> trials;  // their numbers and results; `values` and `epochs` are the search's
};

/// The folder holds search.json: the definition, and at the end every trial's history. trial-N.stage-K.json is for
/// every trial that finished a stage; stage-K.json tells all trials and which were stopped after it. Trials that
/// may go on have a checkpoint; an ensemble has network-N.safetensors. Each is written whole or not at all,
/// records once, the checkpoint before its record. Processes may die at any moment. The search goes on to the same
/// result, and all in the folder see the same trials after a stage. Without a folder everything is in memory.
/// Thread-safe.
class SearchState {
 public:
  /// Makes the folder, or reads what is in it. `lease_seconds`: SharedFolder::Options. Throws Error(kInvalidArgument)
  /// where another search is kept there, Error(kBadModel) where search.json cannot be read.
  SearchState(const std::string& folder, nlohmann::json definition, double lease_seconds);

  /// True where the folder held this search.
  bool resumed() const { return resumed_; }
  /// Other processes at work in the folder when it was opened.
  int others() const { return others_; }

  /// Brings `trials`, those of the definition, to the last stage that was decided; returns its number, 0: none.
  int Load(std::span<Trial> trials) const;
  /// Whether a trial has weights to go on from.
  bool HasWeights(int64_t trial);

  /// True where this process is to train the trial through `stage`; false where another one does.
  bool Claim(int64_t trial, int stage);
  /// Takes over what another process, or an earlier one, recorded of the trial at the end of `stage`.
  bool Take(Trial& trial, int stage) const;
  /// Records the trial at the end of `stage`; where there is a record, that is taken over.
  void Put(Trial& trial, int stage);
  /// Sets all trials to the decision after `stage`; false: there is none yet.
  bool TakeDecision(std::span<Trial> trials, int stage) const;
  /// Records the decision; where there is one, that is taken over.
  void PutDecision(std::span<Trial> trials, int stage);
  /// After the last of `stages`: keeps the trials' histories only.
  void Finish(std::span<const Trial> trials, int stages);

  void PutWeights(int64_t trial, const Model& model, const TrainState& state);
  /// Removes nothing; absent or damaged: none, and the trial begins anew.
  std::optional<TrainState> Weights(int64_t trial);
  void DropWeights(int64_t trial);

  /// The network of a trial that came to its end, for an ensemble; kept after Finish(), too.
  void PutNetwork(int64_t trial, const Model& model);
  /// None: absent or damaged.
  std::optional<Model> NetworkOf(int64_t trial);

 private:
  std::optional<StoredSearch> Stored(const std::string& name) const;
  StoredSearch All(std::span<const Trial> trials, int stages_decided) const;
  void RequireSameDefinition(const nlohmann::json& there) const;

  std::unique_ptr<SharedFolder> folder_;  // null: in memory
  nlohmann::json definition_;
  bool resumed_ = false;
  int others_ = 0;
  std::mutex mutex_;
  std::map<int64_t, TrainState> in_memory_;
  std::map<int64_t, Model> networks_in_memory_;
};

/// The text of a file of a search, and back. Throws Error(kBadModel) naming `path`.
std::string StoredText(const StoredSearch& stored);
StoredSearch ParseStored(std::string_view text, const std::string& path);

}  // namespace lamina
