// Sums, units and classes of outputs.
#include "lamina/model/outputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/base/convert.h"

namespace lamina {

Matrix SumOfShares(std::span<const Matrix> answers, std::span<const double> shares) {
  const Matrix& first = answers.front();
  Matrix sums(first.rows(), first.cols(), first.dtype());
  DispatchFloat(first.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < first.rows(); ++i) {
      for (int64_t j = 0; j < first.cols(); ++j) {
        double sum = 0;
        for (size_t k = 0; k < answers.size(); ++k) {
          sum += shares[k] * static_cast<double>(answers[k].Row<T>(i)[j]);
        }
        sums.Row<T>(i)[j] = static_cast<T>(sum);
      }
    }
  });
  return sums;
}

void AddSoftmax(const double* logits, double temperature, double weight, std::span<double> sums) {
  const double largest = *std::max_element(logits, logits + sums.size());
  double total = 0;
  for (size_t c = 0; c < sums.size(); ++c) {
    total += std::exp((logits[c] - largest) / temperature);
  }
  for (size_t c = 0; c < sums.size(); ++c) {
    sums[c] += weight * std::exp((logits[c] - largest) / temperature) / total;
  }
}

Matrix SharesOfGates(const Matrix& gates) {
  Matrix shares(gates.rows(), gates.cols(), DType::kF64);
  ConvertMatrix(gates.view(), shares.view());
  for (int64_t i = 0; i < shares.rows(); ++i) {
    double* const row = shares.Row<double>(i);
    const double sum = std::accumulate(row, row + shares.cols(), 0.0);
    std::transform(row, row + shares.cols(), row, [&](double gate) { return gate / sum; });
  }
  return shares;
}

Matrix InTargetUnits(const Model& model, const Matrix& outputs) {
  Matrix numbers(outputs.rows(), outputs.cols(), DType::kF64);
  ConvertMatrix(outputs.view(), numbers.view());
  const TargetEncoder& targets = model.preprocessor.targets();
  if (targets.task() == Task::kRegression && !targets.columns().empty()) {  // none: a network that is fed as it is
    targets.Unscale(numbers.view());
  }
  return numbers;
}

int64_t FirstNotFinite(const Matrix& outputs) {
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    if (!std::all_of(row, row + outputs.cols(), [](double output) { return std::isfinite(output); })) {
      return i;
    }
  }
  return -1;
}

std::vector<int32_t> ClassesOf(const Model& model, const Matrix& outputs) {
  std::vector<int32_t> classes;
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    classes.push_back(
        model.preprocessor.targets().ClassOf({outputs.Row<double>(i), static_cast<size_t>(outputs.cols())}));
  }
  return classes;
}

}  // namespace lamina
