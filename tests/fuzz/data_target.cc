// Readers of tables: CSV, .npy, IDX, gzip.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "lamina/base/error.h"
#include "lamina/data/files/csv.h"
#include "lamina/data/files/gzip.h"
#include "lamina/data/files/idx.h"
#include "lamina/data/files/npy.h"
#include "lamina/data/files/npy_matrix.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

const std::string kTableSource = "input.dat";

// Touches every value; rows and columns must fit together.
void CheckTable(const Table& table) {
  Demand(table.rows > 0 && !table.columns.empty(), "an empty table was accepted");
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kText) {
      Demand(std::ssize(column.codes) == table.rows, "a column of another length");
      for (const int32_t code : column.codes) {
        Demand(code >= -1 && code < std::ssize(column.categories), "a code of no category");
      }
      continue;
    }
    for (int64_t row = 0; row < table.rows; ++row) {
      const double value = column.Number(row);
      Demand(column.dtype != DType::kF64 || table.lines.empty() || !std::isinf(value), "an infinite number");
    }
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted.append(c == '"' ? 2 : 1, c);
  }
  return quoted + "\"";
}

// `table` as text that can be read in one way only.
std::string CsvOf(const Table& table) {
  std::string text;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    text += (j == 0 ? "" : ",") + Quoted(table.columns[j].name);
  }
  text += '\n';
  for (int64_t row = 0; row < table.rows; ++row) {
    for (size_t j = 0; j < table.columns.size(); ++j) {
      const Column& column = table.columns[j];
      std::string field;
      if (!column.IsMissing(row)) {
        field = column.kind == ColumnKind::kText
                    ? column.categories[static_cast<size_t>(column.codes[static_cast<size_t>(row)])]
                    : fmt::format("{}", column.Number(row));
      }
      text += (j == 0 ? "" : ",") + Quoted(field);
    }
    text += '\n';
  }
  return text;
}

void DemandSame(const Table& a, const Table& b) {
  Demand(a.rows == b.rows && a.ColumnNames() == b.ColumnNames(), "another shape or other names when read again");
  for (size_t j = 0; j < a.columns.size(); ++j) {
    const Column& one = a.columns[j];
    const Column& two = b.columns[j];
    for (int64_t row = 0; row < a.rows; ++row) {
      const auto at = static_cast<size_t>(row);
      Demand(one.IsMissing(row) == two.IsMissing(row), "a value is missing when read again");
      Demand(one.kind == two.kind || one.IsMissing(row), "another kind of column when read again");
      if (one.IsMissing(row)) {
        continue;
      }
      Demand(
          one.kind == ColumnKind::kText
              ? one.categories[static_cast<size_t>(one.codes[at])] == two.categories[static_cast<size_t>(two.codes[at])]
              : std::bit_cast<uint64_t>(one.Number(row)) == std::bit_cast<uint64_t>(two.Number(row)),
          "another value when read again");
    }
  }
}

void FuzzCsv(std::string_view input) {
  Bytes bytes(input);
  ReadOptions options;
  options.header = static_cast<Header>(bytes.Below(3));
  options.separator = std::array{'\0', ',', ';', '\t', '|', ' '}[static_cast<size_t>(bytes.Below(6))];
  options.decimal = static_cast<Decimal>(bytes.Below(3));
  const uint8_t rest = bytes.Byte();
  options.date_order = static_cast<DateOrder>(rest % 3);
  if ((rest & 4) != 0) {
    options.known_columns = {{"a", ColumnKind::kText}, {"c0", ColumnKind::kText}, {"b"}};
  }
  if ((rest & 8) != 0) {
    options.missing_values = {"-1", "x"};
    options.answer_columns = {"a", "-1"};
    options.strict = (rest & 16) != 0;
  }
  const std::string content(bytes.Rest());
  options.parts = 1;
  Table table;
  const bool accepted = Accepts(kTableSource, [&] { table = ReadCsv(content, kTableSource, options); });
  if ((rest & 16) != 0) {
    options.parts = 2 + (rest >> 6);
    Table of_parts;
    Demand(Accepts(kTableSource, [&] { of_parts = ReadCsv(content, kTableSource, options); }) == accepted,
           "several parts are judged otherwise than one");
    if (accepted) {
      DemandSame(table, of_parts);
      Demand(table.lines == of_parts.lines, "several parts have other lines than one");
    }
  }
  if (!accepted) {
    return;
  }
  CheckTable(table);
  ReadOptions plain;
  plain.header = Header::kYes;
  plain.separator = ',';
  plain.decimal = Decimal::kPoint;
  plain.around = Around::kKeep;  // a first row of words may look like units
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kText) {
      plain.text_columns.push_back(column.name);
      plain.answer_columns.push_back(column.name);
    }
    if (column.kind == ColumnKind::kText &&
        std::find(column.categories.begin(), column.categories.end(), "") != column.categories.end()) {
      return;  // where "" is a word, it cannot stand for a missing value
    }
  }
  DemandSame(table, ReadCsv(CsvOf(table), kTableSource, plain));
}

void FuzzNpy(std::string_view input) {
  Table table;
  if (Accepts(kTableSource, [&] { table = ReadNpy(std::string(input), kTableSource, {}); })) {
    CheckTable(table);
  }
  const MemoryFile file(input);
  Accepts(file.path(), [&] {
    NpyMatrix matrix(file.path(), true);
    double sum = 0;
    for (int64_t begin = 0; begin < matrix.rows(); begin += 3) {
      const int64_t count = std::min<int64_t>(3, matrix.rows() - begin);
      const ConstMatrixView rows = matrix.Rows(begin, count);
      Demand(rows.rows == count && rows.cols == matrix.cols(), "other rows than were asked for");
      const int64_t row_bytes = matrix.cols() * DTypeSize_bytes(matrix.dtype());
      for (int64_t i = 0; i < count; ++i) {
        const auto* row =
            static_cast<const unsigned char*>(rows.data) + i * rows.stride * DTypeSize_bytes(matrix.dtype());
        sum += row[0] + row[row_bytes - 1];
      }
      matrix.Release(begin, count);
    }
    Demand(sum >= 0, "bytes below 0");
  });
}

void FuzzIdx(std::string_view input) {
  Table table;
  if (Accepts(kTableSource, [&] { table = ReadIdx(std::string(input), kTableSource, {}); })) {
    CheckTable(table);
  }
}

std::string GzipOf(std::string_view payload, int level) {
  z_stream stream{};
  constexpr int kWindow_bits = 12;  // little memory: most of the time would go into clearing it
  Demand(deflateInit2(&stream, level, Z_DEFLATED, kWindow_bits + 16, 3, Z_DEFAULT_STRATEGY) == Z_OK, "deflateInit2");
  std::string packed(deflateBound(&stream, payload.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(payload.data()));
  stream.avail_in = static_cast<uInt>(payload.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int done = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  Demand(done == Z_STREAM_END, "deflate");
  return packed;
}

// The first byte says how: as it is, or a whole file made of the rest, in one or two members. Then a byte of it is
// changed.
void FuzzGzip(std::string_view input) {
  Bytes bytes(input);
  const uint8_t how = bytes.Byte();
  std::string content(bytes.Rest());
  std::string whole;
  if (how % 2 == 1) {
    const int64_t at = bytes.Below(1 << 16);
    const uint8_t change = bytes.Byte();
    const std::string_view payload = bytes.Rest();
    const size_t cut = (how & 2) != 0 ? payload.size() / 2 : payload.size();
    content = GzipOf(payload.substr(0, cut), how % 9);
    if (cut < payload.size()) {
      content += GzipOf(payload.substr(cut), 9);
    }
    if (change == 0) {
      Demand(Gunzip(content, kTableSource) == payload, "a gzip file gives other bytes");
    }
    content[static_cast<size_t>(at) % content.size()] ^= static_cast<char>(change);
  }
  std::string start;
  const bool whole_read = Accepts(kTableSource, [&] { whole = Gunzip(content, kTableSource); });
  if (Accepts(kTableSource, [&] { start = GunzipStart(content, 100, kTableSource); }) && whole_read) {
    Demand(whole.starts_with(start) && start.size() == std::min<size_t>(whole.size(), 100),
           "another start than the whole");
  }
}

const RegisteredTargets data_targets{{"csv", &FuzzCsv}, {"npy", &FuzzNpy}, {"idx", &FuzzIdx}, {"gzip", &FuzzGzip}};

}  // namespace
}  // namespace lamina::fuzz
