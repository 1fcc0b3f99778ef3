// Encoded data in a folder: the rows and models of the data themselves, in windows where memory is little, and folders
// that cannot be used.
#include "lamina/run/encoded_data.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/file.h"
#include "lamina/base/part_file.h"
#include "lamina/base/stop.h"
#include "lamina/run/memory_limit.h"
#include "lamina/run/session.h"
#include "lamina/train/block_order.h"
#include "lamina/train/data_feed.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

// Numbers, dates and text, with gaps; a class and a number to predict.
std::string MixedCsv(int rows) {
  std::string text = "x,y,when,color,size,kind,price,weight\n";
  Random random(7);
  for (int i = 0; i < rows; ++i) {
    const double x = random.Uniform();
    const double y = random.Uniform();
    const char* color = random.Uniform() < 0.5 ? "red" : random.Uniform() < 0.5 ? "blue" : "";
    text += (random.Uniform() < 0.1 ? "" : std::to_string(x)) + "," + std::to_string(y) + ",2024-0" +
            std::to_string(1 + random.Below(9)) + "-1" + std::to_string(random.Below(10)) + "," + color + "," +
            std::to_string(random.Below(1000)) + "," +
            (x + y > 1.2 ? "far"
             : x > y     ? "right"
                         : "left") +
            "," + std::to_string(3 * x - y) + "," + std::to_string(1 + random.Below(3)) + "\n";
  }
  return text;
}

TrainSettings SettingsFor(const std::string& data, const std::string& target) {
  TrainSettings settings;
  settings.recipe = "plain";
  settings.data = data;
  settings.target = {target};
  settings.hidden = {8};
  settings.epochs = 2;
  settings.batch = 32;
  settings.threads = 2;
  return settings;
}

void ExpectSame(const Dataset& a, const Dataset& b) {
  ASSERT_EQ(a.size(), b.size());
  const auto same = [](const Matrix& x, const Matrix& y) {
    return x.rows() == 0 || (x.rows() == y.rows() && x.cols() == y.cols() && x.dtype() == y.dtype() &&
                             std::memcmp(x.data(), y.data(),
                                         static_cast<size_t>(x.rows() * x.cols() * DTypeSize_bytes(x.dtype()))) == 0);
  };
  EXPECT_TRUE(same(a.features, b.features));
  EXPECT_TRUE(same(a.targets, b.targets));
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.sample_weights, b.sample_weights);
  EXPECT_EQ(a.baseline, b.baseline);
}

TEST(EncodedData, IsWhatEncodingGives) {
  const TemporaryFolder folder;
  const std::string csv = folder.Write("t.csv", MixedCsv(1500));
  struct Case {
    std::string target;
    void (*change)(TrainSettings&);
  };
  const std::vector<Case> cases = {
      {"kind", [](TrainSettings&) {}},
      {"kind", [](TrainSettings& s) { s.class_weights = {"balanced"}, s.missing = "drop", s.dtype = "f64"; }},
      {"price", [](TrainSettings& s) { s.weight_column = "weight", s.baseline = "y"; }},
      {"price",
       [](TrainSettings& s) {
         s.scale = "robust", s.dates = "calendar", s.split = {0.8, 0.2, 0};
       }},
      {"kind", [](TrainSettings& s) { s.numbers = "ple", s.bins = 5, s.stratify = true, s.missing = "median"; }}};
  for (const Case& one : cases) {
    TrainSettings settings = SettingsFor(csv, one.target);
    one.change(settings);
    const TrainData expected = EncodeData(ReadRawData(settings), settings);
    for (const char* memory : {"", "200K"}) {  // pieces of some hundred rows
      settings.memory = memory;
      const EncodedDataInfo info = WriteEncodedData(settings, folder.Path("e"));
      EXPECT_EQ(info.train_rows, expected.train.size());
      EXPECT_EQ(info.left_out_rows, expected.left_out_rows);
      EXPECT_EQ(folder.Count(), 2) << "nothing but the folder stays";
      TrainSettings training = settings;
      training.data = folder.Path("e");
      ASSERT_TRUE(IsEncodedData(training.data));
      const EncodedData opened = OpenEncodedData(training);
      ExpectSame(opened.data.train, expected.train);
      ExpectSame(opened.data.validation, expected.validation);
      ExpectSame(opened.data.test, expected.test);
      EXPECT_EQ(opened.data.preprocessor.ToJson(), expected.preprocessor.ToJson());
      EXPECT_EQ(opened.data.report.filled_values, expected.report.filled_values);
      EXPECT_EQ(opened.data.decisions.size(), expected.decisions.size());
    }
  }
}

TEST(EncodedData, TrainsTheSameModelWhereAllRowsFit) {
  const TemporaryFolder folder;
  TrainSettings settings = SettingsFor(folder.Write("t.csv", MixedCsv(2000)), "kind");
  WriteEncodedData(settings, folder.Path("e"));
  for (const char* loss : {"auto", "mse"}) {  // other targets than those of the folder
    settings.loss = loss;
    TrainSession plain(settings);
    const TrainResult expected = plain.Run({});
    TrainSettings encoded;  // what is said of the data is in the folder
    encoded.data = folder.Path("e");
    encoded.loss = loss;
    encoded.hidden = {8};
    encoded.epochs = 2;
    encoded.batch = 32;
    for (const int64_t threads : {1, 2}) {
      for (const char* memory : {"", "2G"}) {
        encoded.threads = threads;
        encoded.memory = memory;
        TrainSession session(encoded);
        const TrainResult result = session.Run({});
        EXPECT_EQ(session.options().window_rows, 0);
        EXPECT_EQ(ParameterBytes(session.model().network), ParameterBytes(plain.model().network)) << loss;
        EXPECT_EQ(result.test->loss, expected.test->loss);
      }
    }
  }
}

TEST(EncodedData, WindowsOfRowsGiveOneModelAndLearn) {
  const TemporaryFolder folder;
  const TrainSettings settings = SettingsFor(folder.Write("t.csv", MixedCsv(20000)), "kind");
  WriteEncodedData(settings, folder.Path("e"));
  TrainSettings encoded = SettingsFor(folder.Path("e"), "kind");
  encoded.epochs = 6;
  TrainSession whole(encoded);
  const double accuracy = whole.Run({}).test->classification->accuracy;
  std::string parameters;
  for (const int64_t threads : {1, 2, 2}) {
    encoded.memory = "67.9M";  // what a run takes whatever its rows, and some of them
    encoded.threads = threads;
    TrainSession session(encoded);
    EXPECT_GT(session.options().window_rows, 0);
    EXPECT_LT(session.options().window_rows, session.train().size() / 2);
    EXPECT_EQ(session.options().window_rows % 32, 0);
    const TrainResult result = session.Run({});
    EXPECT_NEAR(result.test->classification->accuracy, accuracy, 0.02);
    const auto bytes = ParameterBytes(session.model().network);
    EXPECT_NE(bytes, ParameterBytes(whole.model().network)) << "another order of the rows";
    EXPECT_TRUE(parameters.empty() || bytes == parameters);
    parameters = bytes;
  }
  encoded.memory = "65M";
  const Error error = CaughtError([&] { TrainSession session(encoded); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(Mentions(error.what(), "too little"));
  const std::string text = error.what();
  const size_t at = text.find("Give --memory ");
  ASSERT_NE(at, std::string::npos) << text;
  encoded.memory = text.substr(at + 14, text.find(' ', at + 14) - at - 14);
  EXPECT_NO_THROW(TrainSession session(encoded)) << "the least that is said is enough: " << encoded.memory;
}

TEST(EncodedData, WindowsPassTheRowsInTheOrderAskedFor) {
  const TemporaryFolder folder;
  const TrainSettings settings = SettingsFor(folder.Write("t.csv", MixedCsv(3000)), "kind");
  WriteEncodedData(settings, folder.Path("e"));
  TrainSettings encoded;
  encoded.data = folder.Path("e");
  const EncodedData opened = OpenEncodedData(encoded);
  const Dataset& data = opened.data.train;
  const auto backend = MakeBackend("cpu", {.threads = 1});
  const std::vector<int64_t> order = BlockOrder(data.size(), 320, Random(1));
  DataFeed feed(data, *backend, 32, 320);
  ASSERT_TRUE(feed.is_streamed());
  for (const bool shuffled : {true, false, true}) {
    feed.SetOrder(shuffled ? std::span<const int64_t>(order) : std::span<const int64_t>());
    TrainingSteps work;
    for (int64_t at = 0; at < data.size(); at += work.end - work.begin) {
      feed.Load(at, data.size(), work);
      ASSERT_EQ(work.order, nullptr);
      for (int64_t i = work.begin; i < work.end; ++i) {
        const int64_t sample = at + i - work.begin;
        const int64_t row = shuffled ? order[static_cast<size_t>(sample)] : sample;
        ASSERT_EQ(std::memcmp(work.x.Rows(i, 1).data, data.features.Row<float>(row),
                              static_cast<size_t>(data.features.cols()) * sizeof(float)),
                  0);
      }
    }
  }
}

TEST(EncodedData, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  const std::string csv = folder.Write("t.csv", MixedCsv(500));
  const TrainSettings settings = SettingsFor(csv, "kind");
  const std::string path = folder.Path("e");
  WriteEncodedData(settings, path);
  const auto refused = [&](const TrainSettings& asked) {
    const Error error = CaughtError([&] { OpenEncodedData(asked); });
    return std::string(error.what());
  };
  TrainSettings asked;
  asked.data = path;
  asked.scale = "minmax";
  EXPECT_TRUE(Mentions(refused(asked), "--scale"));
  asked.scale = "auto";
  asked.recipe = "tabular";
  EXPECT_TRUE(Mentions(refused(asked), "--recipe tabular"));
  asked.recipe = "plain";
  for (const auto& [file, what] : {std::pair{"train_inputs.npy", "damaged"}, std::pair{"test_labels.npy", "damaged"}}) {
    std::fstream bytes(path + "/" + file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-3, std::ios::end);
    const char old = static_cast<char>(bytes.peek());
    bytes.put(static_cast<char>(old ^ 4));
    bytes.close();
    EXPECT_TRUE(Mentions(refused(asked), what));
    EXPECT_TRUE(Mentions(refused(asked), file));
    WriteEncodedData(settings, path);  // in its place
  }
  std::filesystem::resize_file(path + "/train_targets.npy", 300);
  EXPECT_TRUE(Mentions(refused(asked), "300 bytes"));
  std::filesystem::remove(path + "/train_targets.npy");
  EXPECT_TRUE(Mentions(refused(asked), "missing"));
  WriteEncodedData(settings, path);
  nlohmann::json manifest = nlohmann::json::parse(ReadFile(path + "/encoded.json"));
  manifest.erase("crc32");  // as earlier versions wrote it
  folder.Write("e/encoded.json", manifest.dump());
  EXPECT_EQ(OpenEncodedData(asked).data.train.size(), 300);
  manifest["version"] = 7;
  folder.Write("e/encoded.json", manifest.dump());
  EXPECT_TRUE(Mentions(refused(asked), "version 7"));
  folder.Write("e/encoded.json", R"({"version": 1, "format": "lamina encoded data"})");
  EXPECT_TRUE(Mentions(refused(asked), "no description"));
  WriteEncodedData(settings, path);
  folder.Write("t.csv", MixedCsv(501));
  EXPECT_TRUE(Mentions(refused(asked), "has changed"));
  std::filesystem::remove(csv);  // what is not there cannot have changed
  EXPECT_EQ(OpenEncodedData(asked).data.train.size(), 300);
  EXPECT_TRUE(Mentions(CaughtError([&] { ReadData(path); }).what(), "encoded data"));
}

// Each number, text and switch of the description, changed by itself.
TEST(EncodedData, AnythingChangedInTheDescriptionIsSeen) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("e");
  WriteEncodedData(SettingsFor(folder.Write("t.csv", MixedCsv(200)), "kind"), path);
  const nlohmann::json manifest = nlohmann::json::parse(ReadFile(path + "/encoded.json"));
  TrainSettings asked;
  asked.data = path;
  asked.recipe = "plain";
  OpenEncodedData(asked);
  int changed = 0;
  const nlohmann::json leaves = manifest.flatten();
  for (const auto& [place, value] : leaves.items()) {
    nlohmann::json other = manifest;
    other[nlohmann::json::json_pointer(place)] = value.is_number()    ? nlohmann::json(value.get<double>() + 1e9)
                                                 : value.is_boolean() ? nlohmann::json(!value.get<bool>())
                                                                      : nlohmann::json("another");
    folder.Write("e/encoded.json", other.dump());
    const Error error = CaughtError([&] { OpenEncodedData(asked); });
    EXPECT_EQ(error.code(), ErrorCode::kBadData) << place;
    EXPECT_TRUE(Mentions(error.what(), "checksum")) << place;
    ++changed;
  }
  EXPECT_GT(changed, 100);
}

// Neither what is there under its own name nor what is beside it.
TEST(EncodedData, ReplacesAndRemovesNothingOfOthers) {
  const TemporaryFolder folder;
  const TrainSettings settings = SettingsFor(folder.Write("t.csv", MixedCsv(200)), "kind");
  const std::vector<std::string> beside{"e.old", "e.part", "e.lamina-0123456789abcdef.part", "e.4242.part"};
  for (const std::string& name : beside) {
    std::filesystem::create_directories(folder.Path(name) + "/sub");
    folder.Write(name + "/sub/important", "backup");
  }
  WriteEncodedData(settings, folder.Path("e"));
  WriteEncodedData(settings, folder.Path("e"));  // in its place
  for (const std::string& name : beside) {
    EXPECT_EQ(ReadFile(folder.Path(name) + "/sub/important"), "backup") << name;
  }
  EXPECT_EQ(folder.Count(), 2 + std::ssize(beside));
  const auto refused = [&](const std::string& name) {
    return std::string(CaughtError([&] { WriteEncodedData(settings, folder.Path(name)); }).what());
  };
  folder.Write("e/notes.txt", "mine");
  EXPECT_TRUE(Mentions(refused("e"), "notes.txt"));
  EXPECT_EQ(ReadFile(folder.Path("e/notes.txt")), "mine");
  folder.Write("file", "");
  EXPECT_TRUE(Mentions(refused("file"), "file"));
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.Path("file")));
  std::filesystem::create_directory(folder.Path("other"));
  folder.Write("other/encoded.json", "{\"of\": \"somebody\"}");
  EXPECT_TRUE(Mentions(refused("other"), "something else"));
  EXPECT_EQ(ReadFile(folder.Path("other/encoded.json")), "{\"of\": \"somebody\"}");
  // A link stays one, and what it points to is what is written.
  std::filesystem::create_directory(folder.Path("there"));
  std::filesystem::create_directory_symlink("there", folder.Path("link"));
  WriteEncodedData(settings, folder.Path("link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.Path("link")));
  EXPECT_TRUE(IsEncodedData(folder.Path("there")));
}

TEST(EncodedData, WhatAKilledProcessLeftIsRemoved) {
  const TemporaryFolder folder;
  const TrainSettings settings = SettingsFor(folder.Write("t.csv", MixedCsv(200)), "kind");
  const std::string empty = NewPartName(folder.Path("e"));
  const std::string filled = NewPartName(folder.Path("e"));
  for (const std::string& part : {empty, filled}) {
    std::filesystem::create_directory(part);
    WriteFileAtomically(part + "/train_inputs.npy", "half");
  }
  WriteFileAtomically(filled + "/notes.txt", "mine");
  WriteEncodedData(settings, folder.Path("e"));
  EXPECT_FALSE(std::filesystem::exists(empty));
  EXPECT_EQ(ReadFile(filled + "/notes.txt"), "mine") << "a person may have put it there";
  EXPECT_EQ(folder.Count(), 3);
}

TEST(EncodedData, LeavesNothingWhereItFails) {
  const TemporaryFolder folder;
  const TrainSettings settings = SettingsFor(folder.Write("t.csv", MixedCsv(500)), "kind");
  EXPECT_THROW(WriteEncodedData(settings, folder.Path("e"), [] { return true; }), Stopped);
  EXPECT_EQ(folder.Count(), 1);
  TrainSettings unknown = settings;
  unknown.target = {"nobody"};
  CaughtError([&] { WriteEncodedData(unknown, folder.Path("e")); });
  EXPECT_EQ(folder.Count(), 1);
  std::filesystem::create_directory(folder.Path("mine"));
  folder.Write("mine/file", "x");
  EXPECT_TRUE(Mentions(CaughtError([&] { WriteEncodedData(settings, folder.Path("mine")); }).what(), "something else"));
  EXPECT_EQ(ReadFile(folder.Path("mine/file")), "x");
}

}  // namespace
}  // namespace lamina
