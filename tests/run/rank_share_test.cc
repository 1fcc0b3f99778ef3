// Sessions of ranks that keep the rows of their shards alone: one model, what each rank has and reads, and what is
// refused.
#include "lamina/run/rank_share.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/cluster/shard_rows.h"
#include "lamina/cluster/thread_ranks.h"
#include "lamina/run/encoded_data.h"
#include "lamina/run/resume.h"
#include "lamina/run/session.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

constexpr int kTableRows = 3000;

std::string ShareCsv(uint64_t seed = 7) {
  std::string text = "x,y,color,kind,price,weight\n";
  Random random(seed);
  for (int i = 0; i < kTableRows; ++i) {
    const double x = random.Uniform();
    const double y = random.Uniform();
    text += (random.Uniform() < 0.1 ? "" : std::to_string(x)) + "," + std::to_string(y) + "," +
            (random.Uniform() < 0.5 ? "red" : "blue") + "," +
            (x + y > 1.2 ? "far"
             : x > y     ? "right"
                         : "left") +
            "," + std::to_string(3 * x - y) + "," + std::to_string(1 + random.Below(3)) + "\n";
  }
  return text;
}

TrainSettings ShareSettings(const std::string& data, const std::string& target = "kind") {
  TrainSettings settings;
  settings.data = data;
  settings.target = {target};
  settings.hidden = {8};
  settings.epochs = 3;
  settings.batch = 36;  // of 8 shards some have five rows of it
  settings.threads = 1;
  settings.shard_data = true;
  settings.overwrite = true;
  return settings;
}

struct Job {
  std::string model;
  std::vector<int64_t> rows;  // that each rank has
};

// What all ranks have at the end is one model.
Job TrainOn(int size, TrainSettings settings, const std::string& file) {
  std::mutex mutex;
  Job job;
  job.rows.resize(static_cast<size_t>(size));
  settings.model = file;
  std::vector<std::vector<char>> parameters;
  RunRanks(size, [&](Communicator& ranks) {
    TrainSession session(settings, {}, &ranks);
    session.Run({});
    const std::lock_guard lock(mutex);
    job.rows[static_cast<size_t>(ranks.rank())] = session.train().size();
    EXPECT_EQ(session.rows().train, 1800);
    EXPECT_EQ(session.test().size(), ranks.is_first() ? 600 : 0);
    const auto* bytes = static_cast<const char*>(session.model().network.parameters());
    parameters.emplace_back(bytes, bytes + session.model().network.parameter_bytes());
  });
  EXPECT_EQ(std::count(parameters.begin(), parameters.end(), parameters.front()), size);
  job.model = ReadFile(file);
  return job;
}

std::string ModelOfOneProcess(TrainSettings settings, const std::string& file) {
  settings.model = file;
  TrainSession(settings).Run({});
  return ReadFile(file);
}

struct Case {
  const char* name;
  std::string target;
  void (*change)(TrainSettings&);
};

class SharedData : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    , SharedData,
    testing::Values(Case{"plain", "kind", [](TrainSettings&) {}},
                    Case{"weights", "kind",
                         [](TrainSettings& s) { s.class_weights = {"balanced"}, s.weight_column = "weight"; }},
                    Case{"numbers", "price", [](TrainSettings& s) { s.baseline = "y", s.monitor = "mae"; }},
                    Case{"more_shards", "kind", [](TrainSettings& s) { s.shards = 13; }}),
    [](const auto& info) { return info.param.name; });

TEST_P(SharedData, AnyNumberOfRanksGivesOneModelAndEachHasItsShare) {
  const TemporaryFolder folder;
  TrainSettings settings = ShareSettings(folder.Write("t.csv", ShareCsv()), GetParam().target);
  GetParam().change(settings);
  WriteEncodedData(settings, folder.Path("e"));
  const std::string file = folder.Path("m.safetensors");
  TrainSettings of_folder = settings;
  of_folder.data = folder.Path("e");
  const int64_t shards = settings.shards == 0 ? 8 : settings.shards;
  for (const TrainSettings& one : {settings, of_folder}) {
    const std::string alone = ModelOfOneProcess(one, file);
    TrainSettings global = one;
    global.shard_data = false;
    global.shards = 8;
    EXPECT_NE(ModelOfOneProcess(global, folder.Path("g.safetensors")), alone) << "another order of the rows";
    for (const int size : {1, 2, 3, 4, 8}) {
      const Job job = TrainOn(size, one, file);
      EXPECT_EQ(job.model, alone) << size << " ranks of " << one.data;
      int64_t all = 0;
      for (const int64_t rows : job.rows) {
        all += rows;
        EXPECT_GT(rows, 0);
        EXPECT_LE(rows, (shards + size - 1) / size * ((36 + shards - 1) / shards) * 50) << size << " ranks, 50 steps";
      }
      EXPECT_EQ(all, 1800);
    }
  }
}

TEST(SharedDataOfRanks, TheRowsAreTheSameFromTheFolder) {
  const TemporaryFolder folder;
  TrainSettings settings = ShareSettings(folder.Write("t.csv", ShareCsv()));
  WriteEncodedData(settings, folder.Path("e"));
  settings.shards = 8;
  const TrainData read = EncodeData(ReadRawData(settings), settings, {}, nullptr, {{}, {.ranks = 3, .rank = 1}});
  settings.data = folder.Path("e");
  const TrainData opened = OpenEncodedData(settings, {}, nullptr, {.ranks = 3, .rank = 1}).data;
  settings.shard_data = false;
  const TrainData whole = OpenEncodedData(settings).data;
  const IndexRange own = ShardRows(1800, 36, 8, 3, 1).own();
  ASSERT_EQ(read.train.size(), own.count());
  ASSERT_EQ(opened.train.size(), own.count());
  ASSERT_EQ(opened.train.files.size(), 2U);
  const size_t row_bytes = static_cast<size_t>(whole.train.features.cols()) * sizeof(float);
  for (int64_t i = 0; i < own.count(); ++i) {
    const float* row = whole.train.features.Row<float>(own.begin + i);
    EXPECT_EQ(std::memcmp(read.train.features.Row<float>(i), row, row_bytes), 0);
    EXPECT_EQ(std::memcmp(opened.train.features.Row<float>(i), row, row_bytes), 0);
    EXPECT_EQ(std::memcmp(opened.train.files[0]->Rows(i, 1).data, row, row_bytes), 0);
    EXPECT_EQ(read.train.labels[static_cast<size_t>(i)], whole.train.labels[static_cast<size_t>(own.begin + i)]);
    EXPECT_EQ(opened.train.labels[static_cast<size_t>(i)], whole.train.labels[static_cast<size_t>(own.begin + i)]);
  }
  EXPECT_EQ(read.report.filled_values, whole.report.filled_values) << "of all rows";
}

// A rank does not look at bytes of others: what is damaged there is theirs to find.
TEST(SharedDataOfRanks, ARankReadsItsOwnRangeOfTheFiles) {
  const TemporaryFolder folder;
  std::string text = "a";
  for (int j = 1; j < 200; ++j) {
    text += ",a" + std::to_string(j);
  }
  text += ",kind\n";
  Random random(3);
  for (int i = 0; i < 8000; ++i) {  // 4,800 rows of 800 bytes
    for (int j = 0; j < 200; ++j) {
      text += std::to_string(random.Below(10)) + ",";
    }
    text += i % 3 == 0 ? "yes\n" : "no\n";
  }
  TrainSettings settings = ShareSettings(folder.Write("t.csv", text));
  const std::string path = folder.Path("e");
  WriteEncodedData(settings, path);
  settings.data = path;
  settings.shards = 8;
  std::fstream bytes(path + "/train_inputs.npy", std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(-3, std::ios::end);
  const char old = static_cast<char>(bytes.peek());
  bytes.put(static_cast<char>(old ^ 4));
  bytes.close();
  for (int64_t rank = 0; rank < 4; ++rank) {
    const auto open = [&] { OpenEncodedData(settings, {}, nullptr, {.ranks = 4, .rank = rank}); };
    if (rank < 3) {
      EXPECT_NO_THROW(open()) << rank;
    } else {
      EXPECT_TRUE(Mentions(CaughtError(open).what(), "is damaged"));
    }
  }
}

TEST(SharedDataOfRanks, WindowsAreTheSameForAnyNumberOfRanks) {
  const TemporaryFolder folder;
  std::string many = ShareCsv(1);
  for (uint64_t seed = 2; seed < 9; ++seed) {
    const std::string more = ShareCsv(seed);
    many += more.substr(more.find('\n') + 1);
  }
  TrainSettings settings = ShareSettings(folder.Write("t.csv", many));
  WriteEncodedData(settings, folder.Path("e"));
  settings.data = folder.Path("e");
  const std::string file = folder.Path("m.safetensors");
  const std::string whole = ModelOfOneProcess(settings, file);
  settings.memory = "67.9M";  // what a run takes whatever its rows, and some of them
  const std::string alone = ModelOfOneProcess(settings, file);
  EXPECT_NE(alone, whole);
  for (const int size : {2, 3}) {
    TrainSettings one = settings;
    one.model = file;
    RunRanks(size, [&](Communicator& ranks) {
      TrainSession session(one, {}, &ranks);
      EXPECT_GT(session.options().window_rows, 0);
      EXPECT_LT(session.options().window_rows, session.rows().train);
      session.Run({});
    });
    EXPECT_EQ(ReadFile(file), alone) << size;
  }
}

TEST(SharedDataOfRanks, GoesOnWithAnotherNumberOfRanks) {
  const TemporaryFolder folder;
  TrainSettings settings = ShareSettings(folder.Write("t.csv", ShareCsv()));
  WriteEncodedData(settings, folder.Path("e"));
  for (const std::string& data : {folder.Path("t.csv"), folder.Path("e")}) {
    settings.data = data;
    settings.model = folder.Path("m.safetensors");
    settings.checkpoint = folder.Path("c");
    const std::string whole = ModelOfOneProcess(settings, settings.model);
    RunRanks(3, [&](Communicator& ranks) {
      TrainSession session(settings, {}, &ranks);
      int asked = 0;
      TrainCallbacks callbacks;
      callbacks.stop_requested = [&] { return ++asked > 60; };  // in the second epoch of 50 steps
      EXPECT_EQ(session.Run(callbacks).history.stop_reason, "interrupted");
    });
    RunRanks(2, [&](Communicator& ranks) {
      const std::string path = folder.Path("c");
      TrainSettings rest = ResumeSettings(path).settings;
      rest.model = settings.model;
      rest.overwrite = true;
      TrainSession session(rest, path, {}, &ranks);
      session.Run({});
    });
    EXPECT_EQ(ReadFile(settings.model), whole) << data;
  }
}

// Ranks compare the fingerprints before they train.
TEST(SharedDataOfRanks, AFingerprintIsOfTheRowsOfAllRanks) {
  const TemporaryFolder folder;
  std::string other = ShareCsv();
  other[other.size() - 2] = other[other.size() - 2] == '1' ? '2' : '1';  // a weight of the last row, and nothing else
  std::vector<uint64_t> prints;
  for (const std::string& text : {ShareCsv(), other}) {
    TrainSettings settings = ShareSettings(folder.Write("t.csv", text));
    settings.weight_column = "weight";
    settings.shards = 8;
    settings.split = {1, 0, 0};
    WriteEncodedData(settings, folder.Path("e"));
    TrainSettings encoded = settings;
    encoded.data = folder.Path("e");
    for (int64_t rank = 0; rank < 3; ++rank) {
      const RankShare share{.ranks = 3, .rank = rank};
      prints.push_back(*EncodeData(ReadRawData(settings), settings, {}, nullptr, {{}, share}).fingerprint);
      prints.push_back(*OpenEncodedData(encoded, {}, nullptr, share).data.fingerprint);
    }
  }
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(prints[i], prints[i % 2]);
    EXPECT_EQ(prints[6 + i], prints[6 + i % 2]);
    EXPECT_NE(prints[i], prints[6 + i]);
  }
}

TEST(SharedDataOfRanks, WhatCannotBeSharedIsRefused) {
  const TemporaryFolder folder;
  const TrainSettings settings = ShareSettings(folder.Write("t.csv", ShareCsv()));
  const auto refused = [&](void (*change)(TrainSettings&)) {
    TrainSettings changed = settings;
    change(changed);
    return std::string(CaughtError([&] { TrainSession session(changed); }).what());
  };
  EXPECT_TRUE(Mentions(refused([](TrainSettings& s) { s.batch = 5; }), "a batch of 5 rows has none"));
  EXPECT_TRUE(Mentions(refused([](TrainSettings& s) { s.samples = 10; }), "has none of some of the 8 shards"));
  EXPECT_TRUE(Mentions(refused([](TrainSettings& s) { s.layers = "rbf:20,auto"; }), "first layer of distances"));
  EXPECT_TRUE(Mentions(refused([](TrainSettings& s) { s.number_embedding = "pbld"; }), "embeddings start at"));
  EXPECT_TRUE(Mentions(refused([](TrainSettings& s) { s.optimizer = "lbfgs"; }), "--shard-data"));
  EXPECT_TRUE(Mentions(refused([](TrainSettings& s) {
                         s.method = "elm";
                         s.epochs.reset();
                         s.batch.reset();
                       }),
                       "--shard-data has no effect"));
}

}  // namespace
}  // namespace lamina
