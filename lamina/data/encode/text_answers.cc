// Classes as 0 and 1, and numbers brought near to 0.
#include "lamina/data/encode/text_answers.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/fitted_column.h"

namespace lamina {
namespace {

constexpr double kSpanOfMiddleHalf = 1.349;  // of a normal distribution, in deviations

// In place: half of the values are nearer than about 2/3 to 0, and none is beyond 3.
void BringNear(std::vector<double>& values) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const auto at = [&](double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  const double middle = at(0.5);
  double spread = (at(0.75) - at(0.25)) / kSpanOfMiddleHalf;
  if (!(spread > 0)) {
    spread = (sorted.back() - sorted.front()) / 2;
  }
  for (double& value : values) {
    value = spread > 0 ? SmoothClip((value - middle) / spread) : 0;
  }
}

// A column of `matrix`, of mean 0.
void SetCentered(const std::vector<double>& values, Matrix& matrix, int64_t column) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    matrix.Row<double>(i)[column] = values[static_cast<size_t>(i)] - mean;
  }
}

}  // namespace

Matrix TextAnswers(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                   const TargetEncoder& targets) {
  Dataset dataset;
  dataset.rows.assign(rows.begin(), rows.end());
  dataset.features = Matrix(std::ssize(rows), 1, DType::kF64);
  std::vector<const Column*> columns;
  std::ranges::transform(positions, std::back_inserter(columns),
                         [&](int64_t position) { return &table.columns[static_cast<size_t>(position)]; });
  EncodeReport report;
  targets.Encode(table, columns, nullptr, UnseenPolicy::kZero, dataset, report);
  const bool classes = targets.task() == Task::kClassification;
  const int64_t of_two = classes && targets.class_names().size() == 2 ? 1 : 0;
  const int64_t scores = classes ? std::ssize(targets.class_names()) - of_two : dataset.targets.cols();
  Matrix answers(std::ssize(rows), scores, DType::kF64);
  for (int64_t k = 0; k < scores; ++k) {
    std::vector<double> values;
    for (int64_t i = 0; i < answers.rows(); ++i) {
      values.push_back(classes ? (dataset.labels[static_cast<size_t>(i)] == k + of_two ? 1 : 0)
                               : dataset.targets.Row<double>(i)[k]);
    }
    SetCentered(values, answers, k);
  }
  return answers;
}

Matrix NearAnswers(const Matrix& answers, const TargetEncoder& targets) {
  if (targets.task() == Task::kClassification) {
    return answers.Share();
  }
  Matrix near(answers.rows(), answers.cols(), DType::kF64);
  for (int64_t k = 0; k < answers.cols(); ++k) {
    std::vector<double> values;
    for (int64_t i = 0; i < answers.rows(); ++i) {
      values.push_back(answers.Row<double>(i)[k]);
    }
    BringNear(values);
    SetCentered(values, near, k);
  }
  return near;
}

}  // namespace lamina
