// The state of a search in a folder.
#include "lamina/search/search_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/file_set.h"
#include "lamina/base/part_file.h"
#include "lamina/base/text.h"
#include "lamina/model/checked_json.h"
#include "lamina/run/checkpoint.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "lamina search 1";
constexpr const char* kSearchFile = "search.json";

std::string RecordOf(int64_t trial, int stage) { return fmt::format("trial-{}.stage-{}", trial, stage); }
std::string DecisionAfter(int stage) { return fmt::format("stage-{}.json", stage); }
std::string CheckpointOf(int64_t trial) { return fmt::format("trial-{}.checkpoint", trial); }

std::string NetworkFile(int64_t trial) { return fmt::format("network-{}.safetensors", trial); }

void RemoveFiles(const std::string& folder, const std::function<bool(std::string_view)>& which) {
  std::error_code failed;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.symlink_status(failed).type() == std::filesystem::file_type::regular &&
        which(entry.path().filename().string())) {
      files.push_back(entry.path());
    }
  }
  for (const auto& file : files) {
    std::filesystem::remove(file, failed);
  }
}

// "trial-#.stage-#.json" for every number.
std::string WithoutNumbers(std::string_view name) {
  std::string shape;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || shape.empty() || shape.back() != '#') {
      shape += digit ? '#' : c;
    }
  }
  return shape;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> shapes) {
  return std::find(shapes.begin(), shapes.end(), WithoutNumbers(name)) != shapes.end();
}

bool IsOfRunningSearch(std::string_view name) {
  return IsOneOf(name, {"trial-#.stage-#.json", "trial-#.checkpoint", "trial-#.stage-#.claim-#", "stage-#.json"});
}

bool IsFileOfSearch(std::string_view name) {
  return name == kSearchFile || IsOfRunningSearch(name) || IsOneOf(name, {"network-#.safetensors"}) ||
         SharedFolder::IsHeartbeat(name);
}

// A search that is new in the folder takes no file for its own. Another process may have begun it just now.
void RequireFreeNames(const std::string& folder, const std::string& search_file) {
  std::error_code failed;
  if (std::filesystem::exists(search_file, failed)) {
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (IsFileOfSearch(entry.path().filename().string()) && !std::filesystem::exists(search_file, failed)) {
      throw Error(ErrorCode::kIo, "stands where the search would keep its own, and there is no search in this folder",
                  {.file = entry.path().string(), .remedy = "Move it, or give another folder."});
    }
  }
}

int SmallNumberAt(const json& node, const char* name) {
  constexpr int64_t kMost = 1'000'000;
  const int64_t number = IntegerAt(node, name);
  if (number < 0 || number > kMost) {
    throw Error(ErrorCode::kBadModel, fmt::format("{} must be between 0 and {}", name, kMost),
                {.value = fmt::format("{}", number)});
  }
  return static_cast<int>(number);
}

json TrialToJson(const Trial& trial) {
  return {{"number", trial.number},
          {"stage", trial.stage},
          {"state", TrialStateName(trial.state)},
          {"failure", trial.failure},
          {"history", trial.history.ToJson()}};
}

Trial TrialFromJson(const json& node) {
  Trial trial;
  trial.number = IntegerAt(node, "number");
  if (trial.number < 1) {
    throw Error(ErrorCode::kBadModel, "trials have numbers from 1 on", {.value = fmt::format("{}", trial.number)});
  }
  trial.stage = SmallNumberAt(node, "stage");
  trial.failure = node.at("failure").get<std::string>();
  trial.history = History::FromJson(node.at("history"));
  trial.state = ParseTrialState(node.at("state").get<std::string>());
  if (trial.state == TrialState::kWaiting || trial.state == TrialState::kRunning) {
    trial.state = TrialState::kPaused;
  }
  return trial;
}

StoredSearch StoredFrom(const json& node) {
  if (node.at("format") != kFormat || !node.at("trials").is_array()) {
    throw Error(ErrorCode::kBadModel, "it is not the state of a search");
  }
  StoredSearch stored;
  stored.definition = node.value("definition", json::object());
  stored.stages_decided = SmallNumberAt(node, "stages_decided");
  std::set<int64_t> numbers;
  for (const json& entry : node.at("trials")) {
    stored.trials.push_back(TrialFromJson(entry));
    const Trial& trial = stored.trials.back();
    if (!numbers.insert(trial.number).second) {
      throw Error(ErrorCode::kBadModel, "a trial is there twice", {.value = fmt::format("{}", trial.number)});
    }
    if (trial.state == TrialState::kPaused && trial.stage < stored.stages_decided) {
      throw Error(ErrorCode::kBadModel, "a trial has not finished a stage that is decided",
                  {.value = fmt::format("{}", trial.number)});
    }
  }
  return stored;
}

void SetResult(Trial& trial, const Trial& result) {
  trial.stage = result.stage;
  trial.state = result.state;
  trial.failure = result.failure;
  trial.history = result.history;
}

void SetResults(const StoredSearch& stored, std::span<Trial> trials, const std::string& path) {
  if (stored.stages_decided > 0 && stored.trials.size() != trials.size()) {
    throw Error(ErrorCode::kBadModel, "does not hold all trials of the search",
                {.file = path, .value = fmt::format("{} of {}", stored.trials.size(), trials.size())});
  }
  for (const Trial& result : stored.trials) {
    if (result.number > std::ssize(trials)) {
      throw Error(ErrorCode::kBadModel, "holds a trial of another search",
                  {.file = path, .value = fmt::format("{}", result.number)});
    }
    SetResult(trials[static_cast<size_t>(result.number - 1)], result);
  }
}

}  // namespace

SearchState::SearchState(const std::string& folder, json definition, double lease_seconds)
    : definition_(std::move(definition)) {
  if (folder.empty()) {
    return;
  }
  MakeFolders(folder, "the folder of --state");
  folder_ = std::make_unique<SharedFolder>(folder, SharedFolder::Options{.lease_seconds = lease_seconds});
  RequireWritableTarget(folder_->PathOf(kSearchFile));
  others_ = folder_->Others();
  RemoveAbandonedParts(folder, IsFileOfSearch);  // of processes that were killed
  RequireFreeNames(folder, folder_->PathOf(kSearchFile));
  resumed_ = !folder_->WriteOnce(kSearchFile, StoredText({.definition = definition_}));
  if (resumed_) {
    folder_->ForgetClaims();
    RequireSameDefinition(Stored(kSearchFile).value_or(StoredSearch{}).definition);
  }
}

std::optional<StoredSearch> SearchState::Stored(const std::string& name) const {
  const std::optional<std::string> text = folder_ == nullptr ? std::nullopt : folder_->Read(name);
  return text ? std::optional(ParseStored(*text, folder_->PathOf(name))) : std::nullopt;
}

void SearchState::RequireSameDefinition(const json& there) const {
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
  const StoredSearch stored = Stored(kSearchFile).value_or(StoredSearch{});
  SetResults(stored, trials, folder_->PathOf(kSearchFile));
  int decided = stored.stages_decided;
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
  const std::string name = RecordOf(trial.number, stage) + ".json";
  const std::optional<StoredSearch> stored = Stored(name);
  if (!stored) {
    return false;
  }
  if (stored->trials.size() != 1 || stored->trials[0].number != trial.number ||
      (stored->trials[0].state == TrialState::kPaused && stored->trials[0].stage < stage)) {
    throw Error(ErrorCode::kBadModel, "is not the record of this trial", {.file = folder_->PathOf(name)});
  }
  SetResult(trial, stored->trials[0]);
  return true;
}

void SearchState::Put(Trial& trial, int stage) {
  if (folder_ == nullptr) {
    return;
  }
  const StoredSearch record{.stages_decided = stage - 1, .trials = {trial}};
  if (!folder_->WriteOnce(RecordOf(trial.number, stage) + ".json", StoredText(record))) {
    Take(trial, stage);
  }
}

bool SearchState::TakeDecision(std::span<Trial> trials, int stage) const {
  std::string name = DecisionAfter(stage);
  std::optional<StoredSearch> stored = Stored(name);
  if (!stored && folder_ != nullptr) {  // the search may be over
    name = kSearchFile;
    stored = Stored(name);
  }
  if (!stored || stored->stages_decided < stage) {
    return false;
  }
  SetResults(*stored, trials, folder_->PathOf(name));
  return true;
}

StoredSearch SearchState::All(std::span<const Trial> trials, int stages_decided) const {
  return {definition_, stages_decided, {trials.begin(), trials.end()}};
}

void SearchState::PutDecision(std::span<Trial> trials, int stage) {
  if (folder_ != nullptr && !folder_->WriteOnce(DecisionAfter(stage), StoredText(All(trials, stage)))) {
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
  if (Stored(kSearchFile).value_or(StoredSearch{}).stages_decided < stages) {
    folder_->Replace(kSearchFile, StoredText(All(trials, stages)));
  }
  folder_->Others();  // removes heartbeats of the dead
  RemoveFiles(folder_->PathOf(""), IsOfRunningSearch);
  RemoveAbandonedParts(folder_->PathOf(""), IsFileOfSearch);
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

std::string StoredText(const StoredSearch& stored) {
  json node = {{"format", kFormat}, {"stages_decided", stored.stages_decided}, {"trials", json::array()}};
  if (!stored.definition.empty()) {
    node["definition"] = stored.definition;
  }
  for (const Trial& trial : stored.trials) {
    node["trials"].push_back(TrialToJson(trial));
  }
  return Sealed(std::move(node)).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

StoredSearch ParseStored(std::string_view text, const std::string& path) {
  const auto refuse = [&](const std::string& why, const std::string& value) -> StoredSearch {
    throw Error(ErrorCode::kBadModel, "cannot be read: " + why,
                {.file = path, .value = value, .remedy = "Give another folder to begin anew."});
  };
  try {
    json node = ParseUntrustedJson(text, path);
    if (Unseal(node)) {
      return StoredFrom(node);
    }
  } catch (const json::exception& error) {
    return refuse(std::string(WithoutTag(error.what())), "");
  } catch (const Error& error) {
    return refuse(error.message(), error.context().value);
  }
  return refuse("it is damaged: the content does not fit its checksum", "");
}

}  // namespace lamina
