// Each remark in a case where it must be made, and one where it must not.
#include "lamina/run/remarks.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

struct RemarkCase {
  std::string csv;
  std::function<void(TrainSettings&)> change = [](TrainSettings&) {};
};

// Rows of the classes ok and bad, the second one in `rare`; their clouds are `apart` standard deviations apart in the
// first of `columns` columns. Every row stands there `times` times.
std::string Clouds(int64_t rows, int64_t rare, double apart, int64_t columns = 2, int64_t times = 1) {
  Random random(7);
  std::string text;
  for (int64_t j = 0; j < columns; ++j) {
    text += fmt::format("x{},", j);
  }
  text += "state\n";
  for (int64_t i = 0; i < rows; ++i) {
    const bool bad = i % rare == rare - 1;
    std::string line;
    for (int64_t j = 0; j < columns; ++j) {
      line += fmt::format("{:.4f},", random.Normal() + (bad && j == 0 ? apart : 0));
    }
    line += bad ? "bad\n" : "ok\n";
    for (int64_t k = 0; k < times; ++k) {
      text += line;
    }
  }
  return text;
}

struct RemarkCases {
  RemarkCase made;
  RemarkCase not_made;
};

std::map<std::string, RemarkCases> AllCases() {
  const auto epochs = [](int64_t count) { return [count](TrainSettings& settings) { settings.epochs = count; }; };
  const auto balanced = [](TrainSettings& settings) { settings.class_weights = {"balanced"}; };
  const auto heavy = [](TrainSettings& settings) { settings.weight_decay = 3; };
  const auto integers = [](TrainSettings& settings) { settings.quantize_aware = 1; };
  const RemarkCase well{Clouds(300, 2, 6)};
  return {{"8-bit integers", {{Clouds(300, 2, 6), integers}, well}},
          {"test rows in training", {{Clouds(100, 2, 6, 2, 3)}, well}},
          {"validation rows in training", {{Clouds(100, 2, 6, 2, 3)}, well}},
          {"few test rows", {{Clouds(60, 2, 6)}, well}},
          {"loss still falling", {{Clouds(300, 2, 2), epochs(4)}, {Clouds(300, 2, 2)}}},
          {"overfitting", {{Clouds(150, 2, 0, 40), epochs(100)}, well}},
          // Rare rows that are found leave the accuracy where it was, and the mean recall far above one half.
          {"no better than chance", {{Clouds(400, 4, 0), heavy}, {Clouds(1500, 50, 2.5), balanced}}},
          {"class never predicted", {{Clouds(1000, 50, 0), heavy}, {Clouds(1000, 10, 6)}}}};
}

std::string TextOf(const RemarkRow& row, const RemarkCase& each) {
  const TemporaryFolder folder;
  TrainSettings settings;
  settings.data = folder.Write("rows.csv", each.csv);
  settings.recipe = "plain";
  settings.threads = 1;
  settings.stratify = true;
  each.change(settings);
  TrainSession session(settings);
  return row.text(session, session.Run({}));
}

TEST(Remarks, EachIsMadeWhereItMustAndNotElsewhere) {
  const std::map<std::string, RemarkCases> cases = AllCases();
  EXPECT_EQ(cases.size(), RemarkTable().size());
  for (const RemarkRow& row : RemarkTable()) {
    const auto found = cases.find(std::string(row.name));
    ASSERT_NE(found, cases.end()) << row.name << " has no case";
    EXPECT_NE(TextOf(row, found->second.made), "") << row.name;
    EXPECT_EQ(TextOf(row, found->second.not_made), "") << row.name;
  }
}

}  // namespace
}  // namespace lamina
