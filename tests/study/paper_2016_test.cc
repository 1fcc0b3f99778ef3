// The study on tiny networks: every table and figure, wrong results seen, peers beside backends, real and random data.
#include "lamina/study/paper_2016.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/timing.h"
#include "lamina/measure/train_timer.h"
#include "lamina/study/other_load.h"
#include "tests/caught_error.h"
#include "tests/source_folder.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using nlohmann::json;

Paper2016Options Tiny2016() {
  Paper2016Options options;
  options.hidden = {6, 5};
  options.batches = {4, 8};
  options.thread_batch = 4;
  options.threads = 2;
  options.rounds = 1;
  options.round_seconds = 1e-4;
  options.accuracy.rows = 48;
  return options;
}

// Two classes that lie apart, with test rows.
Paper2016Data Separable() {
  Paper2016Data data{"points", {}, Dataset()};
  for (Dataset* part : {&data.train, &*data.test}) {
    part->features = Matrix(64, 3, DType::kF32);
    part->targets = Matrix(64, 2, DType::kF32);
    for (int64_t i = 0; i < 64; ++i) {
      const auto label = static_cast<int32_t>(i % 2);
      for (int64_t k = 0; k < 3; ++k) {
        part->features.Row<float>(i)[k] = static_cast<float>(2 * label - 1) + 0.01F * static_cast<float>(i % 7);
      }
      part->targets.Row<float>(i)[label] = 1;
      part->labels.push_back(label);
    }
  }
  return data;
}

json Parsed(const Paper2016Result& result) { return json::parse(ToJson(result.report).dump()); }
const json& Rows(const json& node, const char* id) { return node["tables"][id]["rows"]; }

TEST(Paper2016, ABusyMachineIsTold) {
  EXPECT_EQ(LoadRemark(0.4, 2), "");
  EXPECT_NE(LoadRemark(3.14, 2).find("3.1 programs wanted its 2 processors"), std::string::npos);
  EXPECT_GE(OtherLoad(), 0);
  Paper2016Options options = Tiny2016();
  options.batches = {4};
  EXPECT_EQ(RunPaper2016(RandomPaper2016Data(64), options).report.introduction.find("busy"), std::string::npos);
  options.load = 1e6;
  EXPECT_NE(RunPaper2016(RandomPaper2016Data(64), options).report.introduction.find("busy"), std::string::npos);
}

TEST(Paper2016, EveryTableAndFigure) {
  Paper2016Options options = Tiny2016();
  options.accuracy.epochs = 30;
  options.accuracy.learning_rate = 0.5;
  int64_t asked_accuracies = 0;
  options.peers = [&](const PeerRequest& request) {
    EXPECT_EQ(request.shape.front(), 3);
    EXPECT_EQ(request.shape.back(), 2);
    asked_accuracies += request.accuracy ? 1 : 0;
    PeerResult fast{"Torch", "best", "version 1", "", 2.0, 7, std::nullopt};
    fast.accuracy = request.accuracy ? std::optional<double>(0.75) : std::nullopt;
    PeerResult missing{"Other", "default", "", "Other is not installed", 0, 0, std::nullopt};
    return std::vector<PeerResult>{fast, missing};
  };
  const Paper2016Result result = RunPaper2016(Separable(), options);
  EXPECT_TRUE(result.all_verified);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(asked_accuracies, 2) << "once a network";
  const json node = Parsed(result);
  for (const char* table : {"net-1h-seconds", "net-2h-gflops", "net-2h-speedup"}) {
    ASSERT_EQ(Rows(node, table).size(), 2U) << table;
    EXPECT_EQ(Rows(node, table)[1]["batch"], 8) << table;
  }
  const json& first = Rows(node, "net-1h-seconds")[0];
  EXPECT_GT(first["serial_seconds"].get<double>(), 0);
  EXPECT_EQ(first["torch_best_seconds"], 2.0);
  EXPECT_EQ(first["other_default_seconds"], "Other is not installed");
  EXPECT_EQ(Rows(node, "net-1h-speedup")[0]["serial_speedup"], 1.0);
  EXPECT_NEAR(Rows(node, "net-1h-speedup")[0]["torch_best_speedup"].get<double>(),
              first["serial_seconds"].get<double>() / 2, 1e-9);
  // 4 x 18 + 6 x 12 operations a sample, 60,000 samples in 2 s
  EXPECT_NEAR(Rows(node, "net-1h-gflops")[0]["torch_best_gflops"].get<double>(), 144 * 60000 / 2.0 * 1e-9, 1e-12);
  ASSERT_EQ(Rows(node, "race").size(), 4U);
  const json& race = Rows(node, "race")[0];
  EXPECT_EQ(race["peer"], "Torch, best");
  EXPECT_NEAR(race["ratio"].get<double>(), 2 / race["cpu_seconds"].get<double>(), 1e-9);
  std::set<std::string> accurate;
  for (const json& row : Rows(node, "accuracy")) {
    if (row["who"] == "Torch, best") {
      EXPECT_EQ(row["accuracy"], 0.75);
    } else {
      accurate.insert(row["who"].get<std::string>());
      EXPECT_GT(row["accuracy"].get<double>(), 0.9) << row;
      EXPECT_LE(std::abs(row["difference"].get<double>()), 1) << row;
    }
  }
  for (const char* who : {"serial", "threads", "cpu", "cpu bf16"}) {
    EXPECT_TRUE(accurate.contains(who)) << who;
  }
  EXPECT_EQ(Rows(node, "peers")[1]["what"], "not measured");
  EXPECT_TRUE(Mentions(node["tables"]["peers"]["note"].get<std::string>(), "Other is not installed"));
  std::set<double> counts;
  for (const json& row : Rows(node, "threads")) {
    counts.insert(row["threads"].get<double>());
    EXPECT_NE(row["backend"], "serial") << "its number of threads is 1";
  }
  EXPECT_EQ(counts, (std::set<double>{1, 2}));
  for (const char* figure : {"figure-7", "figure-8", "figure-9", "figure-10"}) {
    EXPECT_GE(node["figures"][figure]["series"].size(), 4U) << figure;
    EXPECT_EQ(node["figures"][figure]["series"][0]["points"].size(), 2U) << figure;
  }
  for (const json& row : Rows(node, "measurements")) {
    EXPECT_TRUE(row["verified"] == "yes" || row["verified"].is_null()) << row;
    EXPECT_TRUE(row["seconds"].is_number() || row["reason"].is_string()) << row;
  }
  EXPECT_TRUE(Mentions(ToMarkdown(result.report), "≈")) << "a round of 0.1 ms has fewer steps than an epoch";
}

TEST(Paper2016, AWrongResultIsSeen) {
  Paper2016Options options = Tiny2016();
  options.backends = {"serial", "cpu"};
  options.verify = [](const TrainBenchmarkCase& work, const std::vector<double>& reference,
                      TrainBenchmarkResult& result) {
    std::vector<double> wrong = reference;
    wrong[0] += work.backend == "cpu" && work.precision == Precision::kExact && work.batch == 8 ? 0.5 : 0.0;
    VerifyTraining(work, wrong, result);
  };
  const Paper2016Result result = RunPaper2016(RandomPaper2016Data(64), options);
  EXPECT_FALSE(result.all_verified);
  const std::string text = ToMarkdown(result.report);
  EXPECT_TRUE(Mentions(text, "WRONG"));
  const json node = Parsed(result);
  for (const json& row : Rows(node, "measurements")) {
    EXPECT_EQ(row["verified"], row["who"] == "cpu" && row["batch"] == 8 ? "WRONG" : "yes") << row;
  }
  EXPECT_EQ(node["figures"]["figure-7"]["series"][1]["points"].size(), 1U) << "a wrong result is not drawn";
  EXPECT_FALSE(node["tables"].contains("accuracy")) << "random numbers have none";
}

TEST(Paper2016, BackendsAndInterrupts) {
  Paper2016Options options = Tiny2016();
  options.backends = {"cqu"};
  EXPECT_EQ(CaughtError([&] { RunPaper2016(RandomPaper2016Data(16), options); }).code(), ErrorCode::kInvalidArgument);
  options.backends = {"cpu"};
  options.stop_requested = [] { return true; };
  EXPECT_TRUE(RunPaper2016(Separable(), options).interrupted);
}

TEST(Paper2016, Data) {
  const Paper2016Data random = RandomPaper2016Data(100);
  EXPECT_EQ(random.train.size(), 100);
  EXPECT_EQ(random.inputs(), 784);
  EXPECT_EQ(random.outputs(), 10);
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(random.train.targets.Row<float>(i)[random.train.labels[static_cast<size_t>(i)]], 1);
  }
  const std::string digits = SourceFolder() + "/data/digits.csv.gz";
  EXPECT_EQ(CaughtError([&] { LoadPaper2016Data(digits, 10); }).code(), ErrorCode::kInvalidArgument);
}

TEST(TrainTimer, CountsItsSteps) {
  const Paper2016Data data = RandomPaper2016Data(40);
  TrainBenchmarkCase work;
  work.shape = {784, 4, 10};
  work.batch = 12;
  work.threads = 1;
  TrainTimer timer(work, data.train);
  timer.Round(0);
  EXPECT_EQ(timer.steps(), 1);
  timer.Round(0.05);
  EXPECT_EQ(timer.steps(), 1) << "of the shortest round";
  EXPECT_EQ(timer.rounds(), 2);
  const double median = timer.Seconds(40);
  EXPECT_GT(timer.Seconds(40, 0), 0);
  EXPECT_LE(timer.Seconds(40, 0), median);
  EXPECT_LE(median, timer.Seconds(40, 1));
  EXPECT_NEAR(timer.Seconds(400), 10 * median, 1e-9 * median);
}

TEST(TrainTimer, RefusesBatchesLargerThanTheData) {
  const Paper2016Data data = RandomPaper2016Data(40);
  TrainBenchmarkCase work;
  work.shape = {784, 4, 10};
  for (const int64_t batch : {0, 41}) {
    work.batch = batch;
    EXPECT_EQ(CaughtError([&] { TrainTimer(work, data.train); }).code(), ErrorCode::kInvalidArgument) << batch;
  }
  Paper2016Options options = Tiny2016();
  options.batches = {4, 41};
  bool timed = false;
  options.timed = [&](const TimedTraining&) { timed = true; };
  EXPECT_TRUE(Mentions(CaughtError([&] { RunPaper2016(data, options); }).what(), "41"));
  EXPECT_FALSE(timed) << "said before anything is measured";
}

TEST(TrainPeers, ResultsOfAScript) {
  const TemporaryFolder folder;
  const Paper2016Data data = Separable();
  std::string peer_folder;
  {
    const PeerData files(data.train, &*data.test);
    peer_folder = files.folder();
    EXPECT_EQ(ReadFile(files.folder() + "/train.x").size(), 64U * 3 * sizeof(float));
    EXPECT_EQ(ReadFile(files.folder() + "/test.y").substr(0, 8), std::string("\0\0\0\0\1\0\0\0", 8));
    PeerRequest request{{3, 6, 2}, 4, 2, 0.5, 2, AccuracyRequest{}};
    const auto run = [&](const std::string& body) {
      folder.Write("peers", "#!/bin/sh\n" + body);
      std::filesystem::permissions(folder.Path("peers"), std::filesystem::perms::owner_all);
      return MeasurePeers(folder.Path("peers"), request, files);
    };
    std::vector<PeerResult> results = run("cp \"$2\" " + folder.Path("seen") +
                                          "\necho '{\"peers\": [{\"library\": \"A\", \"settings\": \"best\", "
                                          "\"description\": \"d\", \"reason\": \"\", \"seconds\": 1.5, \"steps\": 3, "
                                          "\"accuracy\": 0.5}]}'\n");
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].Name(), "A, best");
    EXPECT_EQ(results[0].reason, "");
    EXPECT_EQ(results[0].seconds, 1.5);
    EXPECT_EQ(results[0].accuracy, 0.5);
    const json seen = json::parse(ReadFile(folder.Path("seen")));
    EXPECT_EQ(seen["net"], (json{3, 6, 2}));
    EXPECT_EQ(seen["rows"], 64);
    EXPECT_EQ(seen["accuracy"]["rows"], 64) << "no more than there are";
    EXPECT_TRUE(Mentions(run("exit 3").at(0).reason, "exit code 3"));
    EXPECT_TRUE(Mentions(run("echo nonsense").at(0).reason, "something else"));
    const Stopwatch watch;
    folder.Write("slow", "#!/bin/sh\nsleep 60\n");
    std::filesystem::permissions(folder.Path("slow"), std::filesystem::perms::owner_all);
    MeasurePeers(folder.Path("slow"), request, files, [&] { return watch.Elapsed_seconds() > 0.05; });
    EXPECT_LT(watch.Elapsed_seconds(), 30) << "the children of the script end, too";
    EXPECT_TRUE(Mentions(MeasurePeers(folder.Path("absent"), request, files).at(0).reason, "does not start"));
  }
  EXPECT_FALSE(std::filesystem::exists(peer_folder));
}

}  // namespace
}  // namespace lamina
