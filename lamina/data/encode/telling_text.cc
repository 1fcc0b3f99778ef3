// Scores and two lines for each text, on two halves of the rows.
#include "lamina/data/encode/telling_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "lamina/base/buffer.h"
#include "lamina/base/error.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/input_encoder.h"
#include "lamina/data/encode/line_fit.h"
#include "lamina/data/encode/text_scores_fit.h"
#include "lamina/data/encode/useless_columns.h"

namespace lamina {
namespace {

constexpr int64_t kMostRowsRead = 4000;
constexpr int64_t kLeastRowsRead = 100;
constexpr int64_t kMostOthers = 300;
constexpr int64_t kMostOfColumn = 60;  // categories of another column that have an input
constexpr int64_t kRareCategory = 5;   // of fewer rows
constexpr int64_t kMostAnswers = 100;
constexpr int64_t kHashes = 256;
constexpr double kRidgeOfLine = 10;
constexpr double kLeastGainOfText = 0.005;
constexpr double kLeastSurenessOfText = 2.7;
constexpr double kMuchGain = 0.05;  // is believed sooner
constexpr double kLeastSurenessOfMuch = 2;

// The rows of `all` that are named, in that order.
Matrix PickRows(const Matrix& all, std::span<const int64_t> rows) {
  Matrix some(std::ssize(rows), all.cols(), DType::kF64);
  for (int64_t i = 0; i < some.rows(); ++i) {
    std::copy_n(all.Row<double>(rows[static_cast<size_t>(i)]), all.cols(), some.Row<double>(i));
  }
  return some;
}

// Rows that are asked, what is known of them, and what scores are taught by.
struct Asked {
  std::vector<int64_t> rows;
  Matrix others;  // inputs, encoded
  Matrix answers;
  Matrix taught;
};

// Answers and, beside them, the scores that the rows half, half + 2, ... have taught.
Matrix AnswersAndScores(const Asked& asked, const Column& text, int64_t half) {
  std::vector<int64_t> places;
  std::vector<int64_t> rows;
  for (int64_t i = half; i < std::ssize(asked.rows); i += 2) {
    places.push_back(i);
    rows.push_back(asked.rows[static_cast<size_t>(i)]);
  }
  const TextScores scores = FitTextScores(text, rows, PickRows(asked.taught, places));
  const CategoryView view(text, asked.rows);
  Matrix both(std::ssize(asked.rows), asked.answers.cols() + scores.count(), DType::kF64);
  for (int64_t i = 0; i < both.rows(); ++i) {
    const int32_t code = view.Code(asked.rows[static_cast<size_t>(i)]);
    double* const end = std::copy_n(asked.answers.Row<double>(i), asked.answers.cols(), both.Row<double>(i));
    scores.Score(code < 0 ? std::string_view() : view.names()[static_cast<size_t>(code)], end);
  }
  return both;
}

// Squared errors of rows, over all answers.
struct TextErrors {
  std::vector<double> without;
  std::vector<double> with;
};

// The rows half, half + 2, ... teach the scores of a text, and lines through the other inputs: to the answers, and to
// the scores. What these leave of a score tells of what they leave of its answer. The other half is answered.
void AnswerOtherHalf(const Asked& asked, const Column& text, int64_t half, TextErrors& errors) {
  const int64_t count = asked.answers.cols();
  Matrix rest = AnswersAndScores(asked, text, half);
  const LineFit line(asked.others, rest, half, 2, kRidgeOfLine);
  std::vector<double> said(static_cast<size_t>(rest.cols()));
  std::vector<double> products(static_cast<size_t>(count));
  std::vector<double> squares(static_cast<size_t>(count), kRidgeOfLine);
  for (int64_t i = 0; i < rest.rows(); ++i) {
    double* const row = rest.Row<double>(i);
    line.Answer(asked.others.Row<double>(i), said.data());
    std::transform(row, row + rest.cols(), said.begin(), row, std::minus<>());
    for (int64_t k = 0; i % 2 == half && k < count; ++k) {
      products[static_cast<size_t>(k)] += row[k] * row[count + k];
      squares[static_cast<size_t>(k)] += row[count + k] * row[count + k];
    }
  }
  for (int64_t i = 1 - half; i < rest.rows(); i += 2) {
    const double* const row = rest.Row<double>(i);
    for (int64_t k = 0; k < count; ++k) {
      const double left = row[k] - products[static_cast<size_t>(k)] / squares[static_cast<size_t>(k)] * row[count + k];
      errors.without[static_cast<size_t>(i)] += row[k] * row[k];
      errors.with[static_cast<size_t>(i)] += left * left;
    }
  }
}

std::vector<double> SumsOfRows(const Matrix& numbers) {
  std::vector<double> sums;
  for (int64_t i = 0; i < numbers.rows(); ++i) {
    const double* const row = numbers.Row<double>(i);
    sums.push_back(std::accumulate(row, row + numbers.cols(), 0.0));
  }
  return sums;
}

// Each half is answered by lines of the other, without the hashes and with them.
TextErrors ErrorsByHashes(const Asked& asked, const Matrix& hashes) {
  Matrix both(asked.others.rows(), asked.others.cols() + hashes.cols(), DType::kF64);
  for (int64_t i = 0; i < both.rows(); ++i) {
    double* const end = std::copy_n(asked.others.Row<double>(i), asked.others.cols(), both.Row<double>(i));
    std::copy_n(hashes.Row<double>(i), hashes.cols(), end);
  }
  return {SumsOfRows(SquaredErrorsOfHalves(asked.others, asked.answers, kRidgeOfLine)),
          SumsOfRows(SquaredErrorsOfHalves(both, asked.answers, kRidgeOfLine))};
}

TextErrors ErrorsByScores(const Asked& asked, const Column& text) {
  TextErrors errors{std::vector<double>(asked.rows.size()), std::vector<double>(asked.rows.size())};
  AnswerOtherHalf(asked, text, 0, errors);
  AnswerOtherHalf(asked, text, 1, errors);
  return errors;
}

// What has a mean of 0 by chance are powers of gains: a few large ones alone are not sure.
bool IsLess(const TextErrors& errors) {
  const auto& [without, with] = errors;
  double left = 0;
  double gain = 0;
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    const double less = without[i] - with[i];
    const double power = std::copysign(std::pow(std::abs(less), 0.75), less);
    left += without[i];
    gain += less;
    sum += power;
    squares += power * power;
  }
  const double least = gain >= kMuchGain * left ? kLeastSurenessOfMuch : kLeastSurenessOfText;
  return gain > 0 && gain >= kLeastGainOfText * left && sum >= least * std::sqrt(squares);
}

}  // namespace

std::vector<int64_t> TextsThatTell(const Table& table, std::span<const int64_t> rows, const TextQuestion& question) {
  if (question.texts.empty() || std::ssize(rows) < kLeastRowsRead || question.answers.cols() > kMostAnswers) {
    return {};
  }
  std::vector<int64_t> all(rows.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  const std::vector<int64_t> places = SpreadOut(all, kMostRowsRead);
  Asked asked;
  std::ranges::transform(places, std::back_inserter(asked.rows),
                         [&](int64_t place) { return rows[static_cast<size_t>(place)]; });
  asked.answers = PickRows(question.answers, places);
  asked.taught = PickRows(question.taught, places);
  PreprocessOptions options;
  options.scaling = Scaling::kRobust;
  options.missing = MissingPolicy::kMean;
  options.missing_indicator = false;
  options.min_count = kRareCategory;
  options.max_categories = kMostOfColumn;
  options.text = TextEncoding::kHash;
  options.text_inputs = kHashes;
  std::vector<int64_t> telling;
  try {
    asked.others = FitAndEncode(table, asked.rows, question.others, options);
    if (asked.others.cols() > kMostOthers) {
      return {};
    }
    std::ranges::copy_if(question.texts, std::back_inserter(telling), [&](int64_t text) {
      const Column& column = table.columns[static_cast<size_t>(text)];
      return IsLess(TextsRecur(column, rows)
                        ? ErrorsByHashes(asked, FitAndEncode(table, asked.rows, std::span(&text, 1), options))
                        : ErrorsByScores(asked, column));
    });
  } catch (const Error&) {  // a column has no value in the rows asked, or too large ones
    return {};
  }
  return telling;
}

}  // namespace lamina
