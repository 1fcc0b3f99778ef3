// Conjugate gradients for least squares (CGLS), all lines side by side.
#include "lamina/data/encode/text_scores_fit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

constexpr int64_t kMostBucketsOfScores = 8192;
constexpr int64_t kMostWeights = 1 << 20;
constexpr int64_t kMostTerms = 6'000'000;  // of texts: places and folds, times scores
constexpr double kRidge = 1;               // beside texts of length 1
constexpr int kMostTurns = 30;
constexpr double kEnough = 1e-6;  // of the squared gradient
constexpr double kMostWeight = 127;

using Numbers = std::vector<double>;

// A text of the rows.
struct Words {
  std::vector<int32_t> places;
  int64_t fold = 0;
  double value = 0;  // of each of its places: the text has length 1
};

// What lines are fitted to: rows of texts, each with its answers. There is a line for each score and fold, and all are
// fitted at once: a column each, first those of fold 0.
struct Texts {
  std::vector<const Words*> words;
  std::vector<const double*> answers;
  int64_t scores = 0;
  int64_t buckets = 0;

  size_t columns() const { return static_cast<size_t>(TextScores::kFolds * scores); }
  size_t FirstOf(int64_t fold) const { return static_cast<size_t>(fold * scores); }
};

// Sums of squares, one for each column.
Numbers Squares(const Numbers& values, size_t columns) {
  Numbers sums(columns);
  for (size_t i = 0; i < values.size(); i += columns) {
    for (size_t k = 0; k < columns; ++k) {
      sums[k] += values[i + k] * values[i + k];
    }
  }
  return sums;
}

// X w, a row a text; nothing for the lines that it does not teach.
void Multiply(const Texts& texts, const Numbers& w, Numbers& out) {
  const size_t columns = texts.columns();
  std::ranges::fill(out, 0.0);
  for (size_t i = 0; i < texts.words.size(); ++i) {
    double* const sums = &out[i * columns];
    for (const int32_t place : texts.words[i]->places) {
      const double* const weights = &w[static_cast<size_t>(place) * columns];
      for (size_t k = 0; k < columns; ++k) {
        sums[k] += weights[k];
      }
    }
    for (size_t k = 0; k < columns; ++k) {
      sums[k] *= texts.words[i]->value;
    }
    std::fill_n(sums + texts.FirstOf(texts.words[i]->fold), texts.scores, 0.0);
  }
}

// X' r - ridge w.
void Gradient(const Texts& texts, const Numbers& r, const Numbers& w, Numbers& out) {
  const size_t columns = texts.columns();
  std::ranges::transform(w, out.begin(), [](double weight) { return -kRidge * weight; });
  for (size_t i = 0; i < texts.words.size(); ++i) {
    const double* const rest = &r[i * columns];
    const double value = texts.words[i]->value;
    for (const int32_t place : texts.words[i]->places) {
      double* const sums = &out[static_cast<size_t>(place) * columns];
      for (size_t k = 0; k < columns; ++k) {
        sums[k] += value * rest[k];
      }
    }
  }
}

// values += factor * others, with a factor for each column.
void Add(Numbers& values, const Numbers& factors, const Numbers& others) {
  const size_t columns = factors.size();
  for (size_t i = 0; i < values.size(); i += columns) {
    for (size_t k = 0; k < columns; ++k) {
      values[i + k] += factors[k] * others[i + k];
    }
  }
}

// buckets × columns.
Numbers FitLines(const Texts& texts) {
  const size_t columns = texts.columns();
  Numbers w(static_cast<size_t>(texts.buckets) * columns);
  Numbers r(texts.words.size() * columns);
  for (size_t i = 0; i < texts.words.size(); ++i) {
    for (int64_t fold = 0; fold < TextScores::kFolds; ++fold) {
      if (fold != texts.words[i]->fold) {
        std::copy_n(texts.answers[i], texts.scores, &r[i * columns + texts.FirstOf(fold)]);
      }
    }
  }
  Numbers gradient(w.size());
  Gradient(texts, r, w, gradient);
  Numbers direction = gradient;
  Numbers image(r.size());
  const Numbers first = Squares(gradient, columns);
  Numbers now = first;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    Multiply(texts, direction, image);
    const Numbers lengths = Squares(image, columns);
    const Numbers sizes = Squares(direction, columns);
    Numbers steps(columns);
    Numbers back(columns);
    for (size_t k = 0; k < columns; ++k) {
      steps[k] = now[k] > kEnough * first[k] ? now[k] / (lengths[k] + kRidge * sizes[k]) : 0;
      back[k] = -steps[k];
    }
    if (std::ranges::all_of(steps, [](double step) { return step == 0; })) {
      break;
    }
    Add(w, steps, direction);
    Add(r, back, image);
    Gradient(texts, r, w, gradient);
    const Numbers before = std::exchange(now, Squares(gradient, columns));
    Numbers keep(columns);
    for (size_t k = 0; k < columns; ++k) {
      keep[k] = before[k] > 0 ? now[k] / before[k] : 0;
    }
    for (size_t i = 0; i < direction.size(); i += columns) {
      for (size_t k = 0; k < columns; ++k) {
        direction[i + k] = gradient[i + k] + keep[k] * direction[i + k];
      }
    }
  }
  return w;
}

// As whole numbers, with one step for each score.
void Round(const Numbers& lines, TextScores& fitted) {
  const size_t scores = fitted.steps.size();
  Numbers most(scores);
  for (size_t i = 0; i < lines.size(); ++i) {
    most[i % scores] = std::max(most[i % scores], std::abs(lines[i]));
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    const double step = most[i % scores] / kMostWeight;
    fitted.weights += static_cast<char>(step > 0 ? std::lround(lines[i] / step) : 0);
  }
}

// Scores get mean 0 and variance 1 over the texts.
void Standardise(const Texts& texts, TextScores& fitted) {
  const auto rows = static_cast<double>(texts.words.size());
  Numbers values;
  for (size_t k = 0; k < fitted.steps.size(); ++k) {
    values.clear();
    for (const Words* words : texts.words) {
      values.push_back(words->value * fitted.SumOf(words->places, words->fold, static_cast<int64_t>(k)));
    }
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / rows;
    double squares = 0;
    for (const double value : values) {
      squares += (value - mean) * (value - mean);
    }
    const double deviation = std::sqrt(squares / rows);
    fitted.steps[k] = deviation > 0 ? 1 / deviation : 0;
    fitted.offsets[k] = deviation > 0 ? -mean / deviation : 0;
  }
}

// The texts of a column's rows, each read once.
class ReadTexts {
 public:
  ReadTexts(const Column& column, std::span<const int64_t> rows, int64_t buckets)
      : view_(column, rows), buckets_(buckets), words_(view_.names().size()), known_(words_.size()) {}

  const Words& Of(int64_t row) {
    const int32_t code = view_.Code(row);
    if (code < 0) {
      return none_;
    }
    const auto i = static_cast<size_t>(code);
    if (known_[i] == 0) {
      TextBuckets found = BucketsOf(view_.names()[i], buckets_);
      const auto size = static_cast<double>(found.places.size());
      words_[i] = {std::move(found.places), found.fold, size > 0 ? 1 / std::sqrt(size) : 0};
      known_[i] = 1;
    }
    return words_[i];
  }

 private:
  CategoryView view_;
  int64_t buckets_;
  std::vector<Words> words_;
  std::vector<char> known_;
  Words none_;
};

}  // namespace

TextScores FitTextScores(const Column& column, std::span<const int64_t> rows, const Matrix& answers) {
  const int64_t scores = answers.cols();
  const auto most = static_cast<uint64_t>(kMostWeights / (TextScores::kFolds * scores));
  TextScores fitted;
  fitted.buckets = std::min(kMostBucketsOfScores, std::max<int64_t>(1, static_cast<int64_t>(std::bit_floor(most))));
  fitted.steps.resize(static_cast<size_t>(scores));
  fitted.offsets.resize(static_cast<size_t>(scores));
  ReadTexts read(column, rows, fitted.buckets);
  int64_t terms = 0;
  for (const int64_t row : rows) {
    terms += (TextScores::kFolds + std::ssize(read.Of(row).places)) * scores;
  }
  const auto all = std::ssize(rows);
  const int64_t some = terms > kMostTerms ? all * kMostTerms / terms : all;
  Texts texts{{}, {}, scores, fitted.buckets};
  for (int64_t i = 0; i < some; ++i) {
    const int64_t place = i * all / some;
    texts.words.push_back(&read.Of(rows[static_cast<size_t>(place)]));
    texts.answers.push_back(answers.Row<double>(place));
  }
  Round(FitLines(texts), fitted);
  Standardise(texts, fitted);
  return fitted;
}

}  // namespace lamina
