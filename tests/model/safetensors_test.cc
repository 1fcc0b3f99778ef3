// The safetensors format: round trips, and every way a file can be wrong.
#include "lamina/model/safetensors.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

std::string FileOf(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string content(8, '\0');
  std::memcpy(content.data(), &length, 8);
  return content.append(header).append(data);
}

std::string Entry(std::string_view shape, std::string_view offsets, std::string_view dtype = "F32") {
  return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

Error ParseError(const std::string& content) {
  Error error = CaughtError([&] { SafetensorsFile::Parse(content, "m.safetensors"); });
  EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
  EXPECT_EQ(error.context().file, "m.safetensors");
  return error;
}

TEST(Safetensors, RoundTripKeepsEveryBit) {
  const TemporaryFolder folder;
  const float floats[] = {1.5F, -0.0F, std::numeric_limits<float>::denorm_min(), std::nanf("7"), INFINITY, 3};
  const double doubles[] = {0.1, -1e308, std::numeric_limits<double>::denorm_min()};
  const uint8_t bytes[] = {0, 255, 7};
  const auto view = [](DType dtype, std::vector<int64_t> shape, const auto& values) {
    return TensorView{dtype, std::move(shape), {reinterpret_cast<const char*>(values), sizeof(values)}};
  };
  const std::map<std::string, TensorView> tensors{{"a", view(DType::kF32, {2, 3}, floats)},
                                                  {"b", view(DType::kF64, {3}, doubles)},
                                                  {"c \"quoted\" \xC3\xA9", view(DType::kU8, {1, 3, 1}, bytes)},
                                                  {"empty", {DType::kI64, {0, 4}, {}}},
                                                  {"scalar", view(DType::kU8, {}, "")}};
  const std::map<std::string, std::string> metadata{{"lamina", "{\"x\":1}"}, {"empty", ""}};
  WriteSafetensors(folder.Path("m"), metadata, tensors);
  EXPECT_EQ(folder.Count(), 1);
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.tensors().size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const TensorView& got = file.Require(name, tensor.dtype, tensor.shape);
    EXPECT_EQ(got.bytes, tensor.bytes) << name;
    EXPECT_EQ(got.element_count(), static_cast<int64_t>(tensor.bytes.size()) / DTypeSize_bytes(tensor.dtype));
  }
  const std::string content = ReadFile(folder.Path("m"));
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, content.data(), 8);
  EXPECT_EQ(header_bytes % 8, 0U) << "tensors start aligned";
}

TEST(Safetensors, RequireNamesWhatIsWrong) {
  const SafetensorsFile file = SafetensorsFile::Parse(FileOf("{\"t\":" + Entry("[2]", "[0,8]") + "}", "12345678"), "m");
  EXPECT_NO_THROW(file.Require("t", DType::kF32, {2}));
  EXPECT_TRUE(Mentions(CaughtError([&] { file.Require("u", DType::kF32, {2}); }).what(), "tensor u is missing"));
  for (const auto& [dtype, shape] : std::vector<std::pair<DType, std::vector<int64_t>>>{
           {DType::kF64, {2}}, {DType::kF64, {1}}, {DType::kF32, {1}}, {DType::kF32, {2, 1}}, {DType::kI32, {2}}}) {
    const Error error = CaughtError([&] { file.Require("t", dtype, shape); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    EXPECT_TRUE(Mentions(error.what(), "tensor t"));
  }
}

TEST(Safetensors, MissingFilesAndFolders) {
  const TemporaryFolder folder;
  EXPECT_EQ(CaughtError([&] { SafetensorsFile::Read(folder.Path("none")); }).code(), ErrorCode::kNotFound);
  EXPECT_EQ(CaughtError([&] { SafetensorsFile::Read(folder.Path()); }).code(), ErrorCode::kIo);
}

TEST(Safetensors, BadHeaders) {
  EXPECT_TRUE(Mentions(ParseError("").what(), "0 bytes"));
  ParseError("1234567");
  ParseError(std::string(8, '\0'));
  for (const uint64_t length : {uint64_t{3}, uint64_t{100'000'001}, uint64_t{1} << 63, ~uint64_t{0}}) {
    std::string content(8, '\0');
    std::memcpy(content.data(), &length, 8);
    EXPECT_TRUE(Mentions(ParseError(content + "{}").what(), "claims"));
  }
  for (const char* header :
       {"", "{", "[]", "7", "null", "\"text\"", "{]}", "not json", "{\"a\":NaN}", "{} {}", "{\"__metadata__\":[]}",
        "{\"__metadata__\":{\"k\":1}}", "{\"__metadata__\":null}", "\xFF\xFE", "{\"\xFF\":1}"}) {
    ParseError(FileOf(header, ""));
  }
  EXPECT_NO_THROW(SafetensorsFile::Parse(FileOf("{}", ""), "m"));
}

TEST(Safetensors, AChangedBitIsSeen) {
  const TemporaryFolder folder;
  const float numbers[] = {1, 2, 3, 4};
  WriteSafetensors(folder.Path("m"), {{"lamina", "{\"scale\":0.5}"}},
                   {{"a", {DType::kF32, {2, 2}, {reinterpret_cast<const char*>(numbers), sizeof(numbers)}}}});
  const std::string content = ReadFile(folder.Path("m"));
  EXPECT_NO_THROW(SafetensorsFile::Parse(content, "m.safetensors"));
  int accepted = 0;
  for (size_t bit = 0; bit < content.size() * 8; ++bit) {
    std::string changed = content;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    try {
      const SafetensorsFile file = SafetensorsFile::Parse(changed, "m.safetensors");
      ++accepted;
      // Spaces of the header may change into others, and the name of the checksum, which is then not asked for.
      EXPECT_EQ(file.tensors().at("a").bytes, std::string_view(content).substr(content.size() - sizeof(numbers)));
      EXPECT_EQ(file.metadata().at("lamina"), "{\"scale\":0.5}");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
    }
  }
  EXPECT_LT(accepted, 100);
}

TEST(Safetensors, AnotherProgramsFilesNeedNoChecksum) {
  const std::string header = fmt::format(R"({{"a":{}}})", Entry("[1]", "[0,4]"));
  EXPECT_NO_THROW(SafetensorsFile::Parse(FileOf(header, "abcd"), "m.safetensors"));
}

TEST(Safetensors, TheFormatsOwnRules) {
  const std::string entry = Entry("[1]", "[0,4]");
  EXPECT_TRUE(Mentions(ParseError(FileOf(fmt::format(R"( {{"a":{}}})", entry), "abcd")).what(), "begin with"));
  EXPECT_TRUE(Mentions(ParseError(FileOf(fmt::format(R"({{"a":{},"a":{}}})", entry, entry), "abcd")).what(), "twice"));
  EXPECT_TRUE(Mentions(
      ParseError(FileOf(fmt::format(R"({{"a":{},"__metadata__":{{"x":"1","x":"2"}}}})", entry), "abcd")).what(),
      "twice"));
}

TEST(Safetensors, DeepNestingIsAnErrorAndNoStackOverflow) {
  for (const size_t depth : {size_t{200}, size_t{1'000'000}}) {
    for (const char* bracket : {"[", "{\"a\":"}) {
      std::string header;
      for (size_t i = 0; i < depth; ++i) {
        header += bracket;
      }
      ParseError(FileOf(header, ""));
      ParseError(FileOf("{\"x\":" + header, ""));
    }
    const std::string closed = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_TRUE(Mentions(ParseError(FileOf("{\"x\":" + closed + "}", "")).what(), "nested deeper"));
  }
}

TEST(Safetensors, BadTensors) {
  const std::string data(8, 'x');
  const auto with = [&](const std::string& entry) {
    return ParseError(FileOf("{\"t\":" + entry + "}", data)).message();
  };
  EXPECT_TRUE(Mentions(with(Entry("[3]", "[0,12]")), "cut short"));
  EXPECT_TRUE(Mentions(with(Entry("[2]", "[4,12]")), "cut short"));
  EXPECT_TRUE(Mentions(with(Entry("[1]", "[0,8]")), "do not fit its shape"));
  EXPECT_TRUE(Mentions(with(Entry("[3]", "[0,8]")), "do not fit its shape"));
  EXPECT_TRUE(Mentions(with(Entry("[2]", "[0,8]", "F33")), "F33"));
  EXPECT_TRUE(Mentions(with(Entry("[1]", "[0,4]")), "too many at the end"));
  EXPECT_TRUE(Mentions(with(Entry("[1]", "[4,8]")), "gaps"));
  for (const char* shape : {"[-2]", "[2.0]", "[\"2\"]", "[null]", "[18446744073709551615]", "[9223372036854775807]",
                            "[4294967296,4294967296]", "[4611686018427387904,4]", "[2305843009213693952,8]", "2", "{}",
                            "null", "[[2]]", "[1e300]"}) {
    with(Entry(shape, "[0,8]"));
  }
  for (const char* offsets : {"[8,0]", "[-1,8]", "[0]", "[0,8,8]", "[0.0,8.0]", "[\"0\",\"8\"]", "null", "8",
                              "[0,18446744073709551615]", "[18446744073709551608,18446744073709551615]"}) {
    with(Entry("[2]", offsets));
  }
  for (const char* entry :
       {"{}", "[]", "null", "1", R"({"dtype":"F32"})", R"({"dtype":"F32","shape":[2]})",
        R"({"shape":[2],"data_offsets":[0,8]})", R"({"dtype":1,"shape":[2],"data_offsets":[0,8]})"}) {
    with(entry);
  }
}

TEST(Safetensors, TensorsMustNotOverlap) {
  const auto two = [](const char* first, const char* second) {
    ParseError(FileOf("{\"a\":" + Entry("[2]", first) + ",\"b\":" + Entry("[2]", second) + "}", std::string(16, 'x')));
  };
  two("[0,8]", "[0,8]");
  two("[0,8]", "[4,12]");
  two("[4,12]", "[8,16]");
  const std::string good =
      FileOf("{\"a\":" + Entry("[2]", "[8,16]") + ",\"b\":" + Entry("[2]", "[0,8]") + "}", std::string(16, 'x'));
  EXPECT_NO_THROW(SafetensorsFile::Parse(good, "m")) << "any order";
  EXPECT_TRUE(Mentions(ParseError(good + "y").message(), "1 bytes too many"));
}

TEST(Safetensors, AFullDiskAndAFolderAreErrors) {
  const TemporaryFolder folder;
  const std::string data(1 << 21, 'x');
  const std::map<std::string, TensorView> tensors{{"t", {DType::kU8, {1 << 21}, data}}};
  const Error full = CaughtError([&] { WriteSafetensors("/dev/full", {}, tensors); });
  EXPECT_EQ(full.code(), ErrorCode::kIo);
  EXPECT_EQ(full.context().file, "/dev/full");
  EXPECT_EQ(CaughtError([&] { WriteSafetensors("/dev/full", {}, {}); }).code(), ErrorCode::kIo);
  EXPECT_EQ(CaughtError([&] { WriteSafetensors(folder.Path(), {}, tensors); }).code(), ErrorCode::kIo);
  EXPECT_EQ(folder.Count(), 0);
}

}  // namespace
}  // namespace lamina
