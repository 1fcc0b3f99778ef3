// Which columns are left out of the inputs, on tables made for every rule.
#include "lamina/data/encode/useless_columns.h"

#include <functional>

#include "gtest/gtest.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

// The reason for a column `name` of `count` rows beside two ordinary ones; "" where it stays.
std::string ReasonFor(const std::string& name, int count, const std::function<std::string(int)>& value) {
  std::string text = name + ",size,kind\n";
  for (int i = 0; i < count; ++i) {
    text += value(i) + "," + std::to_string(i * 7 % 31) + ".5," + (i % 3 == 0 ? "red" : "green") + "\n";
  }
  const Table table = ReadCsv(text, "t.csv", {.header = Header::kYes});
  const int64_t positions[] = {0, 1, 2};
  const std::vector<LeftOutColumn> useless = UselessColumns(table, AllRowsOf(table), positions);
  EXPECT_LE(useless.size(), 1U) << name;
  EXPECT_TRUE(useless.empty() || useless[0].name == name) << useless[0].name;
  return useless.empty() ? "" : useless[0].reason;
}

std::string Number(int value) { return std::to_string(value); }

TEST(UselessColumns, IdentifiersAndMeasurements) {
  const std::string identifier = "a different whole number in every row";
  EXPECT_EQ(ReasonFor("n", 50, [](int i) { return Number(i); }), identifier);
  EXPECT_EQ(ReasonFor("n", 50, [](int i) { return Number(3 * i + 1); }), identifier);  // some rows of a file
  EXPECT_EQ(ReasonFor("customer_id", 50, [](int i) { return Number(i * 7919 % 100003 + 500000); }), identifier);
  EXPECT_EQ(ReasonFor("customerId", 50, [](int i) { return Number(i * 7919 % 100003 + 500000); }), identifier);
  EXPECT_EQ(ReasonFor("volume", 50, [](int i) { return Number(i * 7919 % 100003 + 500000); }), "");
  EXPECT_EQ(ReasonFor("year", 50, [](int i) { return Number(1950 + i); }), "");
  EXPECT_EQ(ReasonFor("id", 50, [](int i) { return Number(i % 40 + 500); }), "");  // twice the same
  EXPECT_EQ(ReasonFor("paid", 50, [](int i) { return Number(i * 7919 % 100003 + 500000); }), "");
  EXPECT_EQ(ReasonFor("id", 50, [](int i) { return Number(i) + ".5"; }), "");
  EXPECT_EQ(ReasonFor("day", 50, [](int i) { return "2024-01-" + Number(10 + i % 20); }), "");
  EXPECT_EQ(ReasonFor("t", 50, [](int i) { return Number(i); }), "");  // a trend
  EXPECT_EQ(ReasonFor("Week_1", 50, [](int i) { return Number(i); }), "");
  EXPECT_EQ(ReasonFor("days since then", 50, [](int i) { return Number(i); }), "");
  EXPECT_EQ(ReasonFor("day_id", 50, [](int i) { return Number(i); }), identifier);
  EXPECT_EQ(ReasonFor("weekly", 50, [](int i) { return Number(i); }), identifier);
  EXPECT_EQ(ReasonFor("n", 19, [](int i) { return Number(i); }), "");  // too few rows to tell
}

TEST(UselessColumns, TextAndConstants) {
  EXPECT_EQ(ReasonFor("t", 50, [](int i) { return "text " + Number(i); }), "a different text in every row");
  EXPECT_EQ(ReasonFor("t", 60, [](int i) { return "text " + Number(i % 40); }), "40 different texts in 60 rows");
  EXPECT_EQ(ReasonFor("t", 60, [](int i) { return "text " + Number(i % 30); }), "");
  EXPECT_EQ(ReasonFor("t", 60, [](int i) { return "text " + Number(i % 5); }), "");
  EXPECT_EQ(ReasonFor("t", 60, [](int) { return "DE"; }), "always 'DE'");
  EXPECT_EQ(ReasonFor("t", 60, [](int i) { return i % 2 == 0 ? "DE" : ""; }), "");  // missing or not says something
  EXPECT_EQ(ReasonFor("n", 60, [](int) { return "7.5"; }), "always 7.5");
  EXPECT_EQ(ReasonFor("n", 60, [](int) { return ""; }), "no value in the training rows");
}

TEST(UselessColumns, NumberedColumnsStay) {
  std::string text = "p0,p1,p2,p3,flag\n";
  for (int i = 0; i < 40; ++i) {
    text += "0," + std::to_string(i) + ",0,,1\n";
  }
  const Table table = ReadCsv(text, "t.csv", {.header = Header::kYes});
  const int64_t positions[] = {0, 1, 2, 3, 4};
  const std::vector<LeftOutColumn> useless = UselessColumns(table, AllRowsOf(table), positions);
  ASSERT_EQ(useless.size(), 2U);
  EXPECT_EQ(useless[0].name, "p3");
  EXPECT_EQ(useless[0].reason, "no value in the training rows");
  EXPECT_EQ(useless[1].name, "flag");
}

}  // namespace
}  // namespace lamina
