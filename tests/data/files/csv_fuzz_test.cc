// Random tables written with quoting read back equal; random damage leads to an Error at worst.
#include <fmt/format.h>

#include <cmath>

#include "lamina/base/random.h"
#include "lamina/data/files/csv_cursor.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

struct Cell {
  bool missing = false;
  double number = 0;
  std::string text;
};

std::string RandomText(Random& random) {
  static constexpr std::string_view kAlphabet[] = {"a",  "b",  "Z",    "9", " ",  ",",        ";",
                                                   "\"", "\n", "\r\n", "|", "\t", "\xC3\xA9", "'"};
  std::string text = "t";  // never a number or a word for "missing"
  for (uint64_t n = random.Below(7); n > 0; --n) {
    text += kAlphabet[random.Below(std::size(kAlphabet))];
  }
  return text;
}

double RandomNumber(Random& random) {
  switch (random.Below(4)) {
    case 0: return static_cast<double>(random.Below(1000));
    case 1: return random.Normal();
    case 2: return std::ldexp(random.Uniform(-1, 1), static_cast<int>(random.Below(2000)) - 1000);
    default: return -static_cast<double>(random.Next() >> 20) / 128;
  }
}

std::string Quote(const std::string& text, Random& random, bool must) {
  if (!must && random.Below(3) != 0) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

TEST(CsvFuzzTest, RoundTrip) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed, 77);
    const size_t columns = 1 + random.Below(6);
    const size_t rows = 1 + random.Below(90);
    const char separator = ",;\t|"[random.Below(4)];
    const char* line_end = random.Below(2) == 0 ? "\n" : "\r\n";
    std::vector<bool> is_text(columns);
    std::string content = random.Below(4) == 0 ? "\xEF\xBB\xBF" : "";
    for (size_t j = 0; j < columns; ++j) {
      is_text[j] = random.Below(2) == 0;
      content += fmt::format("{}name{}", j == 0 ? "" : std::string(1, separator), j);
    }
    content += line_end;
    std::vector<std::vector<Cell>> cells(rows, std::vector<Cell>(columns));
    std::vector<int64_t> lines;
    for (auto& row : cells) {
      lines.push_back(1 + std::count(content.begin(), content.end(), '\n'));
      for (size_t j = 0; j < columns; ++j) {
        Cell& cell = row[j];
        cell.missing = columns > 1 && random.Below(10) == 0;
        cell.number = RandomNumber(random);
        cell.text = RandomText(random);
        const bool special = cell.text.find_first_of(",;\t|\"\r\n ") != std::string::npos;
        content += j == 0 ? "" : std::string(1, separator);
        content += cell.missing ? (random.Below(2) == 0 ? "NA" : "?")
                   : is_text[j] ? Quote(cell.text, random, special)
                                : Quote(fmt::format("{}", cell.number), random, false);
      }
      content += line_end;
    }
    const auto parts = static_cast<int64_t>(1 + random.Below(5));
    const Table table = Csv(content, {.header = Header::kYes, .separator = separator, .parts = parts});
    ASSERT_EQ(table.rows, static_cast<int64_t>(rows)) << seed;
    ASSERT_EQ(table.columns.size(), columns) << seed;
    EXPECT_EQ(table.lines, lines) << seed;
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        const auto row = static_cast<int64_t>(i);
        ASSERT_EQ(table.columns[j].IsMissing(row), cells[i][j].missing) << seed;
        if (cells[i][j].missing) {
          continue;
        }
        if (is_text[j]) {
          ASSERT_EQ(TextAt(table.columns[j], row), TrimField(cells[i][j].text)) << seed;
        } else {
          ASSERT_EQ(table.columns[j].Number(row), cells[i][j].number) << seed;
        }
      }
    }
  }
}

std::string FaultOf(const std::string& content, const ReadOptions& options) {
  try {
    Csv(content, options);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(CsvFuzzTest, SurvivesRandomDamage) {
  const std::string good =
      "id,date,\"na,me\",score\n1,2020-01-01,\"a "
      "\"\"b\"\"\",1.5\n2,2020-02-29,x,-2e3\n3,,?,.5\r\n4,2021-01-01T10:00,\"y\nz\",7\n";
  static constexpr std::string_view kBytes = ",;\t|\"\r\n 0123456789.eE+-nai?\0\xEF\xBB\xBF\xFF";
  Random random(5);
  int read = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string bad = good;
    for (uint64_t n = 1 + random.Below(6); n > 0; --n) {
      const char byte =
          random.Below(4) == 0 ? static_cast<char>(random.Below(256)) : kBytes[random.Below(kBytes.size())];
      const size_t at = random.Below(bad.size());
      switch (random.Below(3)) {
        case 0: bad[at] = byte; break;
        case 1: bad.insert(at, 1, byte); break;
        default: bad.erase(at, 1 + random.Below(3)); break;
      }
    }
    ReadOptions options;
    options.header = static_cast<Header>(random.Below(3));
    options.separator = random.Below(2) == 0 ? '\0' : ',';
    const std::string fault = FaultOf(bad, options);
    ReadOptions in_parts = options;
    in_parts.parts = 2 + static_cast<int64_t>(random.Below(3));
    ASSERT_EQ(FaultOf(bad, in_parts), fault) << bad;
    if (fault.empty()) {
      const Table table = Csv(bad, options);
      ExpectSame(table, Csv(bad, in_parts));
      ++read;
      ASSERT_GT(table.rows, 0);
      for (const Column& column : table.columns) {
        ASSERT_EQ(column.kind == ColumnKind::kText ? column.codes.size() : static_cast<size_t>(table.rows),
                  static_cast<size_t>(table.rows));
        static_cast<void>(column.IsMissing(table.rows - 1));
      }
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace lamina
