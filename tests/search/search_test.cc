// Searches on small data: who is stopped, who wins, and that an interruption changes nothing.
#include "lamina/search/search.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "lamina/base/file.h"
#include "lamina/base/part_file.h"
#include "lamina/base/random.h"
#include "lamina/run/session.h"
#include "lamina/search/search_state.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// Three clouds of points in the plane.
std::string CloudsFile(const TemporaryFolder& folder) {
  Random random(5);
  std::string text = "a,b,kind\n";
  for (int i = 0; i < 240; ++i) {
    const int kind = i % 3;
    text += fmt::format("{:.4f},{:.4f},{}\n", 2.0 * kind + random.Normal(), (kind == 1 ? 2.5 : 0) + random.Normal(),
                        std::string(1, static_cast<char>('x' + kind)));
  }
  const std::string path = folder.Path("clouds.csv");
  WriteFileAtomically(path, text);
  return path;
}

SearchSettings SmallSearch(const TemporaryFolder& folder) {
  SearchSettings settings;
  settings.train.data = CloudsFile(folder);
  settings.train.recipe = "plain";
  settings.train.hidden = {8};
  settings.train.learning_rate = 0.1;  // with the batch a point of the grid, and so the first trial
  settings.train.batch = 8;
  settings.train.epochs = 9;
  settings.train.optimizer = "sgd";
  settings.train.momentum = 0.5;
  settings.train.threads = 2;
  settings.vary = {"learning-rate=0.001,0.01,0.1,0.5", "batch=8,32"};
  return settings;
}

// Everything but times.
nlohmann::json Outcome(const Search& search, const SearchResult& result) {
  nlohmann::json list = RankingJson(result.trials, result.ranking, search.space(), search.keeps_best());
  for (nlohmann::json& entry : list) {
    entry.erase("seconds");
  }
  for (const size_t i : result.ranking) {
    nlohmann::json losses = nlohmann::json::array();
    for (const EpochRecord& record : result.trials[i].history.epochs) {
      losses.push_back({record.train_loss, record.validation_loss, record.validation_accuracy, record.learning_rate});
    }
    list.push_back(std::move(losses));
  }
  return list;
}

TEST(Search, StopsTheHopelessAndRanksTheRest) {
  const TemporaryFolder folder;
  Search search(SmallSearch(folder));
  EXPECT_EQ(search.stages(), 3);
  EXPECT_EQ(search.at_once(), 2);
  EXPECT_EQ(search.threads_per_trial(), 1);
  EXPECT_EQ(search.data().train.size(), 200);  // 5:1
  EXPECT_EQ(search.data().validation.size(), 40);
  const SearchResult result = search.Run({});
  std::map<size_t, int> by_epochs;
  for (const Trial& trial : result.trials) {
    ++by_epochs[trial.history.epochs.size()];
  }
  EXPECT_EQ(by_epochs, (std::map<size_t, int>{{1, 5}, {3, 1}, {9, 2}}));  // 8, then 3, then the best and the default
  const Trial& best = result.trials[result.ranking[0]];
  EXPECT_EQ(best.state, TrialState::kDone);
  EXPECT_GT(ScoreOf(best, false).accuracy, 0.8);
  for (size_t i = 1; i < result.ranking.size(); ++i) {
    const Trial& better = result.trials[result.ranking[i - 1]];
    const Trial& worse = result.trials[result.ranking[i]];
    EXPECT_GE(better.stage, worse.stage);
    if (better.stage == worse.stage) {
      EXPECT_GE(ScoreOf(better, false).accuracy, ScoreOf(worse, false).accuracy);
    }
  }
}

TEST(Search, ATrialIsTheTrainingOfItsSettings) {
  const TemporaryFolder folder;
  Search search(SmallSearch(folder));
  const SearchResult result = search.Run({});
  const Trial& best = result.trials[result.ranking[0]];
  TrainSession session(search.SettingsOf(best));
  const History history = session.Run({}).history;
  ASSERT_EQ(history.epochs.size(), best.history.epochs.size());
  for (size_t e = 0; e < history.epochs.size(); ++e) {
    EXPECT_EQ(history.epochs[e].train_loss, best.history.epochs[e].train_loss) << e;
    EXPECT_EQ(history.epochs[e].validation_loss, best.history.epochs[e].validation_loss) << e;
  }
}

TEST(Search, InterruptedAnywhereItGoesOnToTheSameResult) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.train.optimizer = "adam";  // has state of its own
  settings.train.patience = 4;
  Search whole(settings);
  const nlohmann::json expected = Outcome(whole, whole.Run({}));
  settings.state = folder.Path("state");
  int runs = 0;
  for (bool done = false; !done; ++runs) {
    ASSERT_LT(runs, 1000);
    Search search(settings);
    EXPECT_EQ(search.resumed(), runs > 0);
    std::atomic<int> asked{0};
    SearchCallbacks callbacks;
    callbacks.stop_requested = [&] { return ++asked > 23 + runs; };  // steps, in the middle of epochs
    const SearchResult result = search.Run(callbacks);
    done = !result.interrupted;
    if (done) {
      EXPECT_EQ(Outcome(search, result), expected);
    }
  }
  EXPECT_GT(runs, 5);
  for (const auto& entry : std::filesystem::directory_iterator(settings.state)) {
    EXPECT_EQ(entry.path().filename(), "search.json");  // no weights are left behind
  }
  Search again(settings);
  EXPECT_EQ(Outcome(again, again.Run({})), expected);
}

// What kill -9 leaves: search.json of an earlier moment than the checkpoints, or no checkpoint at all.
TEST(Search, GoesOnFromAnyMixtureOfFiles) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  Search whole(settings);
  const nlohmann::json expected = Outcome(whole, whole.Run({}));
  settings.state = folder.Path("state");
  const auto run = [&](int steps) {
    Search search(settings);
    std::atomic<int> asked{0};
    SearchCallbacks callbacks;
    callbacks.stop_requested = [&] { return ++asked > steps; };
    return Outcome(search, search.Run(callbacks));
  };
  run(60);
  const std::string early = ReadFile(settings.state + "/search.json");
  run(120);
  WriteFileAtomically(settings.state + "/search.json", early);  // the checkpoints are newer
  int damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(settings.state)) {
    if (entry.path().extension() == ".checkpoint" && damaged++ < 2) {
      std::ofstream(entry.path(), std::ios::trunc) << "half a file";
    }
  }
  EXPECT_GT(damaged, 0);
  EXPECT_EQ(run(1 << 30), expected);
}

TEST(Search, FilesOfOthersInTheStateFolderStay) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.state = folder.Path("state");
  std::filesystem::create_directories(settings.state);
  const std::string part = NewPartName(settings.state + "/trial-1.checkpoint");  // of a killed search
  std::ofstream(part) << "x";
  const std::string others[] = {"film.part",        "trial-1.checkpoint.77.part",
                                "trial-notes.json", "trial-1.checkpoint.old",
                                "stage-plan.json",  "worker-of-mine.heartbeat"};
  for (const std::string& name : others) {
    std::ofstream(settings.state + "/" + name) << "x";
  }
  Search(settings).Run({});
  for (const std::string& name : others) {
    EXPECT_TRUE(std::filesystem::exists(settings.state + "/" + name)) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(part));
}

// Where there is no search in the folder yet, no file in it is the search's.
TEST(Search, FilesOfOthersUnderItsNamesAreNotReplaced) {
  for (const char* name : {"trial-1.checkpoint", "trial-2.stage-1.json", "stage-1.json", "network-1.safetensors",
                           "trial-1.stage-1.claim-1", "worker-0123456789abcdef.heartbeat"}) {
    const TemporaryFolder folder;
    SearchSettings settings = SmallSearch(folder);
    settings.state = folder.Path("state");
    std::filesystem::create_directories(settings.state);
    std::ofstream(settings.state + "/" + name) << "x";
    ExpectError([&] { Search search(settings); }, ErrorCode::kIo, {name, "no search in this folder"});
    EXPECT_EQ(ReadFile(settings.state + "/" + name), "x");
  }
}

TEST(Search, AnotherSearchIsNotContinued) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.state = folder.Path("state");
  Search(settings).Run({});
  settings.train.hidden = {9};
  ExpectError([&] { Search other(settings); }, ErrorCode::kInvalidArgument, {"another search", "hidden", "9"});
  settings.train.hidden = {8};
  WriteFileAtomically(settings.state + "/search.json", "{\"format\": ");
  ExpectError([&] { Search broken(settings); }, ErrorCode::kBadModel, {"search.json", "cannot be read"});
}

TEST(Search, SeveralShareAFolder) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  Search whole(settings);
  const nlohmann::json expected = Outcome(whole, whole.Run({}));
  settings.state = folder.Path("state");
  std::vector<std::unique_ptr<Search>> searches;
  for (int i = 0; i < 3; ++i) {
    searches.push_back(std::make_unique<Search>(settings));
  }
  std::array<nlohmann::json, 3> outcomes;
  std::array<std::atomic<int>, 3> epochs{};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < searches.size(); ++i) {
    threads.emplace_back([&, i] {
      SearchCallbacks callbacks;
      callbacks.changed = [&](const SearchView& view) {
        epochs[i] += view.changed->state == TrialState::kRunning ? 1 : 0;
      };
      outcomes[i] = Outcome(*searches[i], searches[i]->Run(callbacks));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  int64_t least = 0;  // of one search alone
  for (const Trial& trial : whole.trials()) {
    least += std::ssize(trial.history.epochs);
  }
  for (const nlohmann::json& outcome : outcomes) {
    EXPECT_EQ(outcome, expected);
  }
  // What is counted besides epochs is the start of a trial's stage, of which there are at most three.
  EXPECT_LE(epochs[0] + epochs[1] + epochs[2], least + 3 * std::ssize(whole.trials()));
  searches.clear();
  for (const auto& entry : std::filesystem::directory_iterator(settings.state)) {
    EXPECT_EQ(entry.path().filename(), "search.json");
  }
}

// search_state_test.cc has what one file tells by itself.
TEST(Search, StatesOfOtherTrialsAreRefused) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.state = folder.Path("state");
  Search(settings).Run({});
  const std::string path = settings.state + "/search.json";
  const StoredSearch whole = ParseStored(ReadFile(path), path);
  StoredSearch less = whole;
  less.trials.clear();  // made the search wait for ever
  StoredSearch another = whole;
  another.trials[1].number = 100;
  for (const auto& [stored, says] :
       {std::pair(less, "does not hold all trials"), std::pair(another, "another search")}) {
    WriteFileAtomically(path, StoredText(stored));
    ExpectError([&] { Search(settings).Run({}); }, ErrorCode::kBadModel, {path, says});
  }
}

TEST(Search, DamagedRecordsAreRefused) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.state = folder.Path("state");
  {
    Search search(settings);
    std::atomic<int> asked{0};
    SearchCallbacks callbacks;
    callbacks.stop_requested = [&] { return ++asked > 60; };
    search.Run(callbacks);
  }
  int records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(settings.state)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("trial-") || entry.path().extension() != ".json") {
      continue;
    }
    ++records;
    const std::string content = ReadFile(entry.path());
    StoredSearch other = ParseStored(content, name);
    other.trials[0].number += 1;
    WriteFileAtomically(entry.path(), StoredText(other));
    ExpectError([&] { Search(settings).Run({}); }, ErrorCode::kBadModel, {name, "not the record of this trial"});
    WriteFileAtomically(entry.path(), content);
  }
  EXPECT_GT(records, 0);
}

// One of two is interrupted at any step, as often as it takes; the other one takes its trials over.
TEST(Search, AnInterruptedOneLeavesItsTrialsToOthers) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  Search whole(settings);
  const nlohmann::json expected = Outcome(whole, whole.Run({}));
  settings.state = folder.Path("state");
  std::atomic<bool> over{false};
  std::thread coming_and_going([&] {
    for (int runs = 0; !over; ++runs) {
      Search search(settings);
      std::atomic<int> asked{0};
      SearchCallbacks callbacks;
      callbacks.stop_requested = [&] { return ++asked > 10 + runs; };
      search.Run(callbacks);
    }
  });
  Search staying(settings);
  EXPECT_EQ(Outcome(staying, staying.Run({})), expected);
  over = true;
  coming_and_going.join();
}

TEST(Search, FailedTrialsAreLastWithTheirReason) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.train.loss = "mse";
  settings.train.output_activation = "identity";
  settings.train.learning_rate = 0.05;
  settings.train.activation = "tanh";
  settings.vary = {"learning-rate=0.05,1e30", "activation=tanh,tannh"};
  Search search(settings);
  const SearchResult result = search.Run({});
  EXPECT_EQ(result.trials[result.ranking[0]].number, 1);
  EXPECT_EQ(result.trials[result.ranking[1]].state, TrialState::kFailed);
  std::string reasons;
  for (const Trial& trial : result.trials) {
    reasons += trial.failure;
  }
  EXPECT_NE(reasons.find("diverged"), std::string::npos);
  EXPECT_NE(reasons.find("tannh"), std::string::npos);
  settings.train.learning_rate = 1e30;
  settings.vary = {"learning-rate=1e30,1e31"};
  Search hopeless(settings);
  ExpectError([&] { hopeless.Run({}); }, ErrorCode::kDiverged, {"every trial failed", "diverged"});
  settings.vary = {"activation=tannh,rellu"};
  ExpectError([&] { Search none(settings); }, ErrorCode::kInvalidArgument, {"no trial is valid", "tannh"});
}

TEST(Search, DataIsEncodedOnceForTheTrialsThatShareIt) {
  const TemporaryFolder folder;
  TrainSettings settings = SmallSearch(folder).train;
  settings.split = {0.8, 0.2, 0};
  DataCache cache;
  const auto first = cache.Get(settings);
  settings.learning_rate = 0.3;
  settings.hidden = {3};
  settings.activation = "tanh";
  EXPECT_EQ(cache.Get(settings), first);
  settings.scale = "minmax";
  const auto scaled = cache.Get(settings);
  EXPECT_NE(scaled, first);
  settings.scale = "auto";
  EXPECT_EQ(cache.Get(settings), first);
  settings.loss = "mse";
  settings.output_activation = "tanh";  // targets of -1 and 1
  const auto bipolar = cache.Get(settings);
  EXPECT_NE(bipolar, first);
  EXPECT_EQ(bipolar->train.features.data(), first->train.features.data());  // inputs do not depend on the loss
  EXPECT_EQ(bipolar->validation.rows, first->validation.rows);
  EXPECT_EQ(bipolar->train.targets.Row<float>(0)[0] * bipolar->train.targets.Row<float>(0)[0], 1);
}

TEST(Search, RetrainingJoinsTrainingAndValidationRows) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.retrain = true;
  settings.train.model = folder.Path("m.safetensors");
  settings.train.keep = "best";
  Search search(settings);
  const SearchResult result = search.Run({});
  const Trial& best = result.trials[result.ranking[0]];
  const TrainSettings again = search.RetrainSettingsOf(best);
  EXPECT_EQ(again.epochs, best.history.best_epoch);
  TrainSession session(again);
  EXPECT_EQ(session.train().size(), 240);
  EXPECT_EQ(session.validation().size(), 0);
  session.Run({});
  EXPECT_TRUE(std::filesystem::exists(settings.train.model));
}

TEST(Search, LargeGridsAskForConsent) {
  const TemporaryFolder folder;
  SearchSettings settings = SmallSearch(folder);
  settings.vary = {"learning-rate=0.001..1:10000", "momentum=0..0.9:1000"};
  ExpectError([&] { Search search(settings); }, ErrorCode::kInvalidArgument,
              {"10,000,000 trials", "--yes-all 10000000"});
  settings.yes_all = 5;
  ExpectError([&] { Search search(settings); }, ErrorCode::kInvalidArgument, {"--yes-all 10000000"});
}

TEST(Search, SettingsThatContradictEachOther) {
  const TemporaryFolder folder;
  const auto refused = [&](auto change, std::initializer_list<std::string_view> says) {
    SearchSettings settings = SmallSearch(folder);
    change(settings);
    ExpectError([&] { Search search(settings); }, ErrorCode::kInvalidArgument, says);
  };
  refused([](SearchSettings& s) { s.halving = 1; }, {"--halving"});
  refused([](SearchSettings& s) { s.random = -1; }, {"--random"});
  refused([](SearchSettings& s) { s.metric = "acuracy"; }, {"--metric", "acuracy"});
  refused([](SearchSettings& s) { s.train.split = {1, 0, 0}; }, {"validation rows", "--split"});
  refused([](SearchSettings& s) { s.train.model = "m"; }, {"--retrain"});
  refused([](SearchSettings& s) { s.retrain = true; }, {"--model"});
  refused([](SearchSettings& s) { s.train.checkpoint = "c"; }, {"--state"});
  refused(
      [](SearchSettings& s) {
        s.metric = "loss";
        s.vary = {"loss=mse,cross_entropy"};
      },
      {"cannot compare", "loss"});
}

}  // namespace
}  // namespace lamina
