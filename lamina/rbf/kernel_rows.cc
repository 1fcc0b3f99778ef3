// Weighed rows, the median of their distances, slopes along columns.
#include "lamina/rbf/kernel_rows.h"

#include <algorithm>

#include "lamina/base/team.h"
#include "lamina/rbf/kernel_solver.h"

namespace lamina {
namespace {

constexpr int64_t kMostOfMedian = int64_t{1} << 15;
constexpr auto kDoubleBytes = static_cast<int64_t>(sizeof(double));

}  // namespace

void WeighRow(const double* row, std::span<const double> weights, int64_t columns, double* out) {
  if (std::ssize(weights) == columns) {
    for (int64_t j = 0; j < columns; ++j) {
      out[j] = row[j] * weights[static_cast<size_t>(j)];
    }
    return;
  }
  std::fill_n(out, columns, 0.0);
  for (int64_t j = 0; j < columns; ++j) {
    const double* const of_column = &weights[static_cast<size_t>(j * columns)];
    for (int64_t k = 0; k < columns; ++k) {
      out[k] += row[j] * of_column[k];
    }
  }
}

KernelRows::KernelRows(ConstMatrixView x, std::span<const double> weights, int p, int threads)
    : rows_(x.rows),
      width_(x.cols),
      stride_(KernelSolver::StrideOf(x.rows)),
      p_(p),
      by_row_(std::max<int64_t>(1, rows_ * width_) * kDoubleBytes),
      by_column_(std::max<int64_t>(1, width_ * stride_) * kDoubleBytes) {
  RunParts(threads, rows_, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double* const row = by_row_.As<double>().data() + i * width_;
      WeighRow(x.Row<double>(i), weights, width_, row);
      for (int64_t j = 0; j < width_; ++j) {
        by_column_.As<double>()[static_cast<size_t>(j * stride_ + i)] = row[j];
      }
    }
  });
}

void KernelRows::Distances(int64_t i, int64_t count, double* out) const {
  cpu::SymmetricKernels().distances(Row(i), columns(), count, p_, out);
}

void KernelRows::PanelOfDistances(int64_t p, double* out) const {
  cpu::ColumnRows panel = columns();
  panel.columns += p * cpu::kPanelRows;
  const int64_t end = std::min(rows_, (p + 1) * cpu::kPanelRows);
  for (int64_t j = 0; j < end; ++j) {
    cpu::SymmetricKernels().distances(Row(j), panel, cpu::kPanelRows, p_, out + j * cpu::kPanelRows);
  }
}

double MedianDistance(std::span<const int64_t> rows, const std::function<double(int64_t, int64_t)>& between) {
  const int64_t pairs = std::ssize(rows) * (std::ssize(rows) - 1) / 2;
  const int64_t step = std::max<int64_t>(1, pairs / kMostOfMedian);
  std::vector<double> positive;
  positive.reserve(static_cast<size_t>(pairs / step + 1));
  int64_t skip = 0;
  for (int64_t i = 1; i < std::ssize(rows); ++i) {
    int64_t j = skip;
    for (; j < i; j += step) {
      const double found = between(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(j)]);
      if (found > 0) {
        positive.push_back(found);
      }
    }
    skip = j - i;
  }
  if (positive.empty()) {
    return 1;
  }
  const auto middle = positive.begin() + std::ssize(positive) / 2;
  std::nth_element(positive.begin(), middle, positive.end());
  if (std::ssize(positive) % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(positive.begin(), middle)) / 2;
}

}  // namespace lamina
