// Tests of warnings: columns that are the target in other words, rows in both parts, columns twice.
#include "lamina/data/encode/leakage.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/base/random.h"
#include "lamina/data/encode/useless_columns.h"
#include "tests/data/encode/preprocessor_test_util.h"

namespace lamina {
namespace {

std::vector<std::string> LeakNames(const Table& table, Task task) {
  PreprocessOptions options;
  options.task = task;
  std::vector<std::string> names;
  for (const Leak& leak : FindLeaks(table, AllRows(table), FitAll(table, options))) {
    names.push_back(leak.column);
  }
  return names;
}

TEST(Leakage, NumbersThatAreTheTargetInOtherUnits) {
  Random random(1);
  std::string text = "euros,logarithm,near,noise,price\n";
  for (int i = 0; i < 400; ++i) {
    const double price = std::exp(random.Uniform(0, 8));
    text += fmt::format("{},{},{},{},{}\n", 0.9 * price - 3, -std::log(price), price * random.Uniform(0.8, 1.2),
                        random.Uniform(0, 1), price);
  }
  EXPECT_EQ(LeakNames(Csv(text), Task::kRegression), (std::vector<std::string>{"euros", "logarithm"}));
}

TEST(Leakage, ClassesInOtherWords) {
  Random random(2);
  std::string text = "code,word,good,class\n";
  for (int i = 0; i < 400; ++i) {
    const int label = i % 3;
    const bool wrong = random.Uniform(0, 1) < 0.1;
    text += fmt::format("{},{},{},{}\n", 7 - 2 * label, label == 2 ? "stop" : "go" + std::to_string(label),
                        wrong ? (label + 1) % 3 : label, std::string(1, static_cast<char>('a' + label)));
  }
  EXPECT_EQ(LeakNames(Csv(text), Task::kClassification), (std::vector<std::string>{"code", "word"}));
}

TEST(Leakage, FewRowsAreNotJudged) {
  std::string text = "x,y\n";
  for (int i = 0; i < 99; ++i) {
    text += fmt::format("{},{}\n", i, 2 * i);
  }
  EXPECT_TRUE(LeakNames(Csv(text), Task::kRegression).empty());
}

TEST(Leakage, RowsInBothParts) {
  const Table train = Csv("a,b,y\n1,2,3.5\n4,5,6.5\n7,8,9.5\n");
  const Table test = Csv("a,b,y\n4,5,6.5\n4,5,7.5\n2,1,3.5\n1,2,3.5\n");
  const Preprocessor fitted = FitAll(train);
  const Dataset learnt = EncodeAll(fitted, train);
  EXPECT_EQ(RowsAlsoIn(EncodeAll(fitted, test), learnt), 2) << "another answer is another row";
  EXPECT_EQ(RowsAlsoIn(learnt, learnt), 3);
  std::vector<uint64_t> twice = HashRows(learnt);
  twice.insert(twice.end(), twice.begin(), twice.end());
  EXPECT_EQ(RowsAlsoIn(learnt, twice), 3) << "a file put in twice";
  std::vector<uint64_t> often = twice;
  often.push_back(twice.front());
  EXPECT_EQ(RowsAlsoIn(learnt, often), 0) << "few different rows, as of stars and yes or no";
}

TEST(Leakage, TheSameColumnTwiceIsLeftOut) {
  std::string text = "a,b,again,t,t2,other,y\n";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("{0},{1},{0},{2},{2},{3},{4}\n", (i * 7) % 11, (i * 5) % 13, i % 3 == 0 ? "u" : "v",
                        i % 3 == 0 ? "v" : "u", i % 2);
  }
  const Table table = Csv(text);
  std::vector<int64_t> inputs{0, 1, 2, 3, 4, 5};
  const std::vector<LeftOutColumn> useless = UselessColumns(table, AllRows(table), inputs);
  ASSERT_EQ(useless.size(), 2U);
  EXPECT_EQ(useless[0].name, "again");
  EXPECT_EQ(useless[0].reason, "the same values as 'a'");
  EXPECT_EQ(useless[1].name, "t2");
}

}  // namespace
}  // namespace lamina
