// One test a column, and how many of those that pass are chance.
#include "lamina/data/encode/telling_columns.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

constexpr double kFalseDiscoveries = 0.1;

// The continued fraction of the incomplete beta function (Lentz's method; Press et al., Numerical Recipes, 6.4).
double BetaFraction(double a, double b, double x) {
  constexpr int kMostTerms = 300;
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-14;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1) < kEnough) {
      break;
    }
  }
  return fraction;
}

// The regularized incomplete beta function I_x(a, b).
double BetaShare(double a, double b, double x) {
  if (x <= 0 || x >= 1) {
    return x <= 0 ? 0 : 1;
  }
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * BetaFraction(a, b, x) / a : 1 - front * BetaFraction(b, a, 1 - x) / b;
}

struct Sums {
  double count = 0;
  double sum = 0;
};

// Tests the means of classes: how far apart they are against the spread within.
double TestClasses(const Column& column, std::span<const int64_t> rows, std::span<const int32_t> labels,
                   size_t class_count) {
  std::vector<Sums> classes(class_count);
  Sums all;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double value = column.Number(rows[i]);
    if (labels[i] >= 0 && !std::isnan(value)) {
      Sums& of_class = classes[static_cast<size_t>(labels[i])];
      of_class.count += 1;
      of_class.sum += value;
      all.count += 1;
      all.sum += value;
    }
  }
  double between = 0;
  double groups = 0;
  for (const Sums& of_class : classes) {
    if (of_class.count > 0) {
      const double apart = of_class.sum / of_class.count - all.sum / all.count;
      between += of_class.count * apart * apart;
      groups += 1;
    }
  }
  double within = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double value = column.Number(rows[i]);
    if (labels[i] >= 0 && !std::isnan(value)) {
      const Sums& of_class = classes[static_cast<size_t>(labels[i])];
      const double apart = value - of_class.sum / of_class.count;
      within += apart * apart;
    }
  }
  const double below = all.count - groups;
  return groups < 2 || below < 1 ? 1 : FTestP(between / (groups - 1) / (within / below), groups - 1, below);
}

// Tests a line through the numbers: what it explains against the rest.
double TestNumbers(const Column& column, std::span<const int64_t> rows, const Column& target) {
  Sums x;
  double y_sum = 0;
  for (const int64_t row : rows) {
    if (!column.IsMissing(row) && !target.IsMissing(row)) {
      x.count += 1;
      x.sum += column.Number(row);
      y_sum += target.Number(row);
    }
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const int64_t row : rows) {
    if (!column.IsMissing(row) && !target.IsMissing(row)) {
      const double dx = column.Number(row) - x.sum / x.count;
      const double dy = target.Number(row) - y_sum / x.count;
      xx += dx * dx;
      xy += dx * dy;
      yy += dy * dy;
    }
  }
  const double explained = xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
  return x.count < 3 ? 1 : FTestP(explained * (x.count - 2) / (1 - explained), 1, x.count - 2);
}

}  // namespace

double FTestP(double f, double above, double below) {
  if (std::isnan(f)) {  // 0 of 0
    return 1;
  }
  return std::isinf(f) ? 0 : BetaShare(below / 2, above / 2, below / (below + above * f));
}

std::vector<int64_t> ColumnsThatTellNothing(const Table& table, std::span<const int64_t> rows,
                                            std::span<const int64_t> positions, int64_t target, bool classes) {
  const Column& answers = table.columns[static_cast<size_t>(target)];
  std::vector<int32_t> labels;
  size_t class_count = 0;
  if (classes) {
    const CategoryView view(answers, rows);
    class_count = view.names().size();
    std::transform(rows.begin(), rows.end(), std::back_inserter(labels), [&](int64_t row) { return view.Code(row); });
  }
  std::vector<std::pair<double, int64_t>> by_chance;  // probability, position
  for (const int64_t position : positions) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    if (column.kind == ColumnKind::kNumber) {
      by_chance.emplace_back(
          classes ? TestClasses(column, rows, labels, class_count) : TestNumbers(column, rows, answers), position);
      column.Release();
    }
  }
  std::sort(by_chance.begin(), by_chance.end());
  size_t passed = 0;
  for (size_t i = 0; i < by_chance.size(); ++i) {
    const double allowed = kFalseDiscoveries * static_cast<double>(i + 1) / static_cast<double>(by_chance.size());
    passed = by_chance[i].first <= allowed ? i + 1 : passed;
  }
  std::vector<int64_t> nothing;
  for (size_t i = passed; i < by_chance.size() && passed > 0; ++i) {
    nothing.push_back(by_chance[i].second);
  }
  return nothing;
}

}  // namespace lamina
