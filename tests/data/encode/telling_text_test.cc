// Free text beside other columns: where its words say something it is read, elsewhere it is left out.
#include "lamina/data/encode/telling_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "lamina/base/random.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/encode/text_answers.h"
#include "lamina/data/encode/text_hash.h"
#include "lamina/data/encode/useless_columns.h"
#include "lamina/data/files/csv.h"

namespace lamina {
namespace {

constexpr const char* kGood[] = {"great", "lovely", "fresh", "perfect"};
constexpr const char* kBad[] = {"stale", "awful", "broken", "bland"};
constexpr const char* kNames[] = {"tea", "soap", "bread", "lamp", "chair", "glue", "rope", "ink"};

// A number, a review of six words, and a name of its own. Asked is whether the review is good, or a number of it.
Table Reviews(int rows, bool classes, bool words_tell) {
  Random random(5);
  const auto below = [&](int count) { return static_cast<int>(random.Uniform() * count); };
  std::string text = "price,review,name,answer\n";
  for (int i = 0; i < rows; ++i) {
    const bool good = below(2) == 1;
    std::string review;
    for (int w = 0; w < 5; ++w) {
      review += w == 2 && words_tell ? (good ? kGood : kBad)[below(4)] : kNames[below(8)];
      review += ' ';
    }
    text += fmt::format("{:.2f},{}{},{}{},", 10 * random.Uniform(), review, i, kNames[below(8)], i);
    text += classes ? (good ? "yes\n" : "no\n") : fmt::format("{:.3f}\n", (good ? 3 : 1) + random.Normal());
  }
  return ReadCsv(text, "t.csv", {});
}

std::vector<int64_t> AllOf(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

std::vector<int64_t> FoundTexts(const Table& table, std::vector<int64_t> texts, std::vector<int64_t> others,
                                int64_t target, bool classes = false) {
  const std::vector<int64_t> rows = AllOf(table);
  PreprocessOptions options;
  options.task = classes ? Task::kClassification : Task::kRegression;
  const TargetEncoder targets = TargetEncoder::Fit(table, rows, std::span(&target, 1), options);
  const Matrix answers = TextAnswers(table, rows, std::span(&target, 1), targets);
  return TextsThatTell(table, rows, {texts, others, answers, NearAnswers(answers, targets)});
}

std::vector<int64_t> FoundInReviews(int rows, bool classes, bool words_tell) {
  return FoundTexts(Reviews(rows, classes, words_tell), {1, 2}, {0}, 3, classes);
}

PreprocessOptions AsTrained(TextEncoding text) {
  PreprocessOptions options;
  options.targets = {"answer"};
  options.missing = MissingPolicy::kMean;
  options.leave_out_useless = true;
  options.text = text;
  return options;
}

// Inputs of the columns, by name.
int64_t InputsOfColumn(const Preprocessor& fitted, const std::string& name) {
  int64_t count = 0;
  for (const FittedColumn& column : fitted.inputs().columns()) {
    count += column.name == name ? column.value_width() : 0;
  }
  return count;
}

TEST(TellingText, IsFoundWhereItsWordsTell) {
  for (const bool classes : {false, true}) {
    EXPECT_EQ(FoundInReviews(600, classes, true), std::vector<int64_t>{1}) << classes;
    EXPECT_EQ(FoundInReviews(600, classes, false), std::vector<int64_t>{}) << classes;
    EXPECT_EQ(FoundInReviews(60, classes, true), std::vector<int64_t>{}) << classes;  // too few to tell
  }
}

TEST(TellingText, IsNotNeededWhereAnotherColumnSaysAsMuch) {
  std::string text = "mood,review,answer\n";
  Random random(6);
  for (int i = 0; i < 600; ++i) {
    const bool good = random.Uniform() < 0.5;
    text +=
        fmt::format("{},{} {},{:.3f}\n", good ? 1 : 0, good ? "great" : "awful", i, (good ? 3 : 1) + random.Normal());
  }
  const Table table = ReadCsv(text, "t.csv", {});
  EXPECT_TRUE(FoundTexts(table, {1}, {0}, 2).empty());
  EXPECT_EQ(FoundTexts(table, {1}, {}, 2), std::vector<int64_t>{1});
}

// Two rows of a school are alike, and its name says nothing of others: words of other texts would not tell.
TEST(TellingText, NamesSomethingWhereTextsRecur) {
  std::string text = "size,school,answer\n";
  Random random(7);
  const auto letters = [&] {
    std::string word;
    for (int i = 0; i < 8; ++i) {
      word += static_cast<char>('a' + static_cast<int>(26 * random.Uniform()));
    }
    return word;
  };
  for (int i = 0; i < 300; ++i) {
    const std::string name = letters() + " " + letters();
    const double level = 3 * random.Normal();
    for (int twin = 0; twin < 1 + (i % 3 > 0 ? 1 : 0); ++twin) {
      text += fmt::format("{:.2f},{},{:.3f}\n", random.Uniform(), name, level + 0.1 * random.Normal());
    }
  }
  const Table table = ReadCsv(text, "t.csv", {});
  EXPECT_TRUE(IsFreeText(table.columns[1], AllOf(table)));
  EXPECT_TRUE(TextsRecur(table.columns[1], AllOf(table)));
  EXPECT_EQ(FoundTexts(table, {1}, {0}, 2), std::vector<int64_t>{1});
  const Preprocessor fitted = Preprocessor::Fit(table, AllOf(table), AsTrained(TextEncoding::kAuto));
  EXPECT_EQ(InputsOfColumn(fitted, "school"), 256);
  EXPECT_FALSE(TextsRecur(Reviews(600, true, true).columns[1], AllOf(Reviews(600, true, true))));
}

TEST(TellingText, BecomesAnInputBySettings) {
  const Table table = Reviews(600, true, true);
  const std::vector<int64_t> rows = AllOf(table);
  const Preprocessor chosen = Preprocessor::Fit(table, rows, AsTrained(TextEncoding::kAuto));
  EXPECT_EQ(InputsOfColumn(chosen, "review"), 1);
  EXPECT_EQ(InputsOfColumn(chosen, "name"), 0);
  ASSERT_EQ(chosen.left_out().size(), 1u);
  EXPECT_EQ(chosen.left_out()[0].name, "name");
  const std::vector<ColumnDecision> decisions = DecisionsOn(table, chosen, AsTrained(TextEncoding::kAuto));
  EXPECT_TRUE(std::ranges::any_of(decisions, [](const ColumnDecision& decision) {
    return decision.column == "review" &&
           decision.what.find("an input says what its words say of the target") != std::string::npos;
  }));
  const Preprocessor none = Preprocessor::Fit(table, rows, AsTrained(TextEncoding::kLeaveOut));
  EXPECT_EQ(InputsOfColumn(none, "review") + InputsOfColumn(none, "name"), 0);
  const Preprocessor both = Preprocessor::Fit(table, rows, AsTrained(TextEncoding::kHash));
  EXPECT_EQ(InputsOfColumn(both, "review") + InputsOfColumn(both, "name"), 512);
  EXPECT_EQ(Preprocessor::FromJson(chosen.ToJson()).ToJson(), chosen.ToJson());
}

TEST(TellingText, LongTextHasMoreInputs) {
  EXPECT_EQ(CountWords(" one,two  three-4 "), 4);
  EXPECT_EQ(CountWords(" ... "), 0);
  std::string text = "short,long\n";
  for (int i = 0; i < 100; ++i) {
    text += fmt::format("word {0},one two three four five six seven eight nine {0}\n", i);
  }
  const Table table = ReadCsv(text, "t.csv", {});
  EXPECT_EQ(InputsOfText(table.columns[0], AllOf(table)), 256);
  EXPECT_EQ(InputsOfText(table.columns[1], AllOf(table)), 1024);
}

// All columns are free text: those that tell are read, and the others left out.
TEST(TellingText, MayBeAllThereIs) {
  const Table table = Reviews(600, true, true);
  PreprocessOptions options = AsTrained(TextEncoding::kAuto);
  options.drop_columns = {"price"};
  const Preprocessor fitted = Preprocessor::Fit(table, AllOf(table), options);
  EXPECT_EQ(InputsOfColumn(fitted, "review"), 1);
  EXPECT_EQ(InputsOfColumn(fitted, "name"), 0);
  ASSERT_EQ(fitted.left_out().size(), 1u);
  EXPECT_EQ(fitted.left_out()[0].reason, "its words tell nothing of the target");
  options.use_columns = {"name"};
  EXPECT_EQ(InputsOfColumn(Preprocessor::Fit(table, AllOf(table), options), "name"), 1);
}

}  // namespace
}  // namespace lamina
