// A row's values times the weights of their columns: loops that run along the neurons.
#include "lamina/nn/sparse_products.h"

#include <algorithm>

#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kTogether = 64;  // sums that stay in registers and the nearest cache
constexpr int64_t kAhead = 8;      // values whose weights are fetched early

template <class T>
void ForwardRow(SparseRow<T> row, const double* weights, int64_t outputs, T* sums) noexcept {
  for (int64_t first = 0; first < outputs; first += kTogether) {
    const int64_t count = std::min(kTogether, outputs - first);
    double sum[kTogether] = {};
    for (int64_t at = 0; at < row.count; ++at) {
      if (at + kAhead < row.count) {
        __builtin_prefetch(weights + row.columns[at + kAhead] * outputs + first);
      }
      const auto value = static_cast<double>(row.values[at]);
      const double* const of_column = weights + row.columns[at] * outputs + first;
      for (int64_t j = 0; j < count; ++j) {
        sum[j] += value * of_column[j];
      }
    }
    std::transform(sum, sum + count, sums + first, [](double x) { return static_cast<T>(x); });
  }
}

// Adds what one row gives the weights of neurons [first, first + count).
template <class T>
void AddRow(SparseRow<T> row, const T* delta, double scale, double* gradient, int64_t outputs, int64_t first,
            int64_t count) noexcept {
  for (int64_t at = 0; at < row.count; ++at) {
    if (at + kAhead < row.count) {
      __builtin_prefetch(gradient + row.columns[at + kAhead] * outputs + first, 1);
    }
    const double value = scale * static_cast<double>(row.values[at]);
    double* const of_column = gradient + row.columns[at] * outputs + first;
    for (int64_t j = 0; j < count; ++j) {
      of_column[j] += value * static_cast<double>(delta[first + j]);
    }
  }
}

}  // namespace

void SparseForward(const SparseRows& rows, int64_t begin, ConstMatrixView weights, MatrixView sums,
                   int threads) noexcept {
  DispatchFloat(rows.dtype(), [&]<class T>(T) {
    const auto* const all = static_cast<const double*>(weights.data);
    RunParts(threads, sums.rows, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        ForwardRow(rows.Row<T>(begin + i), all, weights.cols, sums.Row<T>(i));
      }
    });
  });
}

// Threads have neurons of their own, whole cache lines of them.
void SparseGradient(const SparseRows& rows, int64_t begin, ConstMatrixView delta, double scale, MatrixView gradient,
                    int threads) noexcept {
  constexpr int64_t kLine = 8;
  const int64_t outputs = gradient.cols;
  const int64_t lines = (outputs + kLine - 1) / kLine;
  DispatchFloat(rows.dtype(), [&]<class T>(T) {
    auto* const all = static_cast<double*>(gradient.data);
    RunParts(threads, lines, [&](int64_t first_line, int64_t last_line) {
      const int64_t first = first_line * kLine;
      const int64_t count = std::min(outputs, last_line * kLine) - first;
      for (int64_t i = 0; i < delta.rows; ++i) {
        AddRow(rows.Row<T>(begin + i), delta.Row<T>(i), scale, all, outputs, first, count);
      }
    });
  });
}

}  // namespace lamina
