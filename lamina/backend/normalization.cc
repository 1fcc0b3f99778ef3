// Loops over the rows of a few columns.
#include "lamina/backend/normalization.h"

#include <array>
#include <cmath>

namespace lamina {
namespace {

using ColumnSums = std::array<double, HostParts::kColumns>;

// Mean and variance (of the batch as a whole: divided by its rows) of columns [begin, begin + count).
template <class T>
void StatisticsOf(ConstMatrixView z, int64_t begin, int64_t count, ColumnSums& mean, ColumnSums& variance) {
  const auto rows = static_cast<double>(z.rows);
  mean.fill(0);
  variance.fill(0);
  for (int64_t i = 0; i < z.rows; ++i) {
    const T* row = z.Row<T>(i) + begin;
    for (int64_t j = 0; j < count; ++j) {
      mean[static_cast<size_t>(j)] += static_cast<double>(row[j]);
    }
  }
  for (double& sum : mean) {
    sum /= rows;
  }
  for (int64_t i = 0; i < z.rows; ++i) {
    const T* row = z.Row<T>(i) + begin;
    for (int64_t j = 0; j < count; ++j) {
      const double from_mean = static_cast<double>(row[j]) - mean[static_cast<size_t>(j)];
      variance[static_cast<size_t>(j)] += from_mean * from_mean;
    }
  }
  for (double& sum : variance) {
    sum /= rows;
  }
}

template <class T>
void ForwardColumns(const NormalizeForwardArgs& args, int64_t begin, int64_t count) {
  const int64_t rows = args.z.rows;
  const auto at = [begin](void* array) { return static_cast<T*>(array) + begin; };
  T* const gamma = at(args.arrays.gamma);
  T* const beta = at(args.arrays.beta);
  T* const running_mean = at(args.arrays.mean);
  T* const running_variance = at(args.arrays.variance);
  T* const inverse = at(args.inverse);
  ColumnSums mean;
  ColumnSums variance;
  if (rows > 1) {
    StatisticsOf<T>(args.z, begin, count, mean, variance);
  }
  std::array<T, HostParts::kColumns> centre;
  for (int64_t j = 0; j < count; ++j) {
    const auto column = static_cast<size_t>(j);
    if (rows == 1) {
      mean[column] = static_cast<double>(running_mean[j]);
      variance[column] = static_cast<double>(running_variance[j]);
    } else if (args.share > 0) {
      const double unbiased = variance[column] * static_cast<double>(rows) / static_cast<double>(rows - 1);
      const auto mean_before = static_cast<double>(running_mean[j]);
      const double before = std::sqrt(static_cast<double>(running_variance[j]) + kVarianceEpsilon);
      running_mean[j] += static_cast<T>(args.share * (mean[column] - static_cast<double>(running_mean[j])));
      running_variance[j] += static_cast<T>(args.share * (unbiased - static_cast<double>(running_variance[j])));
      if (args.keeps_answers) {
        const double factor = static_cast<double>(gamma[j]) / before;
        beta[j] += static_cast<T>(factor * (static_cast<double>(running_mean[j]) - mean_before));
        gamma[j] = static_cast<T>(factor * std::sqrt(static_cast<double>(running_variance[j]) + kVarianceEpsilon));
      }
    }
    const double deviation = std::sqrt(variance[column] + kVarianceEpsilon);
    centre[column] = static_cast<T>(mean[column]);
    inverse[j] = static_cast<T>(1 / deviation);
  }
  for (int64_t i = 0; i < rows; ++i) {
    T* z = args.z.Row<T>(i) + begin;
    T* a = args.a.Row<T>(i) + begin;
    T* y = args.y.empty() ? a : args.y.Row<T>(i) + begin;
    for (int64_t j = 0; j < count; ++j) {
      z[j] = (z[j] - centre[static_cast<size_t>(j)]) * inverse[j];
      y[j] = gamma[j] * z[j] + beta[j];
    }
    args.activation->Value(y, a, count);
  }
}

template <class T>
void BackwardColumns(const NormalizeBackwardArgs& args, int64_t begin, int64_t count) {
  const int64_t rows = args.delta.rows;
  ColumnSums sum{};
  ColumnSums product{};  // of delta and the normalized z
  for (int64_t i = 0; i < rows; ++i) {
    const T* z = args.z.Row<T>(i) + begin;
    const T* delta = args.delta.Row<T>(i) + begin;
    for (int64_t j = 0; j < count; ++j) {
      sum[static_cast<size_t>(j)] += static_cast<double>(delta[j]);
      product[static_cast<size_t>(j)] += static_cast<double>(delta[j]) * static_cast<double>(z[j]);
    }
  }
  const T* const gamma = static_cast<const T*>(args.gamma) + begin;
  const T* const inverse = static_cast<const T*>(args.inverse) + begin;
  std::array<T, HostParts::kColumns> factor;
  std::array<T, HostParts::kColumns> mean;
  std::array<T, HostParts::kColumns> slope;
  // Running statistics, those of one row, do not depend on it.
  const double share = rows == 1 ? 0 : 1 / static_cast<double>(rows);
  for (int64_t j = 0; j < count; ++j) {
    const auto column = static_cast<size_t>(j);
    static_cast<T*>(args.gamma_gradient)[begin + j] = static_cast<T>(product[column]);
    static_cast<T*>(args.beta_gradient)[begin + j] = static_cast<T>(sum[column]);
    factor[column] = gamma[j] * inverse[j];
    mean[column] = static_cast<T>(share * sum[column]);
    slope[column] = static_cast<T>(share * product[column]);
  }
  for (int64_t i = 0; i < rows; ++i) {
    const T* z = args.z.Row<T>(i) + begin;
    T* delta = args.delta.Row<T>(i) + begin;
    for (int64_t j = 0; j < count; ++j) {
      const auto column = static_cast<size_t>(j);
      delta[j] = factor[column] * (delta[j] - mean[column] - z[j] * slope[column]);
    }
  }
}

}  // namespace

void NormalizeForwardColumns(const NormalizeForwardArgs& args, int64_t begin, int64_t count) noexcept {
  DispatchFloat(args.z.dtype, [&]<class T>(T) { ForwardColumns<T>(args, begin, count); });
}

void NormalizeBackwardColumns(const NormalizeBackwardArgs& args, int64_t begin, int64_t count) noexcept {
  DispatchFloat(args.delta.dtype, [&]<class T>(T) { BackwardColumns<T>(args, begin, count); });
}

}  // namespace lamina
