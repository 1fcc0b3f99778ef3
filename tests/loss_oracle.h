// Losses by their definitions, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/oracle.h"

namespace lamina::oracle {

/// Loss of one sample and its gradient with respect to z, the output activation included.
struct LossResult {
  double loss = 0;
  std::vector<double> delta;
};

/// `floor` bounds probabilities from below inside logarithms; `numbers` are the loss's parameters: huber's delta, the
/// levels of quantiles, the exponent of focal.
inline LossResult SampleLoss(const std::string& loss, const Curve& curve, const std::vector<double>& z,
                             const std::vector<double>& a, const std::vector<double>& y, double floor,
                             const std::vector<double>& numbers = {1}) {
  const double corner = loss == "huber" ? numbers[0] : 1;
  const size_t n = a.size();
  LossResult result{0, std::vector<double>(n)};
  std::vector<double> da(n);
  for (size_t j = 0; j < n; ++j) {
    if (loss == "mse") {
      result.loss += (y[j] - a[j]) * (y[j] - a[j]);
      da[j] = 2 * (a[j] - y[j]);
    } else if (loss == "mae" || loss == "huber") {
      const double distance = std::abs(a[j] - y[j]);
      const double sign = a[j] > y[j] ? 1 : a[j] < y[j] ? -1 : 0;
      const bool inside = loss == "huber" && distance <= corner;
      result.loss += inside ? distance * distance / 2 : loss == "mae" ? distance : corner * (distance - corner / 2);
      da[j] = inside ? a[j] - y[j] : loss == "mae" ? sign : corner * sign;
    } else if (loss == "quantile") {
      const double level = numbers[j % numbers.size()];
      result.loss += (y[j] > a[j] ? level : level - 1) * (y[j] - a[j]);
      da[j] = y[j] > a[j] ? -level : y[j] < a[j] ? 1 - level : 0;
    } else if (loss == "poisson") {
      result.loss += a[j] - y[j] * z[j];
      result.delta[j] = a[j] - y[j];
    } else if (loss == "gamma") {
      result.loss += z[j] + y[j] / a[j];
      result.delta[j] = 1 - y[j] / a[j];
    } else if (loss == "focal") {
      const double other = 1 - a[j];
      result.loss -= y[j] * std::pow(other, numbers[0]) * std::log(a[j]) +
                     (1 - y[j]) * std::pow(a[j], numbers[0]) * std::log(other);
      const double of_a =
          numbers[0] * std::pow(other, numbers[0] - 1) * std::log(a[j]) - std::pow(other, numbers[0]) / a[j];
      const double of_other =
          std::pow(a[j], numbers[0]) / other - numbers[0] * std::pow(a[j], numbers[0] - 1) * std::log(other);
      result.delta[j] = (y[j] * of_a + (1 - y[j]) * of_other) * a[j] * other;
    } else {
      result.loss -= y[j] * std::log(std::max(floor, a[j]));
      if (loss == "binary_cross_entropy") {
        result.loss -= (1 - y[j]) * std::log(std::max(floor, 1 - a[j]));
      }
      result.delta[j] = a[j] - y[j];
    }
  }
  const bool by_output = loss == "mse" || loss == "mae" || loss == "huber" || loss == "quantile";
  for (size_t j = 0; by_output && j < n; ++j) {
    if (curve.name != "softmax") {
      result.delta[j] = da[j] * curve.Slope(z[j]);
      continue;
    }
    for (size_t l = 0; l < n; ++l) {  // the full Jacobian
      result.delta[j] += da[l] * a[l] * ((l == j ? 1 : 0) - a[j]);
    }
  }
  return result;
}

}  // namespace lamina::oracle
