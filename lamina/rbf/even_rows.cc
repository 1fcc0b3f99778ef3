// Copies of rows.
#include "lamina/rbf/even_rows.h"

#include <algorithm>
#include <cstring>

#include "lamina/base/convert.h"

namespace lamina {
namespace {

template <class T>
std::vector<T> ChosenOf(const std::vector<T>& values, const std::vector<int64_t>& which) {
  std::vector<T> chosen;
  if (!values.empty()) {
    std::transform(which.begin(), which.end(), std::back_inserter(chosen),
                   [&](int64_t row) { return values[static_cast<size_t>(row)]; });
  }
  return chosen;
}

}  // namespace

Matrix ChosenRows(ConstMatrixView rows, const std::vector<int64_t>& which) {
  Matrix chosen(std::ssize(which), rows.cols, rows.dtype);
  const auto row_bytes = static_cast<size_t>(rows.cols * DTypeSize_bytes(rows.dtype));
  for (int64_t i = 0; i < chosen.rows(); ++i) {
    std::memcpy(chosen.view().Rows(i, 1).data, rows.Rows(which[static_cast<size_t>(i)], 1).data, row_bytes);
  }
  return chosen;
}

Dataset ChosenRows(const Dataset& data, const std::vector<int64_t>& which) {
  Dataset chosen;
  chosen.features = ChosenRows(data.features.view(), which);
  chosen.targets = ChosenRows(data.targets.view(), which);
  chosen.labels = ChosenOf(data.labels, which);
  chosen.rows = ChosenOf(data.rows, which);
  chosen.sample_weights = ChosenOf(data.sample_weights, which);
  chosen.groups = ChosenOf(data.groups, which);
  chosen.times = ChosenOf(data.times, which);
  chosen.baseline = ChosenOf(data.baseline, which);
  return chosen;
}

std::vector<int64_t> EvenPlaces(int64_t rows, int64_t count) {
  std::vector<int64_t> which;
  for (int64_t i = 0; i < count; ++i) {
    which.push_back(i * rows / count);
  }
  return which;
}

Dataset EvenRows(const Dataset& data, int64_t most) {
  return ChosenRows(data, EvenPlaces(data.size(), std::min(most, data.size())));
}

Dataset RowsOfBoth(const Dataset& a, const Dataset& b) {
  const auto joined = [](const Matrix& first, const Matrix& second) {
    Matrix both(first.rows() + second.rows(), first.cols(), first.dtype());
    ConvertMatrix(first.view(), both.view().Rows(0, first.rows()));
    ConvertMatrix(second.view(), both.view().Rows(first.rows(), second.rows()));
    return both;
  };
  Dataset both;
  both.features = joined(a.features, b.features);
  both.targets = joined(a.targets, b.targets);
  return both;
}

std::pair<Dataset, Dataset> WithoutEvery(int64_t n, const Dataset& data) {
  std::vector<int64_t> every;
  std::vector<int64_t> others;
  for (int64_t i = 0; i < data.size(); ++i) {
    (i % n == n - 1 ? every : others).push_back(i);
  }
  return {ChosenRows(data, every), ChosenRows(data, others)};
}

}  // namespace lamina
