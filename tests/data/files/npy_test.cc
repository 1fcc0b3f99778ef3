// Tests of the npy reader and writer: types, orders, versions, bad files.
#include "lamina/data/files/npy.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "lamina/base/buffer.h"
#include "lamina/base/random.h"
#include "lamina/data/files/npy_writer.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

std::string WithHeader(std::string dictionary, std::string_view data, int major = 1) {
  dictionary += '\n';
  std::string content("\x93NUMPY", 6);
  content += static_cast<char>(major);
  content += '\0';
  const size_t length = dictionary.size();
  for (int b = 0; b < (major == 1 ? 2 : 4); ++b) {
    content += static_cast<char>(length >> (8 * b));
  }
  return content + dictionary + std::string(data);
}

std::string Npy(std::string_view descr, std::string_view shape, std::string_view data, bool fortran = false,
                int major = 1) {
  return WithHeader(
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran ? "True" : "False", shape),
      data, major);
}

template <class T>
std::string Bytes(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

Table Read(std::string content) { return ReadNpy(std::move(content), "a.npy", {}); }

TEST(NpyTest, ReadsMatricesInBothOrders) {
  for (const int major : {1, 2, 3}) {
    const Table c = Read(Npy("<f4", "(2, 3)", Bytes<float>({1, 2, 3, 4, 5, 6}), false, major));
    ASSERT_EQ(c.columns.size(), 3U);
    EXPECT_EQ(c.rows, 2);
    EXPECT_EQ(c.columns[2].name, "c2");
    EXPECT_EQ(c.columns[2].dtype, DType::kF32);
    EXPECT_EQ(c.columns[2].Number(0), 3);
    EXPECT_EQ(c.columns[0].Number(1), 4);
  }
  const Table fortran = Read(Npy("<f8", "(2, 3)", Bytes<double>({1, 4, 2, 5, 3, 6}), true));
  EXPECT_EQ(fortran.columns[2].Number(0), 3);
  EXPECT_EQ(fortran.columns[0].Number(1), 4);
  const Table vector = Read(Npy("<i8", "(3,)", Bytes<int64_t>({-7, 8, 9}), true));
  EXPECT_EQ(vector.rows, 3);
  EXPECT_EQ(vector.columns.size(), 1U);
  EXPECT_EQ(vector.columns[0].Number(0), -7);
}

TEST(NpyTest, ReadsAllElementTypes) {
  const auto number = [](std::string_view descr, const std::string& data) {
    return Read(Npy(descr, "(1, 1)", data)).columns[0].Number(0);
  };
  EXPECT_EQ(number("<i4", Bytes<int32_t>({-5})), -5);
  EXPECT_EQ(number("<i2", Bytes<int16_t>({-5})), -5);
  EXPECT_EQ(number("|i1", Bytes<int8_t>({-5})), -5);
  EXPECT_EQ(number("|u1", Bytes<uint8_t>({250})), 250);
  EXPECT_EQ(number("|b1", Bytes<uint8_t>({1})), 1);
  EXPECT_EQ(number("<u2", Bytes<uint16_t>({65535})), 65535);
  EXPECT_EQ(number("<u4", Bytes<uint32_t>({4294967295U})), 4294967295.0);
  EXPECT_EQ(number("<u8", Bytes<uint64_t>({1ULL << 63})), 0x1p63);
  EXPECT_EQ(number("<f2", Bytes<uint16_t>({0x3E00})), 1.5);
  EXPECT_EQ(number("<f2", Bytes<uint16_t>({0x8001})), -0x1p-24);
  EXPECT_EQ(number("<f2", Bytes<uint16_t>({0x7BFF})), 65504);
  EXPECT_EQ(number(">i4", std::string("\x00\x00\x01\x02", 4)), 258);
  EXPECT_EQ(number(">f8", std::string("\x3f\xf8\x00\x00\x00\x00\x00\x00", 8)), 1.5);
  EXPECT_EQ(number(">u2", "\x01\x02"), 258);
  EXPECT_TRUE(Read(Npy("<f4", "(1, 1)", Bytes<float>({NAN}))).columns[0].IsMissing(0));
}

TEST(NpyTest, RefusesWhatItCannotRead) {
  const auto expect = [](std::string content, std::initializer_list<std::string_view> parts) {
    ExpectError([&] { Read(std::move(content)); }, ErrorCode::kBadData, parts);
  };
  const std::string data = Bytes<float>({1, 2, 3, 4});
  expect("NUMPY", {"a.npy", "not a .npy file"});
  expect(Npy("<f4", "(2, 2)", data, false, 4), {"unknown version", "4"});
  expect(Npy("<f4", "(2, 1, 2)", data), {"one or two dimensions", "(2, 1, 2)"});
  expect(Npy("<f4", "()", Bytes<float>({1})), {"one or two dimensions", "()"});
  expect(Npy("<f4", "(2, 2)", data.substr(1)), {"truncated", "needs 16 bytes, file holds 15"});
  expect(Npy("<f4", "(2, 2)", data + "x"), {"too long"});
  expect(Npy("<f4", "(4611686018427387904, 4)", data), {"more elements than can be counted"});
  expect(Npy("<f4", "(99999999999999999999, 4)", data), {"broken .npy header"});
  expect(Npy("<f4", "(0, 4)", ""), {"holds no data"});
  expect(Npy("<c8", "(2,)", data), {"elements of this type", "<c8"});
  expect(Npy("|O", "(2,)", data), {"elements of this type", "|O"});
  expect(Npy("<U3", "(2,)", data), {"elements of this type"});
  expect(Npy("<f4", "(2, 2)", data).substr(0, 40), {"truncated: header"});
  expect(WithHeader("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }", data), {"records"});
  expect(WithHeader("{'descr': '<f4', 'fortran_order': False}", data), {"broken .npy header"});
  expect(WithHeader("{'descr': '<f4', 'fortran_order': 0, 'shape': (4,)}", data), {"broken .npy header"});
  expect(WithHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}", data), {"broken .npy header"});
  expect(WithHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} x", data), {"broken .npy header"});
  expect(Npy("<f4", "(2, 2)", Bytes<float>({1, 2, INFINITY, 4})),
         {"not a finite number in row 1", "column 'c0'", "inf"});
  expect(Npy("<f4", "(2, 2)", Bytes<float>({1, 2, -INFINITY, 4}), true), {"row 0", "column 'c1'", "-inf"});
}

TEST(NpyTest, WriterRoundTrip) {
  const TemporaryFolder dir;
  Random random(3);
  Matrix matrix(5, 7, DType::kF64);
  for (double& value : std::span(matrix.Row<double>(0), 35)) {
    value = random.Normal();
  }
  MatrixView part = matrix.view();  // a strided view
  part.cols = 4;
  WriteNpy(dir.Path("a.npy"), part);
  EXPECT_EQ(std::filesystem::file_size(dir.Path("a.npy")) % 32, 0U);
  const Table table = ReadTable(dir.Path("a.npy"));
  ASSERT_EQ(table.columns.size(), 4U);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      EXPECT_EQ(table.columns[static_cast<size_t>(j)].Number(i), matrix.Row<double>(i)[j]);
    }
  }
  ExpectError([&] { WriteNpy(dir.Path("no/such/a.npy"), part); }, ErrorCode::kNotFound, {"no/such"});
}

TEST(NpyTest, SurvivesRandomDamage) {
  Random random(2);
  const std::string good = Npy("<f4", "(3, 2)", Bytes<float>({1, 2, 3, 4, 5, 6}));
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good.substr(0, round % 4 == 0 ? random.Below(good.size() + 1) : good.size());
    for (uint64_t n = random.Below(4); n > 0 && !bad.empty(); --n) {
      bad[random.Below(bad.size())] =
          static_cast<char>(random.Below(round % 2 == 0 ? 256 : 96) + (round % 2 == 0 ? 0 : 32));
    }
    try {
      const Table table = Read(bad);
      for (const Column& column : table.columns) {
        static_cast<void>(column.Number(table.rows - 1));
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace lamina
