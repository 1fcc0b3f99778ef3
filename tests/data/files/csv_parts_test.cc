// CSV text read in several parts at once: the same table, and the same errors, as in one.
#include <gtest/gtest.h>

#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

ReadOptions InParts(int64_t parts) {
  ReadOptions options;
  options.parts = parts;
  return options;
}

void ExpectSameInParts(const std::string& text) {
  const Table whole = Csv(text, InParts(1));
  for (const int64_t parts : {2, 3, 4, 7, 16, 1000}) {
    SCOPED_TRACE(parts);
    ExpectSame(whole, Csv(text, InParts(parts)));
  }
}

// The same error in one part and in several; returns it.
std::string ErrorInParts(const std::string& text) {
  const auto error_of = [&](int64_t parts) {
    try {
      ReadOptions options = InParts(parts);
      options.strict = true;
      Csv(text, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string whole = error_of(1);
  for (const int64_t parts : {2, 3, 5, 9}) {
    EXPECT_EQ(error_of(parts), whole) << parts;
  }
  return whole;
}

TEST(CsvPartsTest, ReadsEveryKindOfColumn) {
  std::string text = "id,when,price,kind,share,note\n";
  for (int i = 0; i < 500; ++i) {
    text += std::to_string(i) + ",2024-01-" + (i % 28 < 9 ? "0" : "") + std::to_string(i % 28 + 1) + "," +
            (i == 77 ? "" : std::to_string(i) + ".25") + "," +
            (i % 7 == 0 ? "\"a, b\nc\"" : "x" + std::to_string(i * i % 131)) + "," +
            (i % 3 == 0 ? "$" + std::to_string(i) : "" + std::to_string(i)) + "," + (i % 5 == 0 ? "NA" : "word") +
            "\n" + (i % 50 == 9 ? "\n" : "") + (i % 90 == 30 ? "# a comment, \"\n" : "");
  }
  ExpectSameInParts(text);
  EXPECT_EQ(Csv(text, InParts(4)).columns[4].format.unit, "$");
}

TEST(CsvPartsTest, OneColumnAndFewRows) {
  ExpectSameInParts("x\n1\n\n2\n3\n\n\n");
  ExpectSameInParts("a;b\n1;2\n");
  ExpectSameInParts("c\nred\nblue\nred\ngreen\nblue\n");
  ExpectSameInParts("  1.0   2.0\n 10.0   3.5\n  4.0   8.0\n");
}

// A cut in the middle of a field that looks like many records.
TEST(CsvPartsTest, RecordsWithinQuotes) {
  std::string quoted;
  for (int i = 0; i < 400; ++i) {
    quoted += "\n" + std::to_string(i) + ",7,8";
  }
  const std::string text = "a,b,c\n1,2,x\n4,5,\"" + quoted + "\n\"\n6,7,y\n";
  ExpectSameInParts(text);
  EXPECT_EQ(Csv(text, InParts(2)).rows, 3);
}

// What such a column is shows in the second half.
TEST(CsvPartsTest, AColumnWithoutValuesInTheSample) {
  std::string text = "a,late\n";
  for (int i = 0; i < 300; ++i) {
    text += std::to_string(i) + (i < 150 ? ",\n" : i == 150 ? ",word\n" : ",None\n");
  }
  ExpectSameInParts(text);
}

TEST(CsvPartsTest, ErrorsOfTheFirstPlace) {
  std::string rows;
  for (int i = 0; i < 200; ++i) {
    rows += std::to_string(i) + ",\"b\nb\"\n";
  }
  EXPECT_NE(ErrorInParts("a,b\n" + rows + "1,2,3\n" + rows + "1\n").find("expected 2 fields, found 3"),
            std::string::npos);
  EXPECT_NE(ErrorInParts("a,b\n" + rows + "x,2\n" + rows).find("402"), std::string::npos);
  EXPECT_NE(ErrorInParts("a,b\n" + rows + "$1,b\n" + rows + "2%,b\n").find("a number in % in a column in $"),
            std::string::npos);
  EXPECT_NE(ErrorInParts("a,b\n" + rows + "1,\"b\n" + rows.substr(0, rows.size() - 2) + "\n").find("quote"),
            std::string::npos);
}

// Enough for several parts where nobody asks for them.
TEST(CsvPartsTest, PartsByItself) {
  std::string text = "a,b,c\n";
  for (int i = 0; text.size() < (5U << 20); ++i) {
    text += std::to_string(i) + "," + std::to_string(i * 7919 % 10007) + ".5,w" + std::to_string(i % 977) + "\n";
  }
  ExpectSame(Csv(text, InParts(1)), Csv(text));
}

}  // namespace
}  // namespace lamina
