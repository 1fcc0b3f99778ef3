// What counts as a character, by the encoder's side of the definition: every code point, and nothing else.
#include "lamina/base/utf8.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace lamina {
namespace {

std::string Encoded(unsigned point) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    return {static_cast<char>(point)};
  }
  if (point < 0x800) {
    return {static_cast<char>(0xC0 | point >> 6), tail(0)};
  }
  if (point < 0x10000) {
    return {static_cast<char>(0xE0 | point >> 12), tail(6), tail(0)};
  }
  return {static_cast<char>(0xF0 | point >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointButTheSurrogates) {
  for (unsigned point = 0; point <= 0x110010; ++point) {
    const bool valid = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
    const std::string text = Encoded(point);
    ASSERT_EQ(Utf8Length(text, 0), valid ? text.size() : 0) << std::hex << point;
  }
}

// All texts of two and three bytes: those that encode no code point are not characters.
TEST(Utf8, NoOverlongFormsAndNothingCutOff) {
  std::set<std::string> valid;
  for (unsigned point = 0x80; point < 0x10000; ++point) {
    if (point < 0xD800 || point > 0xDFFF) {
      valid.insert(Encoded(point));
    }
  }
  for (int a = 0x80; a < 0x100; ++a) {
    EXPECT_EQ(Utf8Length(std::string(1, static_cast<char>(a)), 0), 0U) << "cut off";
    for (int b = 0; b < 0x100; ++b) {
      const std::string two{static_cast<char>(a), static_cast<char>(b)};
      ASSERT_EQ(Utf8Length(two, 0), valid.contains(two) ? 2U : 0U) << std::hex << a << " " << b;
      for (const int c : {0x00, 0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF}) {
        const std::string three = two + static_cast<char>(c);
        const size_t expected = valid.contains(two) ? 2 : valid.contains(three) ? 3 : 0;
        ASSERT_EQ(Utf8Length(three, 0), expected) << std::hex << a << " " << b << " " << c;
      }
    }
  }
  EXPECT_EQ(Utf8Length("\xF0\x8F\xBF\xBF", 0), 0U) << "U+FFFF in four bytes";
}

TEST(Utf8, InTheMiddle) {
  const std::string text = "a\u00fcb";
  EXPECT_EQ(Utf8Length(text, 0), 1U);
  EXPECT_EQ(Utf8Length(text, 1), 2U);
  EXPECT_EQ(Utf8Length(text, 2), 0U) << "within a character";
  EXPECT_EQ(Utf8Length(text, 3), 1U);
}

}  // namespace
}  // namespace lamina
