// Settings given beside a checkpoint: each row of them takes effect, or is refused by name; the model says what
// happened.
#include "lamina/run/checkpoint_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "lamina/cluster/thread_ranks.h"
#include "lamina/run/command_line.h"
#include "lamina/run/resume.h"
#include "lamina/run/session.h"
#include "lamina/settings/settings_text.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using CheckpointValues = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kCostsOfTwo = "truth,no,yes\nno,0,3\nyes,7,0\n";

std::string RowsOfTwo(int count, uint64_t seed) {
  std::string csv = "a,b,colour,y\n";
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const double a = random.Uniform(-1, 1);
    const double b = random.Uniform(-1, 1);
    csv += fmt::format("{},{},{},{}\n", a, b, i % 3 == 0 ? "red" : "blue",
                       a * b + 0.3 * random.Uniform() > 0.1 ? "yes" : "no");
  }
  return csv;
}

// A setting that may be another one after a checkpoint, and where that shows.
struct ChangedAfter {
  std::string value;             // FOLDER/ is that of the test
  CheckpointValues base = {};    // of the run that wrote the checkpoint, beside Base()
  CheckpointValues beside = {};  // given at the resume in any case
  int ranks = 1;
};

const std::map<std::string, ChangedAfter>& AfterCheckpoint() {
  static const std::string never = "1e9";  // as what counts as better
  static const std::map<std::string, ChangedAfter> table = {
      {"data", {"FOLDER/other.csv"}},
      {"test", {"FOLDER/more.csv", {{"test", "FOLDER/other.csv"}}}},
      {"validation", {"FOLDER/other.csv"}},
      {"memory", {"300M"}},
      {"cost-matrix", {"FOLDER/costs.csv"}},
      {"precision", {"bf16"}},
      {"freeze", {"layer.1"}},
      {"label-smoothing", {"0.2"}},
      {"dropout", {"0.3"}},
      {"mixup", {"0.4"}},
      {"learning-rate", {"0.5"}},
      {"bias-rate", {"0.5"}},
      {"embedding-rate", {"0.5", {{"number-embedding", "pbld"}, {"waves", "2"}}}},
      {"momentum", {"0.3", {{"optimizer", "nesterov"}}}},
      {"weight-decay", {"0.1"}},
      {"beta1", {"0.5", {{"optimizer", "adam"}}}},
      {"beta2", {"0.5", {{"optimizer", "adam"}}}},
      {"epsilon", {"0.5", {{"optimizer", "adam"}}}},
      {"clip-norm", {"0.01"}},
      {"epochs", {"3"}},
      {"batch", {"7"}},
      {"gradients", {"bf16", {}, {}, 2}},
      {"schedule", {"cosine"}},
      {"warmup", {"0.9"}},
      {"schedule-factor", {"0.9", {{"schedule", "step"}, {"schedule-epochs", "1"}}}},
      {"schedule-epochs", {"1", {{"schedule", "step"}}}},
      {"schedule-patience",
       {"1", {{"schedule", "plateau"}, {"schedule-patience", "100"}, {"min-improvement", never}, {"keep", "last"}}}},
      {"patience", {"1", {{"min-improvement", never}}}},
      {"patience-waves", {"1", {{"schedule", "coslog4"}, {"min-improvement", never}}, {{"epochs", "12"}}}},
      {"min-improvement", {never, {{"patience", "1"}}}},
      {"keep", {"last", {{"keep", "best"}, {"min-improvement", never}}}},
      {"quantize-aware", {"2"}},
      {"metrics", {"log_loss"}},
      {"calibrate", {"yes"}},
      {"intervals", {"0.5", {{"target", "b"}, {"task", "regression"}}}},
      {"backend", {"serial"}},
      {"threads", {"2"}},
      {"model", {"FOLDER/n"}},
      {"overwrite", {"yes", {}, {{"model", "FOLDER/other.csv"}}}},
      {"history", {"FOLDER/h"}},
      {"history-json", {"FOLDER/h"}},
      {"checkpoint", {"FOLDER/c", {}, {{"checkpoint-epochs", "1"}}}},
      {"checkpoint-epochs", {"1", {}, {{"checkpoint", "FOLDER/c"}}}}};
  return table;
}

class CheckpointSettings : public testing::Test {
 protected:
  CheckpointSettings() {
    folder_.Write("d.csv", RowsOfTwo(120, 1));
    folder_.Write("other.csv", RowsOfTwo(60, 2));
    folder_.Write("more.csv", RowsOfTwo(60, 3));
    folder_.Write("costs.csv", kCostsOfTwo);
  }

  void Set(TrainSettings& settings, const std::string& name, std::string text) const {
    if (const std::string placeholder = "FOLDER/"; text.starts_with(placeholder)) {
      text = folder_.Path(text.substr(placeholder.size()));
    }
    SetSetting(settings, name, text);
  }

  // Two epochs and their checkpoint.
  std::string Checkpointed(const CheckpointValues& more = {}) const {
    TrainSettings settings;
    settings.data = folder_.Path("d.csv");
    settings.recipe = "plain";
    settings.hidden = {6};
    settings.epochs = 2;
    settings.batch = 10;
    settings.learning_rate = 0.05;
    settings.threads = 1;
    settings.backend = "cpu";
    settings.checkpoint = folder_.Path("m.checkpoint");
    settings.checkpoint_epochs = 2;
    for (const auto& [name, text] : more) {
      Set(settings, name, text);
    }
    TrainSession(settings).Run({});
    return settings.checkpoint;
  }

  // What a run that goes on leaves and says, or why it does not.
  std::string Outcome(const TrainSettings& settings, const std::string& checkpoint, int ranks) const {
    const std::filesystem::path kept = folder_.Path("kept");
    std::filesystem::remove_all(kept);
    std::filesystem::create_directory(kept);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.Path())) {
      if (entry.is_regular_file()) {
        std::filesystem::copy(entry, kept);
      }
    }
    std::string outcome;
    const auto run = [&](Communicator* others) {
      TrainSession session(settings, checkpoint, {}, others);
      const TrainResult result = session.Run({});
      if (others != nullptr && !others->is_first()) {
        return;
      }
      nlohmann::json said = {{"test", ToJson(*result.test)},
                             {"calibrated", result.calibration.has_value()},
                             {"intervals", session.model().intervals.has_value()},
                             {"backend", session.backend().Describe()},
                             {"epochs", result.history.epochs.size()}};
      outcome = said.dump() + ParameterBytes(session.model().network);
    };
    try {
      if (ranks == 1) {
        run(nullptr);
      } else {
        RunRanks(ranks, [&](Communicator& rank) { run(&rank); });
      }
    } catch (const Error& error) {
      outcome = std::string("error: ") + error.what();
    }
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.Path())) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      outcome += "\n" + name;
      if (name != "kept") {  // as it was
        std::filesystem::remove(folder_.Path(name));
      }
    }
    for (const auto& entry : std::filesystem::directory_iterator(kept)) {
      std::filesystem::copy(entry, folder_.Path());
    }
    return outcome;
  }

  TemporaryFolder folder_;
};

// Some other text that can be read as its value.
std::string AnotherText(const Setting<TrainSettings>& row, const std::string& now) {
  std::vector<std::string> texts = {"x"};
  if (row.choices != nullptr) {
    texts = row.choices();
  } else if (row.kind() == SettingKind::kYesNo) {
    texts = {"yes", "no"};
  } else if (row.kind() != SettingKind::kText && row.kind() != SettingKind::kTextList) {
    texts = {"1", "2"};
  }
  return texts.front() == now ? texts.back() : texts.front();
}

TEST_F(CheckpointSettings, WhatACheckpointFixesIsRefusedByName) {
  const std::string checkpoint = Checkpointed();
  const TrainSettings saved = ResumeSettings(checkpoint).settings;
  int fixed = 0;
  for (const auto& row : SettingRows<TrainSettings>()) {
    if (row.after_checkpoint) {
      continue;
    }
    ++fixed;
    TrainSettings settings = saved;
    const std::string text = AnotherText(row, SettingText(saved, row.name));
    SetSetting(settings, row.name, text);
    ASSERT_NE(SettingText(settings, row.name), SettingText(saved, row.name)) << row.name;
    const Error error = CaughtError([&] { TrainSession(settings, checkpoint); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << row.name;
    EXPECT_EQ(error.context().setting, row.name);
    EXPECT_TRUE(Mentions(error.what(), "--" + std::string(row.name)));
    EXPECT_TRUE(Mentions(error.what(), checkpoint));
  }
  EXPECT_GT(fixed, 50);
  TrainSettings several = saved;
  several.scale = "none";
  several.drop = {"a"};
  const Error error = CaughtError([&] { TrainSession(several, checkpoint); });
  EXPECT_TRUE(Mentions(error.what(), "--scale none (there: auto)"));
  EXPECT_TRUE(Mentions(error.what(), "--drop a (there: not given)"));
}

TEST_F(CheckpointSettings, WhatItDoesNotFixTakesEffectOrIsRefusedByName) {
  for (const auto& row : SettingRows<TrainSettings>()) {
    const auto found = AfterCheckpoint().find(std::string(row.name));
    ASSERT_EQ(found != AfterCheckpoint().end(), row.after_checkpoint) << row.name;
    if (found == AfterCheckpoint().end()) {
      continue;
    }
    const ChangedAfter& changed = found->second;
    const std::string checkpoint = Checkpointed(changed.base);
    TrainSettings settings = ResumeSettings(checkpoint).settings;
    settings.checkpoint = "";
    settings.checkpoint_epochs = 0;
    settings.epochs = 4;
    for (const auto& [name, text] : changed.beside) {
      Set(settings, name, text);
    }
    const std::string before = Outcome(settings, checkpoint, changed.ranks);
    EXPECT_TRUE(Outcome(settings, checkpoint, changed.ranks) == before) << row.name << ": not the same twice";
    Set(settings, found->first, changed.value);
    const std::string after = Outcome(settings, checkpoint, changed.ranks);
    EXPECT_TRUE(after != before) << row.name << " has no effect";
    EXPECT_TRUE(!after.starts_with("error: ") || Mentions(after, "--" + found->first)) << row.name << ": " << after;
  }
}

TEST_F(CheckpointSettings, TheModelSaysWhatItWentOnWith) {
  const std::string checkpoint = Checkpointed();
  TrainSettings settings = ResumeSettings(checkpoint).settings;
  const std::string began = TrainCommandLine(settings);
  settings.epochs = 3;
  settings.checkpoint_epochs = 1;  // a file's, which does not matter to the model
  TrainSession(settings, checkpoint).Run({});
  settings = ResumeSettings(checkpoint).settings;
  settings.epochs = 5;
  settings.learning_rate = 0.01;
  settings.momentum = 0.5;  // of nesterov, and this is adam
  settings.threads = 2;
  TrainSession session(settings, checkpoint);
  session.Run({});
  const nlohmann::json& training = session.model().training;
  EXPECT_EQ(TrainCommandLine(settings, training).substr(began.find(" --hidden")),
            TrainCommandLine(SettingsAtStart(settings, training.at(kResumedKey))).substr(began.find(" --hidden")) +
                "\n# from epoch 3 on: --epochs 3\n# from epoch 4 on: --learning-rate 0.01 --epochs 5");
  const TrainSettings start = SettingsAtStart(settings, training.at(kResumedKey));
  EXPECT_EQ(start.epochs, 2);
  EXPECT_EQ(start.learning_rate, 0.05);
  EXPECT_FALSE(Mentions(TrainCommandLine(settings, training), "momentum"));
  TrainSession same(ResumeSettings(checkpoint).settings, checkpoint);
  EXPECT_EQ(same.model().training.at(kResumedKey).size(), 2U) << "going on with the same settings is no change";
  EXPECT_EQ(CaughtError([&] { TrainCommandLine(settings, {{kResumedKey, {1}}}); }).code(), ErrorCode::kBadModel);
}

}  // namespace
}  // namespace lamina
