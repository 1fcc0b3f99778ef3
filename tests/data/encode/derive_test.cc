// Derived columns against values worked out by hand.
#include "lamina/data/encode/derive.h"

#include <cmath>

#include "tests/caught_error.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

// Two interleaved series out of order. a closes at 10, 11, 12.1 on days 1 to 3. b closes at 5, 4 on days 1 and 2.
constexpr const char* kPrices =
    "symbol,day,close,open\n"
    "a,2024-01-03,12.1,2\n"
    "b,2024-01-02,4,8\n"
    "a,2024-01-01,10,5\n"
    "b,2024-01-01,5,0\n"
    "a,2024-01-02,11,11\n";

std::vector<double> Derived(const std::string& column, bool series = true) {
  Table table = Csv(kPrices);
  DeriveColumns(table, {{column}, series ? "symbol" : "", series ? "day" : ""});
  const Column& made = table.columns.back();
  EXPECT_EQ(table.columns.size(), 5U);
  std::vector<double> values;
  for (int64_t row = 0; row < table.rows; ++row) {
    values.push_back(made.IsMissing(row) ? -999 : made.Number(row));
  }
  return values;
}

void ExpectNear(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-12) << "row " << i;
  }
}

TEST(Derive, AlongSeriesInTheirOrder) {
  ExpectNear(Derived("x=previous:close"), {11, 5, -999, -999, 10});
  ExpectNear(Derived("x=previous:close:2"), {10, -999, -999, -999, -999});
  ExpectNear(Derived("x=next:close"), {-999, -999, 11, 4, 12.1});
  ExpectNear(Derived("x=change:close"), {0.1, -0.2, -999, -999, 0.1});
  ExpectNear(Derived("x=next_change:close"), {-999, -999, 0.1, -0.2, 0.1});
  ExpectNear(Derived("x=mean:close:2"), {11.55, 4.5, -999, -999, 10.5});
}

TEST(Derive, WithoutSeriesTheRowsAreOne) {
  ExpectNear(Derived("x=previous:close", false), {-999, 12.1, 4, 10, 5});
  ExpectNear(Derived("x=next:close", false), {4, 10, 5, 11, -999});
}

TEST(Derive, OfARow) {
  ExpectNear(Derived("x=ratio:close:open", false), {6.05, 0.5, 2, -999, 1});  // 5 / 0 is missing
  ExpectNear(Derived("x=difference:close:open", false), {10.1, -4, 5, 5, 0});
  ExpectNear(Derived("x=log:close", false),
             {std::log(13.1), std::log(5.0), std::log(11.0), std::log(6.0), std::log(12.0)});
  ExpectNear(Derived("x=weekday:day", false), {2, 1, 0, 0, 1});  // 2024-01-01 was a Monday
  ExpectNear(Derived("x=month:day", false), {1, 1, 1, 1, 1});
  ExpectNear(Derived("x=year:day", false), {2024, 2024, 2024, 2024, 2024});
}

TEST(Derive, PartsOfDates) {
  Table table = Csv("d\n1900-02-28\n1969-12-31\n1970-01-01\n2000-02-29\n2023-12-31\n");
  DeriveColumns(table, {{"w=weekday:d", "m=month:d", "y=year:d"}, "", ""});
  const double expected[][3] = {{2, 2, 1900}, {2, 12, 1969}, {3, 1, 1970}, {1, 2, 2000}, {6, 12, 2023}};
  for (int64_t row = 0; row < table.rows; ++row) {
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(table.columns[j + 1].Number(row), expected[row][j]) << row << " " << j;
    }
  }
}

TEST(Derive, PartsOfDatesAreOfDatesOnly) {
  const Table table = Csv("d,n,y\n2024-01-01,3,1\n2024-01-02,4,2\n");
  for (const std::string function : {"weekday", "month", "year"}) {
    for (const std::string column : {"n", "y"}) {
      const Error error = CaughtError([&] { RequireDates(table, {{"w=" + function + ":" + column}, "", ""}); });
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(error.context().column, column);
      EXPECT_TRUE(Mentions(error.what(), "--derive w=" + function + ":" + column));
    }
    EXPECT_NO_THROW(RequireDates(table, {{"w=" + function + ":d"}, "", ""}));
    EXPECT_NO_THROW(RequireDates(table, {{"before=previous:d", "w=" + function + ":before"}, "", ""}));
    EXPECT_THROW(RequireDates(table, {{"before=previous:n", "w=" + function + ":before"}, "", ""}), Error);
  }
}

TEST(Derive, LaterColumnsUseEarlierOnes) {
  Table table = Csv(kPrices);
  DeriveColumns(table, {{"up=change:close", "before=previous:up"}, "symbol", "day"});
  EXPECT_NEAR(table.columns.back().Number(0), 0.1, 1e-12);
  EXPECT_TRUE(table.columns.back().IsMissing(4));
}

TEST(Derive, AbsentSourcesOfTargetsAreLeftOut) {
  Table table = Csv(kPrices);
  DeriveColumns(table, {{"answer=next:price"}, "", ""}, std::vector<std::string>{"answer"});
  EXPECT_EQ(table.columns.size(), 4U);
  EXPECT_THROW(DeriveColumns(table, {{"answer=next:price"}, "", ""}), Error);
}

TEST(Derive, WhatCannotBeDerivedIsNamed) {
  const auto refused = [](const std::string& column, std::initializer_list<std::string_view> says,
                          ErrorCode code = ErrorCode::kInvalidArgument) {
    ExpectError(
        [&] {
          Table table = Csv(kPrices);
          DeriveColumns(table, {{column}, "symbol", "day"});
        },
        code, says);
  };
  refused("x", {"not a derived column", "'x'"});
  refused("=previous:close", {"not a derived column"});
  refused("x=previous", {"not a derived column"});
  refused("x=previus:close", {"unknown function", "Did you mean 'previous'?"});
  refused("x=previous:close:0", {"from 1 to"});
  refused("x=previous:close:two", {"from 1 to"});
  refused("x=log:close:2", {"log takes no argument"});
  refused("x=ratio:close", {"two columns"});
  refused("x=log:symbol", {"text", "'symbol'"});
  refused("close=log:open", {"already", "'close'"});
  refused("x=log:clse", {"no such column", "'close'"}, ErrorCode::kNotFound);
  ExpectError([] { ValidateDerive({{"x=log:close"}, "symbol", ""}); }, ErrorCode::kInvalidArgument, {"--series-by"});
  ExpectError(
      [] {
        Table table = Csv("day,v\n2024-01-01,1\n,2\n");
        DeriveColumns(table, {{"x=previous:v"}, "", "day"});
      },
      ErrorCode::kBadData, {"t.csv:3:", "--order-by"});
}

}  // namespace
}  // namespace lamina
