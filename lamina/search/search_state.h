// Where a search keeps what it has done: nowhere but memory, or a folder that survives the process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "lamina/base/file_lock.h"
#include "lamina/base/timing.h"
#include "lamina/model/model.h"
#include "lamina/search/trial.h"
#include "lamina/train/trainer.h"

namespace lamina {

/// The folder holds search.json (the definition and every trial's history) and a checkpoint of every trial that may go
/// on. Each file is written whole or not at all, the checkpoint first, so that a process that dies at any moment leaves
/// a search that goes on to the same result. Without a folder everything is in memory. Thread-safe.
class SearchState {
 public:
  /// Makes the folder, or reads what is in it. Throws Error(kInvalidArgument) where another search is kept there or the
  /// folder is in use, Error(kBadModel) where search.json cannot be read.
  SearchState(std::string folder, nlohmann::json definition);

  /// True where the folder held this search: trials() are those it knows.
  bool resumed() const { return resumed_; }
  const nlohmann::json& stored_trials() const { return stored_; }

  void PutWeights(int64_t trial, const Model& model, const TrainState& state);
  /// Removes nothing; absent or damaged: none, and the trial begins anew.
  std::optional<TrainState> Weights(int64_t trial);
  void DropWeights(int64_t trial);
  /// Writes the trials and after how many stages hopeless ones were stopped; at most once a second unless `now`.
  void Save(std::span<const Trial> trials, int stages_decided, bool now);
  /// As the folder had it; 0 for a new search.
  int stages_decided() const { return stages_decided_; }

 private:
  std::string CheckpointOf(int64_t trial) const;

  std::string folder_;
  std::unique_ptr<FileLock> lock_;  // of the folder
  nlohmann::json definition_;
  nlohmann::json stored_ = nlohmann::json::array();
  bool resumed_ = false;
  int stages_decided_ = 0;
  std::mutex mutex_;
  std::map<int64_t, TrainState> in_memory_;
  Stopwatch since_save_;
  bool saved_once_ = false;
};

/// A trial for search.json, and back. Throws Error(kBadModel).
nlohmann::json TrialToJson(const Trial& trial);
void TrialFromJson(const nlohmann::json& node, Trial& trial);

}  // namespace lamina
