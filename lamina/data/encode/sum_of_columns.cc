// Least squares by conjugate gradients, on two halves of the rows.
#include "lamina/data/encode/sum_of_columns.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/base/error.h"
#include "lamina/data/encode/column_encode.h"
#include "lamina/data/encode/input_encoder.h"

namespace lamina {
namespace {

constexpr int64_t kMostRows = 4000;
constexpr int64_t kMostColumns = 200;
constexpr int64_t kRowsAColumn = 4;
constexpr double kMuchLess = 0.5;      // of the squared error with limits
constexpr double kMostLeft = 0.25;     // of the target's variance
constexpr double kRidge_a_row = 1e-6;  // of columns with a variance of 1

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Rows of one half, every second one: x'x and x'y, with a column of ones.
struct Line {
  Line(const Matrix& x, const std::vector<double>& y, int64_t half) : columns(x.cols() + 1) {
    squares.assign(static_cast<size_t>(columns * columns), 0.0);
    products.assign(static_cast<size_t>(columns), 0.0);
    std::vector<double> row(static_cast<size_t>(columns), 1.0);
    for (int64_t i = half; i < x.rows(); i += 2) {
      std::copy_n(x.Row<double>(i), x.cols(), row.begin());
      for (size_t a = 0; a < row.size(); ++a) {
        products[a] += row[a] * y[static_cast<size_t>(i)];
        for (size_t b = 0; b < row.size(); ++b) {
          squares[a * row.size() + b] += row[a] * row[b];
        }
      }
    }
    for (size_t a = 0; a < row.size(); ++a) {
      squares[a * row.size() + a] += kRidge_a_row * static_cast<double>(x.rows());
    }
    Solve();
  }

  // Conjugate gradients (Hestenes and Stiefel 1952).
  void Solve() {
    weights.assign(products.size(), 0.0);
    std::vector<double> rest = products;
    std::vector<double> direction = rest;
    std::vector<double> along(rest.size());
    double size = Dot(rest, rest);
    const double enough = 1e-20 * size;
    for (size_t step = 0; step < 4 * rest.size() && size > enough; ++step) {
      for (size_t a = 0; a < along.size(); ++a) {
        along[a] = std::inner_product(direction.begin(), direction.end(), &squares[a * along.size()], 0.0);
      }
      const double far = size / Dot(direction, along);
      for (size_t a = 0; a < rest.size(); ++a) {
        weights[a] += far * direction[a];
        rest[a] -= far * along[a];
      }
      const double before = std::exchange(size, Dot(rest, rest));
      for (size_t a = 0; a < rest.size(); ++a) {
        direction[a] = rest[a] + size / before * direction[a];
      }
    }
  }

  double Answer(const double* x) const {
    return std::inner_product(weights.begin(), weights.end() - 1, x, weights.back());
  }

  int64_t columns;
  std::vector<double> squares;
  std::vector<double> products;
  std::vector<double> weights;
};

double SquaredError(const Matrix& x, const std::vector<double>& y) {
  double sum = 0;
  for (int64_t half = 0; half < 2; ++half) {
    const Line other(x, y, 1 - half);
    for (int64_t i = half; i < x.rows(); i += 2) {
      sum += std::pow(other.Answer(x.Row<double>(i)) - y[static_cast<size_t>(i)], 2);
    }
  }
  return sum;
}

Matrix Encoded(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions, Scaling scaling) {
  PreprocessOptions options;
  options.scaling = scaling;
  options.missing = MissingPolicy::kMean;
  options.missing_indicator = false;
  const InputEncoder encoder = InputEncoder::Fit(table, rows, positions, options);
  std::vector<const Column*> columns;
  std::ranges::transform(positions, std::back_inserter(columns),
                         [&](int64_t position) { return &table.columns[static_cast<size_t>(position)]; });
  Matrix x(std::ssize(rows), encoder.count(), DType::kF64);
  EncodeReport report;
  EncodeColumns(table, encoder.columns(), columns, rows, {options.missing, options.unseen}, x, report);
  return x;
}

}  // namespace

bool LimitsCutASum(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                   int64_t target) {
  const Column& answers = table.columns[static_cast<size_t>(target)];
  std::vector<int64_t> numbers;
  std::ranges::copy_if(positions, std::back_inserter(numbers), [&](int64_t position) {
    const Column& column = table.columns[static_cast<size_t>(position)];
    return column.kind == ColumnKind::kNumber && !column.is_date;
  });
  std::vector<int64_t> asked;
  std::vector<double> y;
  const auto count = std::min<int64_t>(std::ssize(rows), kMostRows);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rows[static_cast<size_t>(i * std::ssize(rows) / count)];
    if (!answers.IsMissing(row)) {
      asked.push_back(row);
      y.push_back(answers.Number(row));
    }
  }
  if (answers.kind != ColumnKind::kNumber || numbers.empty() || std::ssize(numbers) > kMostColumns ||
      kRowsAColumn * std::ssize(numbers) > std::ssize(asked)) {
    return false;
  }
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
  double spread = 0;
  for (double& number : y) {
    number -= mean;
    spread += number * number;
  }
  if (!(spread > 0) || !std::isfinite(spread)) {
    return false;
  }
  try {
    const double whole = SquaredError(Encoded(table, asked, numbers, Scaling::kStandardize), y);
    return whole <= kMostLeft * spread &&
           whole <= kMuchLess * SquaredError(Encoded(table, asked, numbers, Scaling::kRobust), y);
  } catch (const Error&) {  // a column has no value in the rows asked, or too large ones: limits stay
    return false;
  }
}

}  // namespace lamina
