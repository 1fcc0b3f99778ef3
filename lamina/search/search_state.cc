// The state of a search in a folder.
#include "lamina/search/search_state.h"

#include <fmt/format.h>

#include <filesystem>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/file_lock.h"
#include "lamina/base/text.h"
#include "lamina/train/checkpoint.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "lamina search 1";
constexpr double kSaveInterval_seconds = 1;

std::string FirstDifference(const json& mine, const json& stored) {
  for (const auto& [name, value] : mine.items()) {
    if (!stored.contains(name) || stored[name] != value) {
      return fmt::format("{} = {}, there {}", name, value.dump(),
                         stored.contains(name) ? stored[name].dump() : "absent");
    }
  }
  return "";
}

}  // namespace

SearchState::SearchState(std::string folder, json definition)
    : folder_(std::move(folder)), definition_(std::move(definition)) {
  if (folder_.empty()) {
    return;
  }
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) {
    throw Error(ErrorCode::kIo, "cannot make the folder of --state: " + failed.message(), {.file = folder_});
  }
  const std::string path = (std::filesystem::path(folder_) / "search.json").string();
  RequireWritableTarget(path);
  lock_ = FileLock::Take(folder_);
  if (lock_ == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "another search is at work in the folder of --state",
                {.file = folder_, .remedy = "Wait for it to end, or give another folder."});
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder_, failed)) {  // of a process that was killed
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".part") && (name.starts_with("trial-") || name.starts_with("search.json."))) {
      std::filesystem::remove(entry.path(), failed);
    }
  }
  if (!std::filesystem::exists(path)) {
    return;
  }
  json node;
  try {
    node = json::parse(ReadFile(path));
    if (node.at("format") != kFormat || !node.at("trials").is_array()) {
      throw Error(ErrorCode::kBadModel, "is not the state of a search", {.file = path});
    }
    stored_ = node.at("trials");
    stages_decided_ = node.at("stages_decided").get<int>();
    if (const std::string difference = FirstDifference(definition_, node.at("definition")); !difference.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "the folder of --state holds another search",
                  {.file = path, .value = difference, .remedy = "Give the same flags as then, or another folder."});
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("cannot be read: {}", WithoutTag(error.what())),
                {.file = path, .remedy = "Remove the folder to begin anew."});
  }
  resumed_ = true;
}

std::string SearchState::CheckpointOf(int64_t trial) const {
  return (std::filesystem::path(folder_) / fmt::format("trial-{}.checkpoint", trial)).string();
}

void SearchState::PutWeights(int64_t trial, const Model& model, const TrainState& state) {
  if (folder_.empty()) {
    TrainState copy = state;
    const std::lock_guard lock(mutex_);
    in_memory_[trial] = std::move(copy);
    return;
  }
  SaveCheckpoint(CheckpointOf(trial), model, state, 0);
}

std::optional<TrainState> SearchState::Weights(int64_t trial) {
  if (folder_.empty()) {
    const std::lock_guard lock(mutex_);
    const auto found = in_memory_.find(trial);
    return found == in_memory_.end() ? std::nullopt : std::optional<TrainState>(found->second);
  }
  try {
    return LoadCheckpoint(CheckpointOf(trial)).state;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound && error.code() != ErrorCode::kBadModel) {
      throw;
    }
    return std::nullopt;
  }
}

void SearchState::DropWeights(int64_t trial) {
  if (folder_.empty()) {
    const std::lock_guard lock(mutex_);
    in_memory_.erase(trial);
    return;
  }
  std::error_code ignored;
  std::filesystem::remove(CheckpointOf(trial), ignored);
}

void SearchState::Save(std::span<const Trial> trials, int stages_decided, bool now) {
  const std::lock_guard lock(mutex_);
  if (folder_.empty() || (!now && saved_once_ && since_save_.Elapsed_seconds() < kSaveInterval_seconds)) {
    return;
  }
  json list = json::array();
  for (const Trial& trial : trials) {
    if (!trial.history.epochs.empty() || trial.state == TrialState::kFailed) {
      list.push_back(TrialToJson(trial));
    }
  }
  const json node = {{"format", kFormat},
                     {"definition", definition_},
                     {"stages_decided", stages_decided},
                     {"trials", std::move(list)}};
  WriteFileAtomically((std::filesystem::path(folder_) / "search.json").string(),
                      node.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  since_save_.Restart();
  saved_once_ = true;
}

json TrialToJson(const Trial& trial) {
  return {{"number", trial.number},
          {"stage", trial.stage},
          {"state", TrialStateName(trial.state)},
          {"failure", trial.failure},
          {"history", trial.history.ToJson()}};
}

void TrialFromJson(const json& node, Trial& trial) {
  try {
    trial.stage = node.at("stage").get<int>();
    trial.failure = node.at("failure").get<std::string>();
    trial.history = History::FromJson(node.at("history"));
    const auto name = node.at("state").get<std::string>();
    trial.state = TrialState::kPaused;
    for (const TrialState state : {TrialState::kStopped, TrialState::kDone, TrialState::kFailed}) {
      if (name == TrialStateName(state)) {
        trial.state = state;
      }
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("a trial of search.json is wrong: {}", WithoutTag(error.what())));
  }
}

}  // namespace lamina
