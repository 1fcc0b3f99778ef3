// The oracle: what layers, updates and losses must compute, as plain loops in double precision. Shares no
// code with the library on purpose; the formulas are written out again from their definitions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
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
  double* Row(int64_t i) { return values.data() + i * cols; }
  const double* Row(int64_t i) const { return values.data() + i * cols; }
};

/// A sum, and the sum of the absolute terms that its rounding error grows with.
struct Sums {
  Dense value;
  Dense magnitude;
};

/// A synapse by its definition, given its name.
class Synapse {
 public:
  Synapse(std::string_view name = "dot") : dot_(name == "dot"), l1_(name == "l1"), l2_(name == "l2") {}

  bool needs_result() const { return l2_; }
  /// Calls body(term): what one input adds to the sum.
  template <class Body>
  void Visit(const Body& body) const {
    if (dot_) {
      body([](double x, double w) { return x * w; });
    } else if (l1_) {
      body([](double x, double w) { return std::abs(x - w); });
    } else {
      body([](double x, double w) { return (x - w) * (x - w); });
    }
  }
  double Finish(double sum) const { return l2_ ? std::sqrt(sum) : sum; }
  /// Calls body(slope): derivative of the result by x, given x, w and the result. All are symmetric: that by w is
  /// slope(w, x, result).
  template <class Body>
  void VisitSlope(const Body& body) const {
    if (dot_) {
      body([](double, double w, double) { return w; });
    } else if (l1_) {
      body([](double x, double w, double) {
        return std::isnan(x - w) ? x - w : (x > w ? 1.0 : 0.0) - (x < w ? 1.0 : 0.0);
      });
    } else if (l2_) {
      body([](double x, double w, double result) { return result == 0 ? 0 * (x - w) : (x - w) / result; });
    } else {
      body([](double x, double w, double) { return 2 * (x - w); });
    }
  }

 private:
  bool dot_, l1_, l2_;  // else l2sq
};

// Row i of the sums over k, with w turned so that neighboring sums are added to in turn: most of the tests' time.
template <class Term>
[[gnu::optimize("O3")]] void AddTerms(const Term& term, const double* x, const Dense& w_turned, double* sums,
                                      double* magnitudes) {
  for (int64_t k = 0; k < w_turned.rows; ++k) {
    const double* w = w_turned.values.data() + k * w_turned.cols;
    for (int64_t j = 0; j < w_turned.cols; ++j) {
      const double value = term(x[k], w[j]);
      sums[j] += value;
      magnitudes[j] += std::abs(value);
    }
  }
}

/// z = synapse(x, w) + bias (empty: none).
inline Sums Forward(const Synapse& synapse, const Dense& x, const Dense& w, const Dense& bias) {
  Sums z{Dense(x.rows, w.rows), Dense(x.rows, w.rows)};
  Dense turned(w.cols, w.rows);
  for (int64_t j = 0; j < w.rows; ++j) {
    for (int64_t k = 0; k < w.cols; ++k) {
      turned.at(k, j) = w.at(j, k);
    }
  }
  for (int64_t i = 0; i < x.rows; ++i) {
    synapse.Visit([&](const auto& term) {
      AddTerms(term, x.values.data() + i * x.cols, turned, z.value.values.data() + i * w.rows,
               z.magnitude.values.data() + i * w.rows);
    });
    for (int64_t j = 0; j < w.rows; ++j) {
      const double b = bias.values.empty() ? 0 : bias.at(0, j);
      z.value.at(i, j) = synapse.Finish(z.value.at(i, j)) + b;
      z.magnitude.at(i, j) = synapse.Finish(z.magnitude.at(i, j)) + std::abs(b);
    }
  }
  return z;
}

/// What backpropagation through a layer reads.
struct BackwardInput {
  Dense delta;     // batch × outputs
  Dense x;         // batch × inputs
  Dense w;         // outputs × inputs
  Dense distance;  // batch × outputs, read by l2
};

// Adds delta times the slopes by a row of x (of w, by the symmetry) to a row of sums.
template <class Slope>
[[gnu::optimize("O3")]] void AddSlopes(const Slope& slope, double delta, double result, const double* by,
                                       const double* other, int64_t count, double* sums, double* magnitudes) {
  for (int64_t k = 0; k < count; ++k) {
    const double value = delta * slope(by[k], other[k], result);
    sums[k] += value;
    magnitudes[k] += std::abs(value);
  }
}

/// Calls add(slope, i, j, delta, result) for every sample and neuron.
template <class Add>
void ForGradientTerms(const Synapse& synapse, const BackwardInput& in, const Add& add) {
  synapse.VisitSlope([&](const auto& slope) {
    for (int64_t i = 0; i < in.x.rows; ++i) {
      for (int64_t j = 0; j < in.w.rows; ++j) {
        add(slope, i, j, in.delta.at(i, j), synapse.needs_result() ? in.distance.at(i, j) : 0);
      }
    }
  });
}

inline Sums InputGradient(const Synapse& synapse, const BackwardInput& in) {
  Sums g{Dense(in.x.rows, in.x.cols), Dense(in.x.rows, in.x.cols)};
  ForGradientTerms(synapse, in, [&](const auto& slope, int64_t i, int64_t j, double delta, double result) {
    AddSlopes(slope, delta, result, in.x.Row(i), in.w.Row(j), in.x.cols, g.value.Row(i), g.magnitude.Row(i));
  });
  return g;
}

inline Sums WeightGradient(const Synapse& synapse, const BackwardInput& in) {
  Sums g{Dense(in.w.rows, in.w.cols), Dense(in.w.rows, in.w.cols)};
  ForGradientTerms(synapse, in, [&](const auto& slope, int64_t i, int64_t j, double delta, double result) {
    AddSlopes(slope, delta, result, in.w.Row(j), in.x.Row(i), in.x.cols, g.value.Row(j), g.magnitude.Row(j));
  });
  return g;
}

/// delta^T x.
inline Sums DotWeightGradient(const Dense& x, const Dense& delta) {
  return WeightGradient(Synapse("dot"), {delta, x, Dense(delta.cols, x.cols), {}});
}

/// Column sums of delta, as one row.
inline Sums BiasGradient(const Dense& delta) { return DotWeightGradient(Dense(delta.rows, 1, 1.0), delta); }

/// Value and derivative of an activation by its definition, given its name and parameters.
struct Curve {
  std::string name;
  std::vector<double> parameters;

  double Value(double z) const {
    if (name == "identity") {
      return z;
    }
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
    if (name == "silu") {
      return z / (1 + std::exp(-z));
    }
    if (name == "mish") {
      return z * std::tanh(std::log1p(std::exp(z)));
    }
    if (name == "elu") {
      return z > 0 ? z : parameters[0] * std::expm1(z);
    }
    if (name == "selu") {
      return 1.0507009873554805 * (z > 0 ? z : 1.6732632423543772 * std::expm1(z));
    }
    if (name == "softplus") {
      return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    }
    if (name == "abs") {
      return std::abs(z);
    }
    if (name == "linsat") {
      return std::isnan(z) ? z : std::clamp(z, -1.0, 1.0);
    }
    if (name == "sine") {
      return std::sin(z);
    }
    if (name == "multiquadric") {
      return std::hypot(1.0, z);
    }
    if (name == "laplace") {
      return std::exp(-std::pow(std::abs(z) / parameters[0], parameters[1]));
    }
    if (name == "triangle") {
      return std::isnan(z) ? z : std::max(0.0, 1 - z / (2.5066 * parameters[0]));
    }
    if (name == "exp") {
      return std::exp(std::isnan(z) ? z : std::min(z, 80.0));
    }
    if (name == "gaussian") {
      return std::exp(-z * z / (2 * parameters[0] * parameters[0]));
    }
    return z;
  }

  double Slope(double z) const {
    if (name == "identity") {
      return 1;
    }
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
    if (name == "silu") {
      return 1 / (1 + std::exp(-z)) + z / (2 + std::exp(z) + std::exp(-z));
    }
    if (name == "mish") {
      const double u = std::log1p(std::exp(z));
      return std::tanh(u) + z / std::pow(std::cosh(u), 2) / (1 + std::exp(-z));
    }
    if (name == "elu") {
      return z > 0 ? 1 : parameters[0] * std::exp(z);
    }
    if (name == "selu") {
      return 1.0507009873554805 * (z > 0 ? 1 : 1.6732632423543772 * std::exp(z));
    }
    if (name == "softplus") {
      return 1 / (1 + std::exp(-z));
    }
    if (name == "abs") {
      return z > 0 ? 1 : z < 0 ? -1 : 0;
    }
    if (name == "linsat") {
      return std::abs(z) < 1 ? 1 : 0;
    }
    if (name == "sine") {
      return std::cos(z);
    }
    if (name == "multiquadric") {
      return z / std::hypot(1.0, z);
    }
    if (name == "laplace") {
      const double u = std::abs(z) / parameters[0];
      return u == 0 ? 0 : -std::copysign(parameters[1] / parameters[0] * std::pow(u, parameters[1] - 1), z) * Value(z);
    }
    if (name == "triangle") {
      return z < 2.5066 * parameters[0] ? -1 / (2.5066 * parameters[0]) : 0;
    }
    if (name == "exp") {
      return Value(z);
    }
    if (name == "gaussian") {
      return -z / (parameters[0] * parameters[0]) * Value(z);
    }
    return 1;
  }

  /// |Value(z + e) - Value(z)| <= Steepness(z) |e|, for small e.
  double Steepness(double z) const {
    if (name == "exp") {
      return 1.1 * Value(z);
    }
    if (name == "identity") {
      return 1;
    }
    if (name == "sigmoid") {
      return 0.25;
    }
    if (name == "bipolar_sigmoid") {
      return std::abs(parameters[0]) / 2;
    }
    if (name == "laplace") {  // of powers from 1 on
      return parameters[1] / parameters[0];
    }
    if (name == "triangle" || name == "gaussian") {
      return (name == "triangle" ? 1 / 2.5066 : std::exp(-0.5)) / parameters[0];
    }
    if (name == "leaky_relu" || name == "elu") {
      return std::max(1.0, parameters[0]);
    }
    return name == "selu" ? 1.7581 : name == "gelu" || name == "silu" || name == "mish" ? 1.13 : 1.0;
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

/// One optimizer step on one parameter.
struct Step {
  std::string kind;  // "sgd", "nesterov", "adam", "adamw", "rmsprop", "lion"
  double eta = 0, alpha = 0, lambda = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double t = 1;

  void Apply(double g, double* w, double* v, double* s) const {
    const bool apart = kind == "adamw" || kind == "lion";  // decay moves the weight, not the state
    const double gradient = apart ? g : g + lambda * *w;
    const double decayed = apart ? *w - eta * lambda * *w : *w;
    if (kind == "rmsprop") {
      *v = beta2 * *v + (1 - beta2) * gradient * gradient;
      *w -= eta * gradient / (std::sqrt(*v) + epsilon);
      return;
    }
    if (kind == "lion") {
      const double mixed = beta1 * *v + (1 - beta1) * gradient;
      *w = decayed - eta * (mixed > 0 ? 1 : mixed < 0 ? -1 : 0);
      *v = beta2 * *v + (1 - beta2) * gradient;
      return;
    }
    if (kind == "adam" || kind == "adamw") {
      *v = beta1 * *v + (1 - beta1) * gradient;
      *s = beta2 * *s + (1 - beta2) * gradient * gradient;
      const double mean = *v / (1 - std::pow(beta1, t));
      const double variance = *s / (1 - std::pow(beta2, t));
      *w = decayed - eta * mean / (std::sqrt(variance) + epsilon);
      return;
    }
    if (kind != "sgd" && kind != "nesterov") {
      *w = std::numeric_limits<double>::quiet_NaN();  // not written here a second time
      return;
    }
    *v = alpha * *v - eta * gradient;
    *w += kind == "nesterov" ? alpha * *v - eta * gradient : *v;
  }
};

}  // namespace lamina::oracle
