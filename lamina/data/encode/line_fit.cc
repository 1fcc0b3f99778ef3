// Normal equations, solved by Cholesky factors.
#include "lamina/data/encode/line_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lamina {
namespace {

constexpr double kRidge_a_row = 1e-6;

// The lower triangle of the sums of products of columns, one of ones being the last.
void AddProducts(const double* row, Matrix& squares) {
  for (int64_t a = 0; a < squares.rows(); ++a) {
    double* const sums = squares.Row<double>(a);
    for (int64_t b = 0; b <= a; ++b) {
      sums[b] += row[a] * row[b];
    }
  }
}

// The lower triangle becomes L with L L' as it was.
void Factorise(Matrix& squares) {
  for (int64_t a = 0; a < squares.rows(); ++a) {
    double* const row = squares.Row<double>(a);
    for (int64_t b = 0; b <= a; ++b) {
      const double* const other = squares.Row<double>(b);
      const double rest = row[b] - std::inner_product(row, row + b, other, 0.0);
      row[b] = a == b ? std::sqrt(rest) : rest / other[b];
    }
  }
}

// L L' w = p, in place.
void Solve(const Matrix& factor, double* p) {
  const int64_t n = factor.rows();
  for (int64_t a = 0; a < n; ++a) {
    const double* const row = factor.Row<double>(a);
    p[a] = (p[a] - std::inner_product(row, row + a, p, 0.0)) / row[a];
  }
  for (int64_t a = n - 1; a >= 0; --a) {
    p[a] /= factor.Row<double>(a)[a];
    for (int64_t b = 0; b < a; ++b) {
      p[b] -= factor.Row<double>(a)[b] * p[a];
    }
  }
}

}  // namespace

LineFit::LineFit(const Matrix& x, const Matrix& y, int64_t begin, int64_t step, std::optional<double> ridge)
    : weights_(y.cols(), x.cols() + 1, DType::kF64) {
  const int64_t columns = weights_.cols();
  Matrix squares(columns, columns, DType::kF64);
  std::vector<double> row(static_cast<size_t>(columns), 1.0);
  int64_t rows = 0;
  for (int64_t i = begin; i < x.rows(); i += step, ++rows) {
    std::copy_n(x.Row<double>(i), x.cols(), row.begin());
    AddProducts(row.data(), squares);
    for (int64_t k = 0; k < y.cols(); ++k) {
      const double target = y.Row<double>(i)[k];
      double* const sums = weights_.Row<double>(k);
      std::transform(row.begin(), row.end(), sums, sums, [&](double r, double sum) { return sum + r * target; });
    }
  }
  const double added = ridge.value_or(kRidge_a_row * static_cast<double>(std::max<int64_t>(1, rows)));
  for (int64_t a = 0; a < x.cols(); ++a) {
    squares.Row<double>(a)[a] += added;
  }
  Factorise(squares);
  for (int64_t k = 0; k < y.cols(); ++k) {
    Solve(squares, weights_.Row<double>(k));
  }
}

void LineFit::Answer(const double* x, double* y) const {
  const int64_t constant = weights_.cols() - 1;
  for (int64_t k = 0; k < weights_.rows(); ++k) {
    const double* const weights = weights_.Row<double>(k);
    y[k] = std::inner_product(weights, weights + constant, x, weights[constant]);
  }
}

Matrix SquaredErrorsOfHalves(const Matrix& x, const Matrix& y, std::optional<double> ridge) {
  Matrix errors(y.rows(), y.cols(), DType::kF64);
  for (int64_t half = 0; half < 2; ++half) {
    const LineFit other(x, y, 1 - half, 2, ridge);
    for (int64_t i = half; i < x.rows(); i += 2) {
      double* const row = errors.Row<double>(i);
      other.Answer(x.Row<double>(i), row);
      std::transform(row, row + y.cols(), y.Row<double>(i), row,
                     [](double answer, double target) { return (answer - target) * (answer - target); });
    }
  }
  return errors;
}

}  // namespace lamina
