// Scores of texts: what other texts teach, and nothing of the text's own target.
#include "lamina/data/encode/text_scores.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "lamina/base/random.h"
#include "lamina/data/encode/text_hash.h"
#include "lamina/data/encode/text_scores_fit.h"
#include "lamina/data/files/csv.h"

namespace lamina {
namespace {

constexpr const char* kWords[] = {"tea", "soap", "bread", "lamp", "chair", "glue", "rope", "ink"};

// Notes of four words and a number of their own.
std::vector<std::string> Notes(int count) {
  Random random(3);
  std::vector<std::string> notes;
  for (int i = 0; i < count; ++i) {
    std::string note;
    for (int w = 0; w < 4; ++w) {
      note += std::string(kWords[static_cast<int>(8 * random.Uniform())]) + " ";
    }
    notes.push_back(note + std::to_string(i));
  }
  return notes;
}

Table TableOf(const std::vector<std::string>& notes) {
  std::string text = "note\n";
  for (const std::string& note : notes) {
    text += note + "\n";
  }
  return ReadCsv(text, "t.csv", {});
}

// 1 where tea is among the words, else 0, less their mean; `odd` is the opposite.
Matrix IsTea(const std::vector<std::string>& notes, size_t odd) {
  Matrix answers(std::ssize(notes), 1, DType::kF64);
  double sum = 0;
  for (size_t i = 0; i < notes.size(); ++i) {
    const bool tea = notes[i].find("tea") != std::string::npos;
    sum += *answers.Row<double>(static_cast<int64_t>(i)) = tea != (i == odd) ? 1 : 0;
  }
  for (int64_t i = 0; i < answers.rows(); ++i) {
    *answers.Row<double>(i) -= sum / static_cast<double>(answers.rows());
  }
  return answers;
}

TextScores Fitted(const std::vector<std::string>& notes, size_t odd = std::string::npos) {
  const Table table = TableOf(notes);
  std::vector<int64_t> rows(notes.size());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return FitTextScores(table.columns[0], rows, IsTea(notes, odd));
}

double ScoreOf(const TextScores& scores, std::string_view text) {
  std::vector<double> score(static_cast<size_t>(scores.count()));
  scores.Score(text, score.data());
  return score[0];
}

TEST(TextScores, SayWhatWordsTell) {
  const std::vector<std::string> notes = Notes(400);
  const TextScores scores = Fitted(notes);
  double sum = 0;
  double squares = 0;
  int right = 0;
  for (const std::string& note : notes) {
    const double score = ScoreOf(scores, note);
    sum += score;
    squares += score * score;
    right += (score > 0) == (note.find("tea") != std::string::npos) ? 1 : 0;
  }
  EXPECT_NEAR(sum / 400, 0, 1e-9);
  EXPECT_NEAR(squares / 400, 1, 1e-9);
  EXPECT_GT(right, 380);
  EXPECT_GT(ScoreOf(scores, "TEA, please!"), ScoreOf(scores, "ink, please!") + 1);
  EXPECT_EQ(ScoreOf(scores, "Bread - lamp"), ScoreOf(scores, "  bread LAMP ")) << "words alone count";
  EXPECT_EQ(ScoreOf(scores, ""), scores.offsets[0]);
  EXPECT_EQ(ScoreOf(scores, " .-! "), scores.offsets[0]);
}

// A text of a note's words, in its fold, would be told the note's answer if that had taught its line.
TEST(TextScores, AreNotTaughtByTheTextItself) {
  const std::vector<std::string> notes = Notes(60);
  const TextScores before = Fitted(notes);
  double most_others = 0;
  for (size_t odd = 0; odd < 10; ++odd) {
    const TextScores after = Fitted(notes, odd);
    const TextBuckets words = BucketsOf(notes[odd], before.buckets);
    // Sums relative to the step of whole numbers, which the largest weight of all lines decides.
    const auto change = [&](int64_t fold) {
      const double a = before.SumOf(words.places, fold, 0);
      const double b = after.SumOf(words.places, fold, 0);
      return std::abs(a - b);
    };
    double others = 0;
    for (int64_t fold = 0; fold < TextScores::kFolds; ++fold) {
      others += fold == words.fold ? 0 : change(fold) / (TextScores::kFolds - 1);
    }
    EXPECT_LT(change(words.fold), others) << odd;
    most_others = std::max(most_others, others);
  }
  EXPECT_GT(most_others, 30);
}

TEST(TextScores, OfRowsThatNothingTellsApart) {
  const std::vector<std::string> notes(30, "the same words");
  const TextScores scores = Fitted(notes);
  EXPECT_TRUE(std::isfinite(ScoreOf(scores, "the same words")));
  EXPECT_TRUE(std::isfinite(ScoreOf(scores, "others")));
}

TEST(TextScores, PiecesAreThreeLetters) {
  const auto hashes = [](std::string_view text) { return HashWords(text, /*pieces=*/true).hashes; };
  EXPECT_EQ(HashWords("the").hashes.size(), 1u);
  EXPECT_EQ(hashes("a").size(), 1 + 1u);             // " a "
  EXPECT_EQ(hashes("the").size(), 1 + 3u);           // " th", "the", "he "
  EXPECT_EQ(hashes("na\xc3\xafve").size(), 1 + 5u);  // a letter of two bytes counts as one
  EXPECT_EQ(hashes("x the").back(), hashes("The").back());
  EXPECT_NE(hashes("the")[2], hashes("the")[0]) << "a piece is no word";
  EXPECT_EQ(HashWords("one, two").all, HashWords("One  two!").all);
  EXPECT_NE(HashWords("one two").all, HashWords("onetwo").all);
  EXPECT_NO_THROW(hashes("\x80\xbf broken \xff"));
}

}  // namespace
}  // namespace lamina
