// The files in the folder of a search: there and back, and damage of any kind is an error that names them.
#include "lamina/search/search_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/file.h"
#include "lamina/base/part_file.h"
#include "lamina/model/checked_json.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using nlohmann::json;

// Two trials that are done.
json TwoTrials() {
  StoredSearch stored{.definition = {{"epochs", 2}}, .stages_decided = 1};
  for (const int64_t number : {1, 2}) {
    Trial trial;
    trial.number = number;
    trial.stage = 1;
    trial.state = TrialState::kDone;
    trial.history.epochs.resize(2);
    trial.history.best_epoch = 2;
    stored.trials.push_back(std::move(trial));
  }
  json node = json::parse(StoredText(stored));
  EXPECT_TRUE(Unseal(node));
  return node;
}

TEST(StoredSearch, ThereAndBack) {
  const std::string text = Sealed(TwoTrials()).dump();
  const StoredSearch stored = ParseStored(text, "search.json");
  EXPECT_EQ(stored.trials.size(), 2U);
  EXPECT_EQ(stored.stages_decided, 1);
  EXPECT_EQ(stored.definition, json({{"epochs", 2}}));
  EXPECT_EQ(StoredText(stored), text + "\n");
}

TEST(StoredSearch, ATextThatDoesNotFitItsChecksumIsDamaged) {
  json node = Sealed(TwoTrials());
  node["trials"][0]["history"]["best_epoch"] = 1;
  const std::string damaged = CaughtError([&] { ParseStored(node.dump(), "search.json"); }).what();
  EXPECT_TRUE(Mentions(damaged, "checksum"));
  EXPECT_EQ(damaged.find("cannot be read"), damaged.rfind("cannot be read")) << damaged;
  const std::string longer = Sealed(TwoTrials()).dump() + std::string(3, '\0') + "and more";
  EXPECT_TRUE(Mentions(CaughtError([&] { ParseStored(longer, "search.json"); }).what(), "NUL bytes"));
  node.erase("crc32");
  EXPECT_EQ(ParseStored(node.dump(), "search.json").trials.size(), 2U) << "as earlier versions wrote it";
}

TEST(StoredSearch, ATrialThatRanWhenItsProcessDiedIsPaused) {
  json node = TwoTrials();
  node["stages_decided"] = 0;
  node["trials"][0]["state"] = "running";
  EXPECT_EQ(ParseStored(node.dump(), "search.json").trials[0].state, TrialState::kPaused);
}

TEST(StoredSearch, DamageIsAnErrorThatNamesTheFile) {
  const auto refuses = [](const std::string& text, const char* says) {
    const Error error = CaughtError([&] { ParseStored(text, "there/search.json"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel) << text;
    EXPECT_EQ(error.context().file, "there/search.json") << text;
    EXPECT_TRUE(Mentions(error.what(), says)) << error.what();
  };
  const std::pair<const char*, std::pair<json, const char*>> changes[] = {
      {"/format", {"other", "not the state of a search"}},
      {"/trials", {3, "not the state of a search"}},
      {"/stages_decided", {1e99, "not a whole number"}},
      {"/trials/0", {1, "cannot be read"}},
      {"/trials/1/number", {1, "twice"}},
      {"/trials/1/number", {-1, "from 1 on"}},
      {"/trials/1/number", {"1", "not a whole number"}},
      {"/trials/1/stage", {-1, "between 0"}},
      {"/trials/1/state", {"x", "unknown state"}},
      {"/trials/1/state", {json::array(), "string"}},
      {"/trials/1/failure", {1, "string"}},
      {"/trials/1/history/best_epoch", {3, "best epoch"}},  // read from beyond the end
      {"/trials/1/history/best_epoch", {-1, "best epoch"}},
      {"/trials/1/history/epochs/0/epoch", {"x", "whole number"}},
  };
  for (const auto& [where, change] : changes) {
    SCOPED_TRACE(where);
    json damaged = TwoTrials();
    damaged[json::json_pointer(where)] = change.first;
    refuses(damaged.dump(), change.second);
  }
  json unfinished = TwoTrials();
  unfinished["stages_decided"] = 2;
  unfinished["trials"][1]["state"] = "paused";
  refuses(unfinished.dump(), "has not finished");
  refuses("{\"format\": ", "not JSON");
  refuses("[1]", "cannot be read");
  refuses(std::string(500'000, '['), "nested deeper");
}

// A worker that has claimed nothing shows no heartbeat, and writes all the same.
TEST(SearchState, PartsOfTheLivingStayAndThoseOfTheDeadGo) {
  const TemporaryFolder folder;
  const json definition = {{"epochs", 2}};
  const std::string left = NewPartName(folder.Path("trial-2.checkpoint"));  // by a worker that was killed
  WriteFileAtomically(left, "");
  const char* const names[] = {"trial-1.checkpoint", "trial-1.stage-1.json", "trial-1.stage-1.claim-1", "stage-1.json",
                               "worker-0123456789abcdef.heartbeat"};
  std::vector<std::unique_ptr<PartFile>> written;
  for (const char* name : names) {
    written.push_back(std::make_unique<PartFile>(folder.Path(name)));
  }
  SearchState starting(folder.Path("."), definition, 60);
  EXPECT_EQ(starting.others(), 0);
  EXPECT_FALSE(std::filesystem::exists(left));
  starting.Finish({}, 0);
  for (const auto& part : written) {
    EXPECT_NO_THROW(part->Commit());
    EXPECT_TRUE(std::filesystem::exists(part->path()));
  }
}

}  // namespace
}  // namespace lamina
