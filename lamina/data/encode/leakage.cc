// One column against the target at a time; hashes of rows.
#include "lamina/data/encode/leakage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "lamina/base/hardware.h"
#include "lamina/base/team.h"
#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

constexpr size_t kLeastJudged = 100;
constexpr size_t kMostJudged = 4000;
constexpr double kTellingShare = 0.995;    // of classes told right ...
constexpr double kTellingMistakes = 0.02;  // ... and mistakes against those of always naming the most frequent class
constexpr double kTellingRest = 1e-4;      // of 1 - R² of ranks, and what lies between n rows: 2 / n²

// Rows in turn for learning and for checking.
struct Halves {
  std::vector<size_t> learn;
  std::vector<size_t> check;
};

// 0 to 1, equal for ties: any rising function of a number has the same.
std::vector<double> Ranks01(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) {
      ++end;
    }
    for (size_t k = i; k < end; ++k) {
      ranks[order[k]] = static_cast<double>(i + end - 1) / 2 / static_cast<double>(order.size());
    }
    i = end;
  }
  return ranks;
}

// What the rows of one value of a column hold.
class Answer {
 public:
  void Add(double y, bool classes) {
    ++count_;
    sum_ += y;
    if (classes) {
      ++votes_[y];
    }
  }
  double mean() const { return sum_ / static_cast<double>(count_); }
  double most_frequent() const {
    return std::max_element(votes_.begin(), votes_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

 private:
  int64_t count_ = 0;
  double sum_ = 0;
  std::map<double, int64_t> votes_;
};

// What a column's values say about the target.
class ByColumn {
 public:
  ByColumn(const std::vector<double>& x, const std::vector<double>& y, const Halves& halves, bool classes, bool ordered)
      : classes_(classes), ordered_(ordered) {
    for (const size_t i : halves.learn) {
      all_.Add(y[i], classes);
      if (!std::isnan(x[i])) {
        by_value_[x[i]].Add(y[i], classes);
      }
    }
  }

  double Of(double x) const {
    const auto above = std::isnan(x) ? by_value_.end() : by_value_.lower_bound(x);
    if (above != by_value_.end() && above->first == x) {
      return Say(above->second);
    }
    if (!ordered_ || std::isnan(x) || by_value_.empty()) {
      return Say(all_);
    }
    if (above == by_value_.begin() || above == by_value_.end()) {
      return Say(above == by_value_.begin() ? above->second : std::prev(above)->second);
    }
    const auto below = std::prev(above);
    const double part = (x - below->first) / (above->first - below->first);
    if (classes_) {
      return Say(part < 0.5 ? below->second : above->second);
    }
    return (1 - part) * Say(below->second) + part * Say(above->second);
  }
  double most_frequent() const { return all_.most_frequent(); }

 private:
  double Say(const Answer& answer) const { return classes_ ? answer.most_frequent() : answer.mean(); }

  bool classes_;
  bool ordered_;
  Answer all_;
  std::map<double, Answer> by_value_;
};

// The share told right, or R²; 0 where it does not tell.
double FigureOf(const ByColumn& column, const std::vector<double>& x, const std::vector<double>& y,
                const Halves& halves, bool classes) {
  double mean = 0;
  for (const size_t i : halves.check) {
    mean += y[i] / static_cast<double>(halves.check.size());
  }
  double errors = 0;
  double total = 0;  // of guesses without the column
  for (const size_t i : halves.check) {
    const double difference = column.Of(x[i]) - y[i];
    errors += classes ? (difference != 0 ? 1 : 0) : difference * difference;
    total += classes ? (column.most_frequent() != y[i] ? 1 : 0) : (mean - y[i]) * (mean - y[i]);
  }
  if (!(total > 0)) {
    return 0;
  }
  if (!classes) {
    const double fit = 1 - errors / total;
    const auto learnt = static_cast<double>(halves.learn.size());
    return 1 - fit <= kTellingRest + 2 / (learnt * learnt) ? fit : 0;
  }
  const double right = 1 - errors / static_cast<double>(halves.check.size());
  return right >= kTellingShare && errors <= kTellingMistakes * total ? right : 0;
}

// A column's values, text as codes; NaN where missing.
std::vector<double> ValuesOf(const Column& column, std::span<const int64_t> rows) {
  std::vector<double> values;
  for (const int64_t row : rows) {
    values.push_back(column.IsMissing(row)              ? std::nan("")
                     : column.kind == ColumnKind::kText ? column.codes[static_cast<size_t>(row)]
                                                        : column.Number(row));
  }
  return values;
}

// Evenly spaced ones of `rows` that have the target.
std::vector<int64_t> Judged(const Column& target, std::span<const int64_t> rows) {
  const size_t step = std::max<size_t>(1, rows.size() / kMostJudged);
  std::vector<int64_t> judged;
  for (size_t i = 0; i < rows.size(); i += step) {
    if (!target.IsMissing(rows[i])) {
      judged.push_back(rows[i]);
    }
  }
  return judged;
}

template <class T>
uint64_t HashRow(const Dataset& data, int64_t row) {
  uint64_t hash = 0;
  const auto mix = [&](const Matrix& matrix) {
    for (int64_t j = 0; j < matrix.cols(); ++j) {
      const double value = static_cast<double>(matrix.Row<T>(row)[j]) + 0.0;  // one zero
      hash = (std::rotl(hash, 23) ^ std::bit_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15U;
    }
  };
  mix(data.features);
  mix(data.targets);
  return hash ^ (hash >> 29);
}

}  // namespace

std::vector<uint64_t> HashRows(const Dataset& data) {
  std::vector<uint64_t> hashes(static_cast<size_t>(data.size()));
  constexpr int64_t kRows = 1 << 16;  // that are in memory at once, where they come from files
  DispatchFloat(data.features.dtype(), [&]<class T>(T) {
    for (int64_t begin = 0; begin < data.size(); begin += kRows) {
      const int64_t end = std::min(data.size(), begin + kRows);
      const bool many = (end - begin) * data.features.cols() > (int64_t{1} << 18);
      RunParts(many ? UsualThreads() : 1, end - begin, [&](int64_t first, int64_t last) {
        for (int64_t i = begin + first; i < begin + last; ++i) {
          hashes[static_cast<size_t>(i)] = HashRow<T>(data, i);
        }
      });
      data.Release(begin, end - begin);
    }
  });
  return hashes;
}

std::vector<Leak> FindLeaks(const Table& table, std::span<const int64_t> rows, const Preprocessor& fitted) {
  const std::vector<FittedColumn>& targets = fitted.targets().columns();
  if (table.is_image || targets.size() != 1) {
    return {};
  }
  const Column& target = table.columns[static_cast<size_t>(targets[0].position)];
  const std::vector<int64_t> judged = Judged(target, rows);
  if (judged.size() < kLeastJudged) {
    return {};
  }
  const bool classes = fitted.targets().task() == Task::kClassification;
  const std::vector<double> y = classes ? ValuesOf(target, judged) : Ranks01(ValuesOf(target, judged));
  Halves halves;
  for (size_t i = 0; i < judged.size(); ++i) {
    (i % 2 == 0 ? halves.learn : halves.check).push_back(i);
  }
  const std::vector<FittedColumn>& inputs = fitted.inputs().columns();
  std::vector<double> figures(inputs.size());
  RunEach(UsualThreads(), std::ssize(inputs), [&](int64_t input) {
    const auto j = static_cast<size_t>(input);
    if (!fitted.derive().Makes(inputs[j].name)) {
      const Column& column = table.columns[static_cast<size_t>(inputs[j].position)];
      const std::vector<double> x = ValuesOf(column, judged);
      column.Release();
      const ByColumn by_column(x, y, halves, classes, column.kind == ColumnKind::kNumber);
      figures[j] = FigureOf(by_column, x, y, halves, classes);
    }
  });
  std::vector<Leak> leaks;
  for (size_t j = 0; j < inputs.size(); ++j) {
    if (figures[j] > 0) {
      leaks.push_back({inputs[j].name, figures[j]});
    }
  }
  return leaks;
}

int64_t RowsAlsoIn(const Dataset& part, std::vector<uint64_t> known) {
  constexpr size_t kCommon = 2;  // more often: columns have few values, or the file was put in four times
  const size_t count = known.size();
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  if (known.size() * kCommon < count) {
    return 0;
  }
  const std::vector<uint64_t> asked = HashRows(part);
  return std::count_if(asked.begin(), asked.end(),
                       [&](uint64_t hash) { return std::binary_search(known.begin(), known.end(), hash); });
}

}  // namespace lamina
