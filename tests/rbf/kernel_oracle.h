// Kernels and systems in plain loops, and small tables for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/base/random.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

using Table2 = std::vector<std::vector<double>>;

// x with a x = b, by elimination with pivots.
inline Table2 SolvedByElimination(Table2 a, Table2 b) {
  const size_t n = a.size();
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i) {
      pivot = std::abs(a[i][k]) > std::abs(a[pivot][k]) ? i : pivot;
    }
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (size_t i = 0; i < n; ++i) {
      const double factor = i == k ? 0 : a[i][k] / a[k][k];
      for (size_t j = 0; factor != 0 && j < n; ++j) {
        a[i][j] -= factor * a[k][j];
      }
      for (size_t j = 0; j < b[i].size(); ++j) {
        b[i][j] -= factor * b[k][j];
      }
    }
  }
  for (size_t k = 0; k < n; ++k) {
    for (double& value : b[k]) {
      value /= a[k][k];
    }
  }
  return b;
}

inline double KernelOf(const std::vector<double>& x, const std::vector<double>& z, const std::vector<double>& s, int p,
                       double power, double scale) {
  double sum = 0;
  for (size_t j = 0; j < x.size(); ++j) {
    const double difference = std::abs(s[j] * (x[j] - z[j]));
    sum += p == 1 ? difference : difference * difference;
  }
  return std::exp(-std::pow((p == 1 ? sum : std::sqrt(sum)) / scale, power));
}

inline Table2 RandomTable(size_t rows, size_t columns, uint64_t seed) {
  Random random(seed);
  Table2 table(rows, std::vector<double>(columns));
  for (std::vector<double>& row : table) {
    for (double& value : row) {
      value = random.Uniform(-2, 2);
    }
  }
  return table;
}

inline Matrix AsMatrix(const Table2& table) {
  Matrix matrix(std::ssize(table), std::ssize(table.front()), DType::kF64);
  for (size_t i = 0; i < table.size(); ++i) {
    std::copy(table[i].begin(), table[i].end(), matrix.Row<double>(static_cast<int64_t>(i)));
  }
  return matrix;
}

// y of two outputs, smooth and noisy.
inline Table2 TargetsFor(const Table2& x, uint64_t seed) {
  Random random(seed);
  Table2 y;
  for (const std::vector<double>& row : x) {
    y.push_back({std::sin(2 * row[0]) + random.Uniform(-0.2, 0.2), row[1] * row[0] + random.Uniform(-0.2, 0.2)});
  }
  return y;
}

// One system: kind, scale and ridge are given.
inline KernelMachineOptions Fixed(const KernelKind& kind, double relative, double ridge,
                                  std::vector<double> weights = {}) {
  KernelMachineOptions options;
  options.choices.kinds = {kind};
  options.choices.scales = {relative};
  options.choices.ridges = {ridge};
  options.choices.rounds = 0;
  options.feature_weights = std::move(weights);
  return options;
}

struct Case {
  KernelKind kind;
  double relative;
  double ridge;
};
inline const Case kCases[] = {
    {{1, 1.0}, 1.0, 0.01}, {{2, 1.0}, 3.0, 1e-3}, {{2, 1.4}, 1.0, 0.1}, {{1, 0.7}, 0.3, 1.0}, {{2, 2.0}, 1.0, 0.01}};

// Answers for row `asked` by all rows that `teaches` says.
inline std::vector<double> AnswerWithout(const Table2& x, const Table2& y, const std::vector<double>& s, const Case& c,
                                         double scale, size_t asked, const std::vector<double>& sample_weights,
                                         const std::function<bool(size_t)>& teaches) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < x.size(); ++i) {
    if (teaches(i)) {
      rows.push_back(i);
    }
  }
  Table2 a(rows.size(), std::vector<double>(rows.size()));
  Table2 b;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < rows.size(); ++j) {
      a[i][j] = KernelOf(x[rows[i]], x[rows[j]], s, c.kind.p, c.kind.power, scale);
    }
    a[i][i] += c.ridge / (sample_weights.empty() ? 1 : sample_weights[rows[i]]);
    b.push_back(y[rows[i]]);
  }
  const Table2 alpha = SolvedByElimination(a, b);
  std::vector<double> answer(y.front().size());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t k = 0; k < answer.size(); ++k) {
      answer[k] += KernelOf(x[asked], x[rows[i]], s, c.kind.p, c.kind.power, scale) * alpha[i][k];
    }
  }
  return answer;
}

}  // namespace lamina
