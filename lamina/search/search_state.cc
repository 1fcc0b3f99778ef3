// The state of a search in a folder.
#include "lamina/search/search_state.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/text.h"
#include "lamina/train/checkpoint.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "lamina search 1";
constexpr const char* kSearchFile = "search.json";

std::string RecordOf(int64_t trial, int stage) { return fmt::format("trial-{}.stage-{}", trial, stage); }
std::string DecisionAfter(int stage) { return fmt::format("stage-{}.json", stage); }
std::string CheckpointOf(int64_t trial) { return fmt::format("trial-{}.checkpoint", trial); }

std::string NetworkFile(int64_t trial) { return fmt::format("network-{}.safetensors", trial); }

std::string Text(const json& node) { return node.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

void RemoveFiles(const std::string& folder, const std::function<bool(std::string_view)>& which) {
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (which(entry.path().filename().string())) {
      files.push_back(entry.path());
    }
  }
  for (const auto& file : files) {
    std::filesystem::remove(file, failed);
  }
}

bool IsPart(std::string_view name) {
  return name.ends_with(".part") && (name.starts_with("trial-") || name.starts_with("network-") ||
                                     name.starts_with("stage-") || name.starts_with("search.json."));
}

bool IsOfRunningSearch(std::string_view name) {
  return IsPart(name) ||
         (name.starts_with("trial-") && (name.ends_with(".json") || name.ends_with(".checkpoint") ||
                                         name.find(".claim-") != std::string_view::npos)) ||
         (name.starts_with("stage-") && name.ends_with(".json"));
}

void TrialsFromJson(const json& list, std::span<Trial> trials, const std::string& path) {
  for (const json& node : list) {
    const int64_t number = node.value("number", int64_t{0});
    if (number < 1 || number > std::ssize(trials)) {
      throw Error(ErrorCode::kBadModel, "holds a trial of another search", {.file = path});
    }
    TrialFromJson(node, trials[static_cast<size_t>(number - 1)]);
  }
}

}  // namespace

SearchState::SearchState(std::string folder, json definition, double lease_seconds)
    : definition_(std::move(definition)) {
  if (folder.empty()) {
    return;
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(ErrorCode::kIo, "cannot make the folder of --state: " + failed.message(), {.file = folder});
  }
  folder_ = std::make_unique<SharedFolder>(folder, SharedFolder::Options{.lease_seconds = lease_seconds});
  RequireWritableTarget(folder_->PathOf(kSearchFile));
  others_ = folder_->Others();
  if (others_ == 0) {  // of processes that were killed
    RemoveFiles(folder, IsPart);
  }
  resumed_ = !folder_->WriteOnce(kSearchFile, Text(AllTrials({}, 0)));
  if (resumed_) {
    const json stored = Stored(kSearchFile);
    RequireSameDefinition(stored);
  }
}

json SearchState::AllTrials(std::span<const Trial> trials, int stages_decided) const {
  json list = json::array();
  for (const Trial& trial : trials) {
    list.push_back(TrialToJson(trial));
  }
  return {{"format", kFormat},
          {"definition", definition_},
          {"stages_decided", stages_decided},
          {"trials", std::move(list)}};
}

// Null where there is no such file.
json SearchState::Stored(const std::string& name) const {
  const std::optional<std::string> text = folder_ == nullptr ? std::nullopt : folder_->Read(name);
  if (!text) {
    return nullptr;
  }
  const std::string path = folder_->PathOf(name);
  try {
    json node = json::parse(*text);
    if (node.at("format") != kFormat || !node.at("trials").is_array() ||
        !node.at("stages_decided").is_number_integer()) {
      throw Error(ErrorCode::kBadModel, "is not the state of a search", {.file = path});
    }
    return node;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("cannot be read: {}", WithoutTag(error.what())),
                {.file = path, .remedy = "Remove the folder to begin anew."});
  }
}

void SearchState::RequireSameDefinition(const json& stored) const {
  const json there = stored.value("definition", json::object());
  for (const auto& [name, value] : definition_.items()) {
    if (!there.contains(name) || there[name] != value) {
      throw Error(ErrorCode::kInvalidArgument, "the folder of --state holds another search",
                  {.file = folder_->PathOf(kSearchFile),
                   .value = fmt::format("{} = {}, there {}", name, value.dump(),
                                        there.contains(name) ? there[name].dump() : "absent"),
                   .remedy = "Give the same flags as then, or another folder."});
    }
  }
}

int SearchState::Load(std::span<Trial> trials) const {
  if (folder_ == nullptr) {
    return 0;
  }
  const json stored = Stored(kSearchFile);
  int decided = stored.value("stages_decided", 0);
  TrialsFromJson(stored.at("trials"), trials, folder_->PathOf(kSearchFile));
  while (TakeDecision(trials, decided + 1)) {
    ++decided;
  }
  for (Trial& trial : trials) {
    Take(trial, decided + 1);
  }
  return decided;
}

bool SearchState::Claim(int64_t trial, int stage) {
  return folder_ == nullptr || folder_->Claim(RecordOf(trial, stage));
}

bool SearchState::Take(Trial& trial, int stage) const {
  const json stored = Stored(RecordOf(trial.number, stage) + ".json");
  if (stored.is_null()) {
    return false;
  }
  TrialFromJson(stored.at("trials").at(0), trial);
  return true;
}

void SearchState::Put(Trial& trial, int stage) {
  if (folder_ == nullptr) {
    return;
  }
  const json node = {{"format", kFormat}, {"stages_decided", stage - 1}, {"trials", {TrialToJson(trial)}}};
  if (!folder_->WriteOnce(RecordOf(trial.number, stage) + ".json", Text(node))) {
    Take(trial, stage);
  }
}

bool SearchState::TakeDecision(std::span<Trial> trials, int stage) const {
  json stored = Stored(DecisionAfter(stage));
  if (stored.is_null() && folder_ != nullptr) {  // the search may be over
    stored = Stored(kSearchFile);
    if (stored.value("stages_decided", 0) < stage) {
      return false;
    }
  }
  if (stored.is_null()) {
    return false;
  }
  TrialsFromJson(stored.at("trials"), trials, folder_->PathOf(DecisionAfter(stage)));
  return true;
}

void SearchState::PutDecision(std::span<Trial> trials, int stage) {
  if (folder_ != nullptr && !folder_->WriteOnce(DecisionAfter(stage), Text(AllTrials(trials, stage)))) {
    TakeDecision(trials, stage);
  }
}

void SearchState::Finish(std::span<const Trial> trials, int stages) {
  for (const Trial& trial : trials) {
    DropWeights(trial.number);
  }
  if (folder_ == nullptr) {
    return;
  }
  if (Stored(kSearchFile).value("stages_decided", 0) < stages) {
    folder_->Replace(kSearchFile, Text(AllTrials(trials, stages)));
  }
  folder_->Others();  // removes heartbeats of the dead
  RemoveFiles(folder_->PathOf(""), IsOfRunningSearch);
}

void SearchState::PutWeights(int64_t trial, const Model& model, const TrainState& state) {
  if (folder_ == nullptr) {
    TrainState copy = state;
    const std::lock_guard lock(mutex_);
    in_memory_[trial] = std::move(copy);
    return;
  }
  SaveCheckpoint(folder_->PathOf(CheckpointOf(trial)), model, state, 0);
}

bool SearchState::HasWeights(int64_t trial) {
  if (folder_ == nullptr) {
    const std::lock_guard lock(mutex_);
    return in_memory_.contains(trial);
  }
  std::error_code ignored;
  return std::filesystem::exists(folder_->PathOf(CheckpointOf(trial)), ignored);
}

std::optional<TrainState> SearchState::Weights(int64_t trial) {
  if (folder_ == nullptr) {
    const std::lock_guard lock(mutex_);
    const auto found = in_memory_.find(trial);
    return found == in_memory_.end() ? std::nullopt : std::optional<TrainState>(found->second);
  }
  try {
    return LoadCheckpoint(folder_->PathOf(CheckpointOf(trial))).state;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound && error.code() != ErrorCode::kBadModel) {
      throw;
    }
    return std::nullopt;
  }
}

void SearchState::DropWeights(int64_t trial) {
  if (folder_ == nullptr) {
    const std::lock_guard lock(mutex_);
    in_memory_.erase(trial);
    return;
  }
  std::error_code ignored;
  std::filesystem::remove(folder_->PathOf(CheckpointOf(trial)), ignored);
}

void SearchState::PutNetwork(int64_t trial, const Model& model) {
  if (folder_ == nullptr) {
    const std::lock_guard lock(mutex_);
    networks_in_memory_[trial] = model;
    return;
  }
  SaveModel(folder_->PathOf(NetworkFile(trial)), model);
}

std::optional<Model> SearchState::NetworkOf(int64_t trial) {
  if (folder_ == nullptr) {
    const std::lock_guard lock(mutex_);
    const auto found = networks_in_memory_.find(trial);
    return found == networks_in_memory_.end() ? std::nullopt : std::optional<Model>(found->second);
  }
  try {
    return LoadModel(folder_->PathOf(NetworkFile(trial)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound && error.code() != ErrorCode::kBadModel) {
      throw;
    }
    return std::nullopt;
  }
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
