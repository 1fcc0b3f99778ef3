// How an Error reads.
#include "lamina/base/error.h"

#include <set>

#include "gtest/gtest.h"

namespace lamina {
namespace {

TEST(Error, TextIsComposedOfWhatIsKnown) {
  EXPECT_STREQ(Error(ErrorCode::kIo, "broken").what(), "broken");
  EXPECT_STREQ(Error(ErrorCode::kIo, "broken", {.file = "f.csv"}).what(), "f.csv: broken");
  EXPECT_STREQ(Error(ErrorCode::kBadData, "not a number",
                     {.file = "f.csv", .line = 3, .column = "age", .value = "x", .remedy = "Use --missing drop."})
                   .what(),
               "f.csv:3: column 'age': not a number: 'x'. Use --missing drop.");
  EXPECT_STREQ(Error(ErrorCode::kBadData, "bad", {.line = 3}).what(), "bad") << "a line without a file says nothing";
  EXPECT_STREQ(Error(ErrorCode::kIo, "Is it there?", {.remedy = "Look."}).what(), "Is it there? Look.");
  EXPECT_STREQ(Error(ErrorCode::kIo, "Ends.", {.remedy = "Look."}).what(), "Ends. Look.");
}

TEST(Error, QuotesFromFilesStayOnOneShortLine) {
  EXPECT_STREQ(Error(ErrorCode::kBadData, "bad", {.value = "two\nlines\tand \x1b[31m"}).what(),
               "bad: 'two\\nlines\\tand \\x1B[31m'");
  EXPECT_STREQ(Error(ErrorCode::kBadData, "bad", {.column = "a\nb"}).what(), "column 'a\\nb': bad");
  const Error error(ErrorCode::kBadData, "bad", {.value = std::string(5'000'000, 'x')});
  EXPECT_LT(std::string(error.what()).size(), 300);
  EXPECT_NE(std::string(error.what()).find("5000000 bytes"), std::string::npos) << error.what();
  EXPECT_EQ(error.context().value.size(), 5'000'000);
  const std::string letters = std::string(199, 'x') + "\xC3\xA4\xC3\xA4";  // not cut within a character
  EXPECT_EQ(std::string(Error(ErrorCode::kBadData, "bad", {.value = letters}).what()).find("\xC3'"), std::string::npos);
}

TEST(Error, KeepsItsParts) {
  const Error error(ErrorCode::kBadModel, "truncated", {.file = "m", .value = "7"});
  EXPECT_EQ(error.code(), ErrorCode::kBadModel);
  EXPECT_EQ(error.message(), "truncated");
  EXPECT_EQ(error.context().file, "m");
  EXPECT_EQ(error.context().value, "7");
}

TEST(Error, CodesHaveDistinctNames) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kNetwork); ++code) {
    names.insert(ErrorCodeName(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ErrorCode::kNetwork) + 1);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(ErrorCodeName(ErrorCode::kBadData), "bad_data");
}

TEST(Verdict, YesAndNo) {
  EXPECT_TRUE(Verdict::Yes());
  EXPECT_FALSE(Verdict::No("why"));
  EXPECT_EQ(Verdict::No("why").reason, "why");
}

}  // namespace
}  // namespace lamina
