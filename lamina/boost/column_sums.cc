// Pairs by the gains of trees; a row's sums are computed in f64 and rounded once.
#include "lamina/boost/column_sums.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace lamina {
namespace {

using Pair = std::pair<int64_t, int64_t>;

constexpr int64_t kLeastCuts = 15;         // of a column whose order says something
constexpr double kLeastDeviation = 1e-30;  // one over it is a weight in f32

bool CanBePaired(const BoostedTrees& trees, int64_t column) {
  return std::ssize(trees.bins.cuts[static_cast<size_t>(column)]) >= kLeastCuts;
}

void AddGains(const BoostedTrees& trees, const Tree& tree, std::map<Pair, double>& gains) {
  for (const TreeNode& above : tree) {
    if (above.column < 0 || !CanBePaired(trees, above.column)) {
      continue;
    }
    for (const int64_t place : {above.no, above.yes}) {
      const TreeNode& below = tree[static_cast<size_t>(place)];
      if (below.column >= 0 && below.column != above.column && CanBePaired(trees, below.column)) {
        gains[std::minmax(above.column, below.column)] += below.gain;
      }
    }
  }
}

struct Spread {
  double deviation = 0;
  double size = 0;  // of the largest number
};

Spread SpreadOf(const Matrix& x, int64_t column) {
  return DispatchFloat(x.dtype(), [&]<class T>(T) {
    double sum = 0;
    double squares = 0;
    Spread spread;
    for (int64_t i = 0; i < x.rows(); ++i) {
      const auto number = static_cast<double>(x.Row<T>(i)[column]);
      sum += number;
      spread.size = std::max(spread.size, std::abs(number));
    }
    const double mean = sum / static_cast<double>(x.rows());
    for (int64_t i = 0; i < x.rows(); ++i) {
      const double apart = static_cast<double>(x.Row<T>(i)[column]) - mean;
      squares += apart * apart;
    }
    spread.deviation = std::sqrt(squares / static_cast<double>(x.rows()));
    return spread;
  });
}

}  // namespace

std::vector<ColumnSum> SumsOfPairs(const BoostedTrees& trees, const Matrix& x, int64_t pairs) {
  std::map<Pair, double> gains;
  for (const Tree& tree : trees.trees) {
    AddGains(trees, tree, gains);
  }
  std::vector<std::pair<double, Pair>> by_gain;
  by_gain.reserve(gains.size());
  for (const auto& [pair, gain] : gains) {
    by_gain.emplace_back(-gain, pair);
  }
  std::sort(by_gain.begin(), by_gain.end());
  by_gain.resize(std::min(by_gain.size(), static_cast<size_t>(pairs)));
  std::vector<ColumnSum> sums;
  for (const auto& [gain, pair] : by_gain) {
    const Spread first = SpreadOf(x, pair.first);
    const Spread second = SpreadOf(x, pair.second);
    if (std::min(first.deviation, second.deviation) < kLeastDeviation ||
        std::max(first.deviation, second.deviation) > 1 / kLeastDeviation) {
      continue;
    }
    const double size = first.size / first.deviation + second.size / second.deviation;
    for (const double sign : {1, -1}) {
      sums.push_back({pair.first, pair.second, 1 / first.deviation, sign / second.deviation, size});
    }
  }
  return sums;
}

Matrix SumsOf(const Matrix& x, std::span<const ColumnSum> sums) {
  Matrix all(x.rows(), std::ssize(sums), x.dtype());
  DispatchFloat(x.dtype(), [&]<class T>(T) {
    const auto product = [](double weight, T number) {  // of the weight that the network has
      return static_cast<double>(static_cast<T>(weight)) * static_cast<double>(number);
    };
    for (int64_t i = 0; i < x.rows(); ++i) {
      const T* const row = x.Row<T>(i);
      std::ranges::transform(sums, all.Row<T>(i), [&](const ColumnSum& sum) {
        return static_cast<T>(product(sum.first_weight, row[sum.first]) + product(sum.second_weight, row[sum.second]));
      });
    }
  });
  return all;
}

std::vector<double> SurelyApart(std::span<const ColumnSum> sums, DType dtype) {
  const double epsilon =
      DispatchFloat(dtype, [](auto number) { return double{std::numeric_limits<decltype(number)>::epsilon()}; });
  std::vector<double> apart;
  std::ranges::transform(sums, std::back_inserter(apart),
                         [&](const ColumnSum& sum) { return 16 * sum.size * epsilon; });
  return apart;
}

}  // namespace lamina
