// Helpers of the data tests: expected errors, gzip compression, tables from inline text, the real data sets.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/data/files/csv.h"

namespace lamina {

/// Runs fn, expects an Error of `code` whose text holds all of `parts`, and returns it for closer looks.
template <class Fn>
ErrorContext ExpectError(Fn&& fn, ErrorCode code, std::initializer_list<std::string_view> parts) {
  try {
    fn();
  } catch (const Error& error) {
    EXPECT_EQ(ErrorCodeName(error.code()), ErrorCodeName(code)) << error.what();
    for (const std::string_view part : parts) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
          << "'" << part << "' expected in: " << error.what();
    }
    return error.context();
  }
  ADD_FAILURE() << "no Error thrown; expected " << (parts.size() > 0 ? *parts.begin() : std::string_view());
  return {};
}

inline std::string Gzip(std::string_view content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline Table Csv(std::string content, const ReadOptions& options = {}) {
  return ReadCsv(std::move(content), "t.csv", options);
}

inline std::string TextAt(const Column& column, int64_t row) {
  const int32_t code = column.codes.at(static_cast<size_t>(row));
  return code < 0 ? "<missing>" : column.categories.at(static_cast<size_t>(code));
}

inline void ExpectSame(const Table& a, const Table& b) {
  ASSERT_EQ(a.ColumnNames(), b.ColumnNames());
  ASSERT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.lines, b.lines);
  for (size_t j = 0; j < a.columns.size(); ++j) {
    const Column& x = a.columns[j];
    const Column& y = b.columns[j];
    EXPECT_EQ(x.kind, y.kind) << x.name;
    EXPECT_EQ(x.is_date, y.is_date) << x.name;
    EXPECT_EQ(x.format, y.format) << x.name;
    EXPECT_EQ(x.codes, y.codes) << x.name;
    EXPECT_EQ(x.categories, y.categories) << x.name;
    for (int64_t i = 0; x.kind == ColumnKind::kNumber && i < a.rows; ++i) {
      const bool both_missing = x.IsMissing(i) && y.IsMissing(i);
      ASSERT_TRUE(both_missing || x.Number(i) == y.Number(i)) << x.name << " " << i;
    }
  }
}

inline std::vector<int64_t> AllRows(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

}  // namespace lamina

/// Names a file of the shared real data sets, or skips the test.
#define LAMINA_DATA_OR_SKIP(variable, name)                                             \
  const char* variable##_folder = std::getenv("LAMINA_DATA");                           \
  if (variable##_folder == nullptr || *variable##_folder == '\0') {                     \
    GTEST_SKIP() << "set LAMINA_DATA to the folder of real data sets, with " << (name); \
  }                                                                                     \
  const std::string variable = std::string(variable##_folder) + "/" + (name)
