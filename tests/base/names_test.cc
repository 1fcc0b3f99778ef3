// Names of values: both ways, and the error of a name that nothing has.
#include "lamina/base/names.h"

#include "gtest/gtest.h"
#include "lamina/base/error.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

enum class Fruit { kApple, kPear, kQuince };
constexpr Named<Fruit> kFruits[] = {
    {"apple", Fruit::kApple}, {"quince", Fruit::kQuince}, {"pear", Fruit::kPear}, {"cydonia", Fruit::kQuince}};

TEST(Names, EveryNameIsReadAndTheFirstIsWritten) {
  EXPECT_EQ(NamesIn(kFruits), (std::vector<std::string>{"apple", "quince", "pear", "cydonia"}));
  for (const Named<Fruit>& row : kFruits) {
    EXPECT_EQ(ParseName(row.name, kFruits, "unknown fruit"), row.value) << row.name;
  }
  EXPECT_EQ(NameOf(Fruit::kPear, kFruits), "pear");
  EXPECT_EQ(NameOf(Fruit::kQuince, kFruits), "quince");
}

TEST(Names, AnUnknownOneIsToldTheNearestAndAll) {
  const Error near = CaughtError([] { ParseName("aple", kFruits, "unknown fruit"); });
  EXPECT_EQ(near.code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(near.message(), "unknown fruit");
  EXPECT_EQ(near.context().value, "aple");
  EXPECT_EQ(near.context().remedy, "Did you mean 'apple'? Known: apple, quince, pear, cydonia.");
  const Error far = CaughtError([] { ParseName("", kFruits, "unknown fruit"); });
  EXPECT_EQ(far.context().remedy, "Known: apple, quince, pear, cydonia.");
}

TEST(Names, IndexInAListThatIsMadeAtRunTime) {
  const std::vector<std::string> names{"first", "second"};
  EXPECT_EQ(IndexOfName("second", names, "unknown place"), 1U);
  EXPECT_EQ(CaughtError([&] { IndexOfName("third", names, "unknown place"); }).message(), "unknown place");
}

}  // namespace
}  // namespace lamina
