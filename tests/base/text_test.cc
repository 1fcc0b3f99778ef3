// Splitting, strict numbers, suggestions, and numbers for people.
#include "lamina/base/text.h"

#include <clocale>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lamina/base/error.h"

namespace lamina {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Text, Split) {
  EXPECT_EQ(SplitText("", ','), Pieces{""});
  EXPECT_EQ(SplitText("a", ','), Pieces{"a"});
  EXPECT_EQ(SplitText(",a,,b,", ','), (Pieces{"", "a", "", "b", ""}));
}

TEST(Text, Trim) {
  EXPECT_EQ(Trim(" \t a b\t "), "a b");
  EXPECT_EQ(Trim(" \t "), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("a"), "a");
}

TEST(Text, ParseNumberTakesTheWholeText) {
  EXPECT_EQ(ParseNumber("1.5"), 1.5);
  EXPECT_EQ(ParseNumber("-2e3"), -2000.0);
  EXPECT_EQ(ParseNumber("+7"), 7.0);
  EXPECT_EQ(ParseNumber(".5"), 0.5);
  EXPECT_EQ(ParseNumber("0.1"), 0.1);
  EXPECT_EQ(ParseNumber("9007199254740993"), 9007199254740992.0) << "nearest, ties to even";
  EXPECT_TRUE(std::isinf(ParseNumber("-inf")));
  for (const char* bad : {"", "+", "-", "1,5", "1.5 ", " 1", "1x", "0x10", "1e", "abc", "+-1", "--1"}) {
    EXPECT_TRUE(std::isnan(ParseNumber(bad))) << bad;
  }
}

TEST(Text, ParseNumberIgnoresTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  EXPECT_EQ(ParseNumber("1.5"), 1.5);
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Text, ParseInteger) {
  EXPECT_EQ(ParseInteger("0"), 0);
  EXPECT_EQ(ParseInteger("-42"), -42);
  EXPECT_EQ(ParseInteger("9223372036854775807"), std::numeric_limits<int64_t>::max());
  for (const char* bad : {"", "-", "9223372036854775808", "1.0", " 1", "1 ", "0x1", "1e3"}) {
    EXPECT_FALSE(ParseInteger(bad).has_value()) << bad;
  }
}

TEST(Text, ChoiceText) {
  EXPECT_EQ(ChoiceText({}), "");
  EXPECT_EQ(ChoiceText(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(ChoiceText(std::vector<std::string>{"a", "b"}), "a or b");
  EXPECT_EQ(ChoiceText(std::vector<std::string>{"a", "b", "c"}), "a, b or c");
}

TEST(Text, CsvField) {
  EXPECT_EQ(CsvField(""), "");
  EXPECT_EQ(CsvField(" a b;c"), " a b;c");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(CsvField("a\nb"), "\"a\nb\"");
  EXPECT_EQ(CsvField("a\rb"), "\"a\rb\"");
}

TEST(Text, WithoutControls) {
  EXPECT_EQ(WithoutControls("plain \xc3\xbc \xf0\x9f\x98\x80 100 %"), "plain \xc3\xbc \xf0\x9f\x98\x80 100 %");
  EXPECT_EQ(WithoutControls("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(WithoutControls("\x1b[31m\x07\x7f"), "\\x1B[31m\\x07\\x7F");
  EXPECT_EQ(WithoutControls("\xc2\x9b"), "\\u009B") << "what ESC [ is in eight bits";
  EXPECT_EQ(WithoutControls("a\xe2\x80\xae_\xe2\x81\xa6"), "a\\u202E_\\u2066");
  EXPECT_EQ(WithoutControls("\xff\x9b\xe2\x82"), "\\xFF\\x9B\\xE2\\x82");
}

TEST(Text, DidYouMean) {
  const std::vector<std::string> names{"tanh", "sigmoid", "relu"};
  EXPECT_EQ(DidYouMean("tnah", names), "Did you mean 'tanh'? ");
  EXPECT_EQ(DidYouMean("sigmoids", names), "Did you mean 'sigmoid'? ");
  EXPECT_EQ(DidYouMean("convolution", names), "");
  EXPECT_EQ(DidYouMean("x", {}), "");
}

TEST(Text, WithThousands) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(-1000), "-1,000");
  EXPECT_EQ(WithThousands(-100), "-100");
  EXPECT_EQ(WithThousands(1234567890), "1,234,567,890");
}

TEST(Text, BytesText) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1 KiB");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText((1 << 20) - 1), "1 MiB");
  EXPECT_EQ(BytesText(int64_t{24651776} * 1024), "23.5 GiB");
}

TEST(Text, WithoutTag) {
  EXPECT_EQ(WithoutTag("[json.exception.out_of_range.403] key 'x' not found"), "key 'x' not found");
  EXPECT_EQ(WithoutTag("[1, 2]"), "[1, 2]");
  EXPECT_EQ(WithoutTag(""), "");
}

TEST(Text, ParseBytes) {
  EXPECT_EQ(ParseBytes("4096"), 4096);
  EXPECT_EQ(ParseBytes("600M"), 600'000'000);
  EXPECT_EQ(ParseBytes("600m"), 600'000'000);
  EXPECT_EQ(ParseBytes("2 GB"), 2'000'000'000);
  EXPECT_EQ(ParseBytes("1.5GiB"), int64_t{3} << 29);
  EXPECT_EQ(ParseBytes("1KiB"), 1024);
  EXPECT_EQ(ParseBytes(" 3T "), 3'000'000'000'000);
  EXPECT_EQ(ParseBytes("12 B"), 12);
  for (const char* text : {"", "M", "-1", "-5M", "0", "0.2", "1X", "1iB", "1 Mib", "1MiBs", "1..2M", "1e3", "nan",
                           "inf", "5000000T", "1M2"}) {
    try {
      ParseBytes(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << text;
      EXPECT_FALSE(error.context().remedy.empty());
    }
  }
}

}  // namespace
}  // namespace lamina
