// The oracle: what layers, updates and losses must compute, as plain loops in double precision. Shares no
// code with the library on purpose; the formulas are written out again from their definitions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lamina::oracle {

/// A dense matrix of doubles.
struct Dense {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<double> values;

  Dense() = default;
  Dense(int64_t r, int64_t c, double value = 0) : rows(r), cols(c), values(static_cast<size_t>(r * c), value) {}
  double& at(int64_t i, int64_t j) { return values[static_cast<size_t>(i * cols + j)]; }
  double at(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * cols + j)]; }
};

/// A sum, and the sum of the absolute terms that its rounding error grows with.
struct Sums {
  Dense value;
  Dense magnitude;
};

/// z = x w^T + bias (empty: none).
inline Sums Forward(const Dense& x, const Dense& w, const Dense& bias) {
  Sums z{Dense(x.rows, w.rows), Dense(x.rows, w.rows)};
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < w.rows; ++j) {
      double sum = bias.values.empty() ? 0 : bias.at(0, j);
      double magnitude = std::abs(sum);
      for (int64_t k = 0; k < x.cols; ++k) {
        sum += x.at(i, k) * w.at(j, k);
        magnitude += std::abs(x.at(i, k) * w.at(j, k));
      }
      z.value.at(i, j) = sum;
      z.magnitude.at(i, j) = magnitude;
    }
  }
  return z;
}

/// delta w.
inline Sums InputGradient(const Dense& delta, const Dense& w) {
  Sums g{Dense(delta.rows, w.cols), Dense(delta.rows, w.cols)};
  for (int64_t i = 0; i < delta.rows; ++i) {
    for (int64_t j = 0; j < w.rows; ++j) {
      for (int64_t k = 0; k < w.cols; ++k) {
        g.value.at(i, k) += delta.at(i, j) * w.at(j, k);
        g.magnitude.at(i, k) += std::abs(delta.at(i, j) * w.at(j, k));
      }
    }
  }
  return g;
}

/// delta^T x.
inline Sums WeightGradient(const Dense& x, const Dense& delta) {
  Sums g{Dense(delta.cols, x.cols), Dense(delta.cols, x.cols)};
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < delta.cols; ++j) {
      for (int64_t k = 0; k < x.cols; ++k) {
        g.value.at(j, k) += delta.at(i, j) * x.at(i, k);
        g.magnitude.at(j, k) += std::abs(delta.at(i, j) * x.at(i, k));
      }
    }
  }
  return g;
}

/// Column sums of delta, as one row.
inline Sums BiasGradient(const Dense& delta) { return WeightGradient(Dense(delta.rows, 1, 1.0), delta); }

/// Value and derivative of an activation by its definition, given its name and parameters.
struct Curve {
  std::string name;
  std::vector<double> parameters;

  double Value(double z) const {
    if (name == "sigmoid") {
      return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
    }
    if (name == "bipolar_sigmoid") {
      return std::tanh(parameters[0] * (z - parameters[1]) / 2);
    }
    if (name == "tanh") {
      return std::tanh(z);
    }
    if (name == "relu") {
      return z > 0 || std::isnan(z) ? z : 0;
    }
    if (name == "leaky_relu") {
      return z > 0 ? z : parameters[0] * z;
    }
    if (name == "gelu") {
      return z / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (z + 0.044715 * std::pow(z, 3))));
    }
    if (name == "softsign") {
      return z / (1 + std::abs(z));
    }
    return z;
  }

  double Slope(double z) const {
    if (name == "sigmoid") {
      return Value(z) * Value(-z);
    }
    if (name == "bipolar_sigmoid") {
      return parameters[0] / 2 / std::pow(std::cosh(parameters[0] * (z - parameters[1]) / 2), 2);
    }
    if (name == "tanh") {
      return 1 / std::pow(std::cosh(z), 2);
    }
    if (name == "relu") {
      return z > 0 ? 1 : 0;
    }
    if (name == "leaky_relu") {
      return z > 0 ? 1 : parameters[0];
    }
    if (name == "gelu") {
      const double u = std::sqrt(2 / M_PI) * (z + 0.044715 * std::pow(z, 3));
      const double du = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * z * z);
      return (1 + std::tanh(u)) / 2 + z / 2 * du / std::pow(std::cosh(u), 2);
    }
    if (name == "softsign") {
      return 1 / std::pow(1 + std::abs(z), 2);
    }
    return 1;
  }

  /// |Value(z + e) - Value(z)| <= Steepness() |e|.
  double Steepness() const {
    if (name == "sigmoid") {
      return 0.25;
    }
    if (name == "bipolar_sigmoid") {
      return std::abs(parameters[0]) / 2;
    }
    return name == "leaky_relu" ? std::max(1.0, parameters[0]) : name == "gelu" ? 1.13 : 1.0;
  }
};

inline Dense Softmax(const Dense& z) {
  Dense a(z.rows, z.cols);
  for (int64_t i = 0; i < z.rows; ++i) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < z.cols; ++j) {
      largest = std::max(largest, z.at(i, j));
    }
    double sum = 0;
    for (int64_t j = 0; j < z.cols; ++j) {
      sum += a.at(i, j) = std::exp(z.at(i, j) - largest);
    }
    for (int64_t j = 0; j < z.cols; ++j) {
      a.at(i, j) /= sum;
    }
  }
  return a;
}

/// One optimiser step on one parameter.
struct Step {
  std::string kind;  // "sgd", "nesterov", "adam"
  double eta = 0, alpha = 0, lambda = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double t = 1;

  void Apply(double g, double* w, double* v, double* s) const {
    const double gradient = g + lambda * *w;
    if (kind == "adam") {
      *v = beta1 * *v + (1 - beta1) * gradient;
      *s = beta2 * *s + (1 - beta2) * gradient * gradient;
      const double mean = *v / (1 - std::pow(beta1, t));
      const double variance = *s / (1 - std::pow(beta2, t));
      *w -= eta * mean / (std::sqrt(variance) + epsilon);
      return;
    }
    *v = alpha * *v - eta * gradient;
    *w += kind == "nesterov" ? alpha * *v - eta * gradient : *v;
  }
};

/// Loss of one sample and its gradient with respect to z, the output activation included.
struct LossResult {
  double loss = 0;
  std::vector<double> delta;
};

/// `floor` bounds probabilities from below inside logarithms.
inline LossResult SampleLoss(const std::string& loss, const Curve& curve, const std::vector<double>& z,
                             const std::vector<double>& a, const std::vector<double>& y, double floor) {
  const size_t n = a.size();
  LossResult result{0, std::vector<double>(n)};
  std::vector<double> da(n);
  for (size_t j = 0; j < n; ++j) {
    if (loss == "mse") {
      result.loss += (y[j] - a[j]) * (y[j] - a[j]);
      da[j] = 2 * (a[j] - y[j]);
    } else {
      result.loss -= y[j] * std::log(std::max(floor, a[j]));
      if (loss == "binary_cross_entropy") {
        result.loss -= (1 - y[j]) * std::log(std::max(floor, 1 - a[j]));
      }
      result.delta[j] = a[j] - y[j];
    }
  }
  for (size_t j = 0; loss == "mse" && j < n; ++j) {
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
