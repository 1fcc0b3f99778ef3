// Tests of the IDX reader: folders, counts, sizes, bad files.
#include "lamina/data/files/idx.h"

#include <cstring>

#include "lamina/base/random.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

std::string Header(int type, std::initializer_list<uint32_t> shape) {
  std::string header{'\0', '\0', static_cast<char>(type), static_cast<char>(shape.size())};
  for (const uint32_t size : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      header += static_cast<char>(size >> shift);
    }
  }
  return header;
}

std::string Images(uint32_t count) {
  std::string content = Header(8, {count, 2, 3});
  for (uint32_t i = 0; i < count * 6; ++i) {
    content += static_cast<char>(i * 37);
  }
  return content;
}

std::string Labels(std::string_view labels) {
  return Header(8, {static_cast<uint32_t>(labels.size())}) + std::string(labels);
}

TEST(IdxTest, ReadsImagesWithoutCopies) {
  const Table table = ReadIdx(Images(4), "i", {});
  EXPECT_EQ(table.rows, 4);
  ASSERT_EQ(table.columns.size(), 6U);
  EXPECT_TRUE(table.is_image);
  EXPECT_EQ(table.image_height, 2);
  EXPECT_EQ(table.image_width, 3);
  EXPECT_EQ(table.columns[5].name, "p5");
  EXPECT_EQ(table.columns[5].dtype, DType::kU8);
  for (int64_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 6; ++j) {
      EXPECT_EQ(table.columns[j].Number(i), static_cast<uint8_t>((i * 6 + static_cast<int64_t>(j)) * 37));
    }
  }
  EXPECT_EQ(static_cast<const char*>(table.columns[1].numbers) - static_cast<const char*>(table.columns[0].numbers), 1);
}

TEST(IdxTest, ReadsAllElementTypes) {
  const auto number = [](int type, std::string_view bytes) {
    return ReadIdx(Header(type, {1, 1}) + std::string(bytes), "i", {}).columns[0].Number(0);
  };
  EXPECT_EQ(number(0x08, "\xff"), 255);
  EXPECT_EQ(number(0x09, "\xff"), -1);
  EXPECT_EQ(number(0x0B, "\xff\xfe"), -2);
  EXPECT_EQ(number(0x0C, std::string("\x00\x01\x00\x02", 4)), 65538);
  EXPECT_EQ(number(0x0D, std::string("\x3f\xc0\x00\x00", 4)), 1.5);
  EXPECT_EQ(number(0x0E, std::string("\xbf\xf8\x00\x00\x00\x00\x00\x00", 8)), -1.5);
  EXPECT_EQ(ReadIdx(Header(8, {2, 1, 2, 3}) + std::string(12, 'x'), "i", {}).columns.size(), 6U);
}

TEST(IdxTest, RefusesWrongHeadersAndSizes) {
  const auto expect = [](std::string content, std::initializer_list<std::string_view> parts) {
    ExpectError([&] { ReadIdx(std::move(content), "img", {}); }, ErrorCode::kBadData, parts);
  };
  expect(std::string(2, '\0'), {"img", "too short"});
  expect(Header(7, {1}) + "x", {"wrong IDX magic number", "00 00 07 01"});
  expect(Header(8, {1, 1, 1, 1, 1}) + "x", {"wrong IDX magic number"});
  expect("\x01" + Header(8, {1}).substr(1) + "x", {"wrong IDX magic number"});
  expect(Header(8, {1, 2, 3}).substr(0, 9), {"cut off"});
  expect(Header(8, {60000, 28, 28}) + std::string(1234, 'x'),
         {"header says 60000 images of 28x28 = 47040000 bytes, file holds 1234"});
  expect(Images(3) + "x", {"file holds 19"});
  expect(Header(0x0E, {4000000000U, 4000000000U, 4000000000U}), {"more bytes than can be counted"});
  expect(Header(8, {0, 28, 28}), {"holds no data"});
  expect(Header(8, {5, 0, 28}), {"holds no data"});
}

TEST(IdxTest, ReadsFolders) {
  const TemporaryFolder dir;
  dir.Write("train-images-idx3-ubyte.gz", Gzip(Images(5)));
  dir.Write("train-labels-idx1-ubyte", Labels("\x0a\x02\x02\x03\x0a"));
  dir.Write("t10k-images.idx3-ubyte", Images(2));
  dir.Write("t10k-labels-idx1-ubyte.gz", Gzip(Labels("\x02\x03")));
  const ReadResult result = ReadData(dir.Path());
  EXPECT_EQ(result.target, "label");
  const Column& label = result.train.columns.back();
  EXPECT_EQ(label.name, "label");
  EXPECT_EQ(label.kind, ColumnKind::kText);
  EXPECT_EQ(label.categories, (std::vector<std::string>{"2", "3", "10"}));
  EXPECT_EQ(label.codes, (std::vector<int32_t>{2, 0, 0, 1, 2}));
  ASSERT_TRUE(result.test.has_value());
  EXPECT_EQ(result.test->rows, 2);
  EXPECT_TRUE(result.test->is_image);
}

TEST(IdxTest, RefusesIncompleteFolders) {
  const TemporaryFolder dir;
  ExpectError([&] { ReadData(dir.Path()); }, ErrorCode::kNotFound,
              {dir.Path(), "train-images-idx3-ubyte[.gz]", "t10k", "labels-idx1"});
  dir.Write("train-images-idx3-ubyte", Images(3));
  ExpectError([&] { ReadData(dir.Path()); }, ErrorCode::kNotFound, {"no train-labels-idx1-ubyte"});
  dir.Write("train-labels-idx1-ubyte", Labels("\x01\x02"));
  ExpectError([&] { ReadData(dir.Path()); }, ErrorCode::kBadData, {"holds 2 labels", "holds 3 images"});
  dir.Write("train-labels-idx1-ubyte", Labels("\x01\x02\x01"));
  EXPECT_FALSE(ReadData(dir.Path()).test.has_value());
  dir.Write("t10k-images-idx3-ubyte", Images(3));
  ExpectError([&] { ReadData(dir.Path()); }, ErrorCode::kNotFound, {"t10k-labels-idx1-ubyte"});
}

TEST(IdxTest, SurvivesRandomDamage) {
  Random random(1);
  const std::string good = Images(4);
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good.substr(0, round % 4 == 0 ? random.Below(good.size() + 1) : good.size());
    for (uint64_t n = random.Below(4); n > 0 && !bad.empty(); --n) {
      bad[random.Below(std::min<size_t>(bad.size(), 20))] = static_cast<char>(random.Below(256));
    }
    try {
      const Table table = ReadIdx(bad, "f", {});
      double sum = 0;
      for (const Column& column : table.columns) {
        sum += column.Number(table.rows - 1);
      }
      static_cast<void>(sum);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace lamina
