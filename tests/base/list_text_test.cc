// Lists in flags, and words of a shell.
#include "lamina/base/list_text.h"

#include <gtest/gtest.h>

namespace lamina {
namespace {

using Items = std::vector<std::string>;

TEST(ListText, ItemsWithCommasStandInQuotes) {
  EXPECT_EQ(SplitList("a, b ,c d"), (Items{"a", "b", "c d"}));
  EXPECT_EQ(SplitList(""), Items{""});
  EXPECT_EQ(SplitList("a,"), (Items{"a", ""}));
  EXPECT_EQ(SplitList(R"("a, b" , c)"), (Items{"a, b", "c"}));
  EXPECT_EQ(SplitList(R"("say ""a, b""",c)"), (Items{R"(say "a, b")", "c"}));
  EXPECT_EQ(SplitList(R"("a" b,c)"), (Items{R"("a" b)", "c"})) << "a name with quotes, as before";
  EXPECT_EQ(SplitList(R"("a,b)"), (Items{R"("a)", "b"}));
  EXPECT_EQ(SplitList(R"(5" pipe,b)"), (Items{R"(5" pipe)", "b"}));
  for (const Items& items : {Items{"a", "b"}, Items{"a, b", "c"}, Items{R"(5" pipe)", "x"}, Items{R"("a")", ","}}) {
    EXPECT_EQ(SplitList(ListText(items)), items);
  }
}

TEST(ListText, ShellWords) {
  EXPECT_EQ(ShellWord("plain-1.csv"), "plain-1.csv");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("$(rm x) `y` \"z\" \\"), "'$(rm x) `y` \"z\" \\'");
  EXPECT_EQ(ShellWord("'"), "''\\'''");
  EXPECT_EQ(ShellWord("a\n\x1b'\\ \xe2\x80\xae"), "$'a\\x0a\\x1b\\'\\\\ \\xe2\\x80\\xae'") << "can be copied";
}

}  // namespace
}  // namespace lamina
