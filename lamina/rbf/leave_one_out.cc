// Tridiagonal form, and errors of rows left out.
#include "lamina/rbf/leave_one_out.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/rbf/ridge.h"

namespace lamina {
namespace {

double DotOf(const double* a, const double* b, int64_t n) {
  constexpr int64_t kLanes = 8;
  std::array<double, kLanes> sums{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<size_t>(lane)] += a[i + lane] * b[i + lane];
    }
  }
  double sum = 0;
  for (; i < n; ++i) {
    sum += a[i] * b[i];
  }
  for (const double lane : sums) {
    sum += lane;
  }
  return sum;
}

// Makes x[0..n) the unit vector v of the reflection I - 2 v v' that turns it into (result, 0, ...). All zeros: none.
double Reflection(double* x, int64_t n) {
  const double norm = std::sqrt(DotOf(x, x, n));
  if (norm == 0) {
    return 0;
  }
  const double result = x[0] > 0 ? -norm : norm;
  x[0] -= result;
  const double length = std::sqrt(DotOf(x, x, n));
  std::transform(x, x + n, x, [length](double value) { return value / length; });
  return result;
}

void Transpose(const Matrix& from, Matrix& to) {
  constexpr int64_t kTile = 64;
  for (int64_t i = 0; i < from.rows(); i += kTile) {
    for (int64_t j = 0; j < from.cols(); j += kTile) {
      for (int64_t k = i; k < std::min(i + kTile, from.rows()); ++k) {
        for (int64_t l = j; l < std::min(j + kTile, from.cols()); ++l) {
          to.Row<double>(l)[k] = from.Row<double>(k)[l];
        }
      }
    }
  }
}

}  // namespace

Tridiagonal::Tridiagonal(Matrix a, int threads) {
  const int64_t n = a.rows();
  std::vector<double> product(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    diagonal_.push_back(a.Row<double>(k)[k]);
    const int64_t left = n - k - 1;
    if (left == 0) {
      break;
    }
    double* const v = a.Row<double>(k) + k + 1;  // stays there: the row is done with
    if (left == 1) {
      beside_.push_back(v[0]);
      v[0] = 0;
      continue;
    }
    beside_.push_back(Reflection(v, left));
    RunParts(threads, left, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        product[static_cast<size_t>(i)] = DotOf(a.Row<double>(k + 1 + i) + k + 1, v, left);
      }
    });
    const double share = DotOf(product.data(), v, left);
    for (int64_t i = 0; i < left; ++i) {
      product[static_cast<size_t>(i)] = 2 * (product[static_cast<size_t>(i)] - share * v[i]);
    }
    RunParts(threads, left, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        double* const row = a.Row<double>(k + 1 + i) + k + 1;
        const double of_v = v[i];
        const double of_product = product[static_cast<size_t>(i)];
        for (int64_t j = 0; j < left; ++j) {
          row[j] -= of_v * product[static_cast<size_t>(j)] + of_product * v[j];
        }
      }
    });
    StopPoint();
  }
  // Q, the product of all reflections, from the last one on.
  Matrix q(n, n, DType::kF64);
  for (int64_t i = 0; i < n; ++i) {
    q.Row<double>(i)[i] = 1;
  }
  for (int64_t k = n - 3; k >= 0; --k) {
    const double* const v = a.Row<double>(k) + k + 1;
    const int64_t left = n - k - 1;
    RunParts(threads, left, [&](int64_t first, int64_t last) {  // of the columns
      double* const sums = product.data();
      std::fill(sums + first, sums + last, 0.0);
      for (int64_t i = 0; i < left; ++i) {
        const double* const row = q.Row<double>(k + 1 + i) + k + 1;
        for (int64_t j = first; j < last; ++j) {
          sums[j] += v[i] * row[j];
        }
      }
      for (int64_t i = 0; i < left; ++i) {
        double* const row = q.Row<double>(k + 1 + i) + k + 1;
        for (int64_t j = first; j < last; ++j) {
          row[j] -= 2 * v[i] * sums[j];
        }
      }
    });
    StopPoint();
  }
  basis_ = std::move(a);
  Transpose(q, basis_);
}

Tridiagonal::Shifted Tridiagonal::WithRidge(double ridge) const {
  Shifted shifted;
  double pivot = diagonal_[0] + ridge;
  shifted.positive = pivot > 0;
  shifted.pivots.push_back(pivot);
  for (size_t k = 0; k < beside_.size(); ++k) {
    shifted.factors.push_back(beside_[k] / pivot);
    pivot = diagonal_[k + 1] + ridge - shifted.factors[k] * beside_[k];
    shifted.positive = shifted.positive && pivot > 0;
    shifted.pivots.push_back(pivot);
  }
  return shifted;
}

void Tridiagonal::Shifted::Solve(double* x, int64_t count) const {
  for (size_t k = 0; k < factors.size(); ++k) {
    double* const row = x + static_cast<int64_t>(k) * count;
    for (int64_t c = 0; c < count; ++c) {
      row[count + c] -= factors[k] * row[c];
    }
  }
  for (size_t k = pivots.size(); k-- > 0;) {
    double* const row = x + static_cast<int64_t>(k) * count;
    for (int64_t c = 0; c < count; ++c) {
      row[c] = row[c] / pivots[k] - (k < factors.size() ? factors[k] * row[count + c] : 0);
    }
  }
}

int64_t BestRidge(const Tridiagonal& a, ConstMatrixView b, ConstMatrixView h, ConstMatrixView targets,
                  const std::vector<double>& ridges, const Backend& backend) {
  const int64_t n = a.size();
  const int64_t outputs = b.cols;
  Matrix turned(h.rows, n, DType::kF64);
  MultiplyTransposed(h, a.basis().view(), turned.view(), backend);
  std::vector<double> turned_b(static_cast<size_t>(n * outputs));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double factor = a.basis().Row<double>(i)[j];
      for (int64_t k = 0; k < outputs; ++k) {
        turned_b[static_cast<size_t>(i * outputs + k)] += factor * b.Row<double>(j)[k];
      }
    }
    StopPoint();
  }
  int64_t best = -1;
  double least = INFINITY;
  std::vector<double> errors(static_cast<size_t>(h.rows));
  for (size_t r = 0; r < ridges.size(); ++r) {
    const Tridiagonal::Shifted shifted = a.WithRidge(ridges[r]);
    if (!shifted.positive) {
      continue;
    }
    std::vector<double> weights = turned_b;
    shifted.Solve(weights.data(), outputs);
    RunParts(backend.threads(), h.rows, [&](int64_t first, int64_t last) {
      std::vector<double> solved(static_cast<size_t>(n));
      for (int64_t i = first; i < last; ++i) {
        const double* const row = turned.Row<double>(i);
        std::copy_n(row, n, solved.data());
        shifted.Solve(solved.data(), 1);
        const double kept = 1 - DotOf(row, solved.data(), n);
        double error = 0;
        for (int64_t k = 0; k < outputs; ++k) {
          double answer = 0;
          for (int64_t j = 0; j < n; ++j) {
            answer += row[j] * weights[static_cast<size_t>(j * outputs + k)];
          }
          error += std::pow((targets.Row<double>(i)[k] - answer) / kept, 2);
        }
        errors[static_cast<size_t>(i)] = error;
      }
    });
    StopPoint();
    double sum = 0;
    for (const double error : errors) {
      sum += error;
    }
    if (sum < least) {
      least = sum;
      best = static_cast<int64_t>(r);
    }
  }
  return best;
}

int64_t BestRidgeOfRows(const Tridiagonal& a, ConstMatrixView targets, const std::vector<double>& ridges) {
  const int64_t n = a.size();
  const int64_t outputs = targets.cols;
  std::vector<double> turned(static_cast<size_t>(n * outputs));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < outputs; ++k) {
        turned[static_cast<size_t>(i * outputs + k)] += a.basis().Row<double>(i)[j] * targets.Row<double>(j)[k];
      }
    }
    StopPoint();
  }
  int64_t best = -1;
  double least = INFINITY;
  std::vector<double> column(static_cast<size_t>(n));
  for (size_t r = 0; r < ridges.size(); ++r) {
    const Tridiagonal::Shifted shifted = a.WithRidge(ridges[r]);
    if (!shifted.positive) {
      continue;
    }
    std::vector<double> solved = turned;
    shifted.Solve(solved.data(), outputs);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      std::vector<double> own(static_cast<size_t>(n));
      std::vector<double> answers(static_cast<size_t>(outputs));
      for (int64_t j = 0; j < n; ++j) {
        own[static_cast<size_t>(j)] = column[static_cast<size_t>(j)] = a.basis().Row<double>(j)[i];
        for (int64_t k = 0; k < outputs; ++k) {
          answers[static_cast<size_t>(k)] +=
              column[static_cast<size_t>(j)] * solved[static_cast<size_t>(j * outputs + k)];
        }
      }
      shifted.Solve(own.data(), 1);
      const double inverse = DotOf(column.data(), own.data(), n);
      for (const double answer : answers) {
        sum += std::pow(answer / inverse, 2);
      }
      StopPoint();
    }
    if (sum < least) {
      least = sum;
      best = static_cast<int64_t>(r);
    }
  }
  return best;
}

}  // namespace lamina
