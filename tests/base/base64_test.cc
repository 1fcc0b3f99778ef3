// Bytes to digits and back.
#include "lamina/base/base64.h"

#include <gtest/gtest.h>

#include <string>

namespace lamina {
namespace {

TEST(Base64, WritesAndReadsRfc4648) {
  for (const auto& [bytes, text] :
       {std::pair("", ""), std::pair("f", "Zg=="), std::pair("fo", "Zm8="), std::pair("foo", "Zm9v"),
        std::pair("foob", "Zm9vYg=="), std::pair("\xff\xfe\xfd", "//79")}) {
    EXPECT_EQ(ToBase64(bytes), text);
    EXPECT_EQ(FromBase64(text), bytes);
  }
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(FromBase64(ToBase64(all)), all);
  EXPECT_EQ(FromBase64("Zm9v!g=="), "");
}

}  // namespace
}  // namespace lamina
