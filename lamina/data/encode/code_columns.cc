// Means of a value's rows against means of its neighbors' rows, each row left out of its own.
#include "lamina/data/encode/code_columns.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "lamina/base/hardware.h"
#include "lamina/base/team.h"
#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

constexpr int64_t kMostAsked = 20'000;
constexpr int64_t kMostSums = 500'000;  // values times classes: some tenths of a second a column
constexpr double kRowsOfValue = 5;
constexpr int64_t kLeastValues = 20;
constexpr double kLeastShare = 0.5;  // of the rows
constexpr double kLeastGain = 0.01;  // of the variance
constexpr double kLeastSureness = 2.75;

// What is to be predicted, of rows that have it: a class each, or numbers with mean 0 and a variance of 1.
struct Answers {
  std::vector<int64_t> rows;
  std::vector<int32_t> labels;
  std::vector<double> numbers;
  int64_t width = 1;
};

Answers AnswersOf(const Column& target, std::span<const int64_t> rows, bool classes) {
  Answers answers{.rows = SpreadOut(rows, kMostAsked, target)};
  if (classes) {
    const CategoryView view(target, answers.rows);
    answers.width = std::ssize(view.names());
    for (const int64_t row : answers.rows) {
      answers.labels.push_back(view.Code(row));
    }
    return answers;
  }
  double sum = 0;
  for (const int64_t row : answers.rows) {
    sum += answers.numbers.emplace_back(target.Number(row));
  }
  double squares = 0;
  for (double& number : answers.numbers) {
    number -= sum / static_cast<double>(answers.rows.size());
    squares += number * number;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(answers.rows.size()));
  for (double& number : answers.numbers) {
    number /= deviation;
  }
  return answers;
}

// The different values of a column, ascending, and sums of the answers of each one's rows: of each class or of numbers.
struct Values {
  Values(const Column& column, const Answers& answers) : width(static_cast<size_t>(answers.width)) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < answers.rows.size(); ++i) {
      if (!column.IsMissing(answers.rows[i])) {
        order.emplace_back(column.Number(answers.rows[i]), i);
      }
    }
    std::sort(order.begin(), order.end());
    double last = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [value, i] : order) {
      if (value != std::exchange(last, value)) {
        rows.push_back(0);
        squares.push_back(0);
        sums.resize(sums.size() + width);
        if (AreTooMany()) {
          return;
        }
      }
      const double answer = answers.labels.empty() ? answers.numbers[i] : 1;
      rows.back() += 1;
      squares.back() += answer * answer;
      sums[sums.size() - width + (answers.labels.empty() ? 0 : static_cast<size_t>(answers.labels[i]))] += answer;
    }
  }

  bool AreTooMany() const { return std::ssize(sums) > kMostSums; }
  size_t count() const { return rows.size(); }
  bool Counts(size_t value) const { return rows[value] >= kRowsOfValue; }
  const double* SumsOf(size_t value) const { return &sums[value * width]; }

  // Squared errors of a value's rows: each is answered by (total - itself) / among.
  double ErrorOf(size_t value, const double* total, double among) const {
    const double* const own = SumsOf(value);
    const double both = std::inner_product(own, own + width, total, 0.0);
    const double size = std::inner_product(total, total + width, total, 0.0);
    const double grown = 1 + 1 / among;
    return squares[value] * grown * grown - 2 * grown * both / among + rows[value] * size / (among * among);
  }

  size_t width;
  std::vector<double> rows;
  std::vector<double> squares;
  std::vector<double> sums;
};

// Errors of the values that count, and their sum.
struct Errors {
  std::vector<double> of_value;
  double sum = std::numeric_limits<double>::infinity();
};

void Keep(std::vector<double> of_value, Errors& best) {
  if (const double sum = std::accumulate(of_value.begin(), of_value.end(), 0.0); sum < best.sum) {
    best = {std::move(of_value), sum};
  }
}

// Sums over a value and its neighbors, `reach` on each side.
class Windows {
 public:
  explicit Windows(const Values& values)
      : values_(values), rows_(values.count() + 1), sums_(values.width * (values.count() + 1)) {
    for (size_t v = 0; v < values.count(); ++v) {
      rows_[v + 1] = rows_[v] + values.rows[v];
      for (size_t c = 0; c < values.width; ++c) {
        sums_[(v + 1) * values.width + c] = sums_[v * values.width + c] + values.SumsOf(v)[c];
      }
    }
  }

  // Returns the rows, and writes the sums of their answers.
  double Around(size_t value, size_t reach, std::vector<double>& total) const {
    const size_t first = value - std::min(value, reach);
    const size_t end = std::min(values_.count(), value + reach + 1);
    for (size_t c = 0; c < values_.width; ++c) {
      total[c] = sums_[end * values_.width + c] - sums_[first * values_.width + c];
    }
    return rows_[end] - rows_[first];
  }

 private:
  const Values& values_;
  std::vector<double> rows_;
  std::vector<double> sums_;
};

// Errors of the values that count, answered by the best number of neighbors, and by their own rows beside those.
struct Compared {
  explicit Compared(const Values& values) {
    const Windows windows(values);
    size_t reach = 1;
    Try(values, windows, reach);
    while (reach < values.count()) {
      reach *= 2;
      Try(values, windows, reach);
    }
  }

  void Try(const Values& values, const Windows& windows, size_t reach) {
    constexpr double kTrusts[] = {2, 10, 50};  // rows that the neighbors count as, beside those of the value
    std::vector<double> total(values.width);
    std::vector<double> mixed(values.width);
    std::vector<double> of_window(values.count());
    std::vector<std::vector<double>> of_own(std::size(kTrusts), of_window);
    for (size_t v = 0; v < values.count(); ++v) {
      if (!values.Counts(v)) {
        continue;
      }
      const double among = windows.Around(v, reach, total);
      of_window[v] = values.ErrorOf(v, total.data(), among - 1);
      const double others = std::max(1.0, among - values.rows[v]);
      for (size_t t = 0; t < std::size(kTrusts); ++t) {
        std::transform(total.begin(), total.end(), values.SumsOf(v), mixed.begin(),
                       [&](double sum, double own) { return own + kTrusts[t] * (sum - own) / others; });
        of_own[t][v] = values.ErrorOf(v, mixed.data(), values.rows[v] - 1 + kTrusts[t]);
      }
    }
    Keep(std::move(of_window), by_neighbors);
    for (std::vector<double>& own : of_own) {
      Keep(std::move(own), by_value);
    }
  }

  Errors by_neighbors;
  Errors by_value;
};

bool NamesSomething(const Values& values) {
  int64_t many = 0;
  double rows = 0;
  double counted = 0;
  double variance = 0;  // times rows, of those that count
  std::vector<double> all(values.width);
  for (size_t v = 0; v < values.count(); ++v) {
    rows += values.rows[v];
    if (values.Counts(v)) {
      ++many;
      counted += values.rows[v];
      variance += values.squares[v];
      std::transform(all.begin(), all.end(), values.SumsOf(v), all.begin(), std::plus<>());
    }
  }
  if (many < kLeastValues || counted < kLeastShare * rows) {
    return false;
  }
  variance -= std::inner_product(all.begin(), all.end(), all.begin(), 0.0) / counted;
  const Compared errors(values);
  const double gain = errors.by_neighbors.sum - errors.by_value.sum;
  double sum = 0;  // of what has a mean of 0 by chance, powers of gains: a few large ones alone are not sure
  double squares = 0;
  for (size_t v = 0; v < values.count(); ++v) {
    const double less = errors.by_neighbors.of_value[v] - errors.by_value.of_value[v];
    const double power = std::copysign(std::pow(std::abs(less), 0.75), less);
    sum += power;
    squares += power * power;
  }
  return gain > 0 && gain >= kLeastGain * variance && sum >= kLeastSureness * std::sqrt(squares);
}

}  // namespace

bool HoldsCodes(const Column& column, std::span<const int64_t> rows) {
  return column.kind == ColumnKind::kNumber && !column.is_date &&
         std::ranges::all_of(rows, [&](int64_t row) { return column.IsMissing(row) || IsCode(column.Number(row)); });
}

std::vector<int64_t> ColumnsOfCodes(const Table& table, std::span<const int64_t> rows,
                                    std::span<const int64_t> positions, int64_t target, bool classes) {
  const Column& asked = table.columns[static_cast<size_t>(target)];
  if (!classes && asked.kind != ColumnKind::kNumber) {
    return {};
  }
  const Answers answers = AnswersOf(asked, rows, classes);
  const bool differ = classes || std::ranges::all_of(answers.numbers, [](double y) { return std::isfinite(y); });
  std::vector<char> found(positions.size());
  RunEach(UsualThreads(), differ ? std::ssize(positions) : 0, [&](int64_t index) {
    const auto j = static_cast<size_t>(index);
    const Column& column = table.columns[static_cast<size_t>(positions[j])];
    if (HoldsCodes(column, rows)) {
      const Values values(column, answers);
      found[j] = !values.AreTooMany() && NamesSomething(values) ? 1 : 0;
    }
    column.Release();
  });
  std::vector<int64_t> codes;
  for (size_t j = 0; j < positions.size(); ++j) {
    if (found[j] != 0) {
      codes.push_back(positions[j]);
    }
  }
  return codes;
}

}  // namespace lamina
