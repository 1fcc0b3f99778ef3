// .npy files as mapped matrices.
#include "lamina/data/files/npy_matrix.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/convert.h"
#include "lamina/base/file.h"
#include "lamina/data/files/npy_writer.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// `pad`: bytes added to the header, 0 for a multiple of 64.
std::string NpyText(const std::string& descr, const std::string& order, const std::string& shape,
                    const std::string& data, size_t pad = 0) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, order, shape);
  dictionary.resize(128 - 10 - 1 + pad, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary + data;
}

template <class T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(NpyMatrix, ReadsEveryTypeInEitherOrderAtAnyOffset) {
  const TemporaryFolder folder;
  constexpr int64_t kRows = 150;
  constexpr int64_t kCols = 131;
  for (const DType dtype :
       {DType::kF64, DType::kF32, DType::kF16, DType::kI64, DType::kI32, DType::kI16, DType::kI8, DType::kU8}) {
    DispatchDType(dtype, [&]<class T>(T) {
      std::vector<T> by_row;
      std::vector<T> by_column(kRows * kCols);
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < kCols; ++j) {
          by_row.push_back(T(static_cast<int8_t>((i * 7 + j * 3) % 128)));
          by_column[static_cast<size_t>(j * kRows + i)] = by_row.back();
        }
      }
      WriteNpy(folder.Path("c"), ViewOf(by_row.data(), kRows, kCols));
      const std::string content = ReadFile(folder.Path("c"));
      const std::string descr = content.substr(content.find(": '") + 3, 3);
      const std::string shape = fmt::format("({}, {})", kRows, kCols);
      for (const auto& [order, data] : {std::pair("False", Bytes(by_row)), std::pair("True", Bytes(by_column))}) {
        for (const size_t pad : {0, 3}) {
          folder.Write("f", NpyText(descr, order, shape, data, pad));
          NpyMatrix matrix(folder.Path("f"));
          ASSERT_EQ(matrix.rows(), kRows);
          ASSERT_EQ(matrix.cols(), kCols);
          ASSERT_EQ(matrix.dtype(), dtype);
          for (const auto& [begin, count] : {std::pair<int64_t, int64_t>{0, 97}, {97, 53}, {100, 20}, {0, kRows}}) {
            matrix.Prefetch(begin, count);
            const ConstMatrixView rows = matrix.Rows(begin, count);
            ASSERT_EQ(rows.rows, count);
            for (int64_t i = 0; i < count; ++i) {
              ASSERT_EQ(
                  std::memcmp(rows.Row<T>(i), &by_row[static_cast<size_t>((begin + i) * kCols)], kCols * sizeof(T)), 0)
                  << descr << order << pad << " row " << begin + i;
            }
            matrix.Release(begin, count);
          }
        }
      }
    });
  }
}

TEST(NpyMatrix, Errors) {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& content, const char* part) {
    folder.Write("bad.npy", content);
    const Error error = CaughtError([&] { NpyMatrix(folder.Path("bad.npy")); });
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    EXPECT_TRUE(Mentions(error.what(), part));
    EXPECT_TRUE(Mentions(error.what(), "bad.npy"));
  };
  const std::string six = Bytes(std::vector<float>(6));
  says(NpyText(">f4", "False", "(2, 3)", six), "astype");
  says(NpyText("<c8", "False", "(1, 3)", six), "<c8");
  says(NpyText("|b1", "False", "(4, 6)", six), "|b1");
  says(NpyText("<u4", "False", "(2, 3)", six), "<u4");
  says(NpyText("<f4", "False", "(6,)", six), "a.reshape(1, -1)");
  says(NpyText("<f4", "False", "(1, 2, 3)", six), "(1, 2, 3)");
  says(NpyText("<f4", "False", "(2, 4)", six), "truncated");
  says(NpyText("<f4", "False", "(2, 2)", six), "too long");
  says(NpyText("<f4", "False", "(0, 2)", ""), "holds no data");
  says("hello, this is no array", "NUMPY");
  folder.Write("v.npy", NpyText("<f4", "False", "(6,)", six));
  EXPECT_EQ(NpyMatrix(folder.Path("v.npy"), /*vectors=*/true).cols(), 6);
}

TEST(NpyOutput, IsTheFileThatTheWriterWrites) {
  const TemporaryFolder folder;
  Matrix matrix(300, 41, DType::kF32);
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    std::iota(matrix.Row<float>(i), matrix.Row<float>(i) + 41, static_cast<float>(i));
  }
  WriteNpy(folder.Path("expected"), matrix.view());
  NpyOutput output(folder.Path("f"), 300, 41, DType::kF32);
  for (int64_t begin = 0; begin < 300; begin += 100) {
    for (int64_t i = begin; i < begin + 100; ++i) {
      std::memcpy(output.view().Row<float>(i), matrix.Row<float>(i), 41 * sizeof(float));
    }
    output.Finish(begin, 100);
  }
  output.Commit();
  EXPECT_EQ(ReadFile(folder.Path("f")), ReadFile(folder.Path("expected")));
}

}  // namespace
}  // namespace lamina
