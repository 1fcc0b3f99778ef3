// How a parameter follows its gradient: one step of an optimiser, written once over a flat range.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/neuron/formulas.h"  // LAMINA_HD

namespace lamina {

/// g is the gradient, v and s optimiser state, all starting at zero.
///  sgd       v <- -eta g + alpha v - eta lambda w;  w <- w + v            (2018 paper, eq. (2))
///  nesterov  v as for sgd;                          w <- w + alpha v - eta (g + lambda w)
///  adam      g += lambda w; v, s <- running means of g, g^2 (Kingma, Ba 2015), bias-corrected step
/// Decay (lambda) acts on weights, not on biases.
enum class UpdateKind { kSgd, kNesterov, kAdam };

std::string_view UpdateKindName(UpdateKind kind);
std::vector<std::string> UpdateKindNames();
UpdateKind ParseUpdateKind(std::string_view name);

struct UpdateRule {
  UpdateKind kind = UpdateKind::kSgd;
  double learning_rate = 0.01;  // eta
  double momentum = 0.0;        // alpha
  double weight_decay = 0.0;    // lambda
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  int64_t step = 1;  // 1 at the first update (Adam's bias correction)

  /// Arrays of state per parameter: 0 for sgd without momentum, 1 with it, 2 for adam.
  int StateCount() const {
    if (kind == UpdateKind::kAdam) {
      return 2;
    }
    return kind == UpdateKind::kNesterov || momentum != 0.0 ? 1 : 0;
  }
};

/// One update of one parameter w by its gradient g, written once for loops on the host and for device code.
template <class T>
struct UpdateStep {
  LAMINA_HD UpdateStep(const UpdateRule& rule, bool decay)
      : eta(static_cast<T>(rule.learning_rate)),
        alpha(static_cast<T>(rule.momentum)),
        lambda(static_cast<T>(decay ? rule.weight_decay : 0.0)) {
    if (rule.kind == UpdateKind::kAdam) {
      beta1 = static_cast<T>(rule.beta1);
      beta2 = static_cast<T>(rule.beta2);
      // 1 - beta in double: 1 - 0.999f is wrong in the fifth digit.
      rest1 = static_cast<T>(1.0 - rule.beta1);
      rest2 = static_cast<T>(1.0 - rule.beta2);
      const double correction1 = 1.0 - std::pow(rule.beta1, static_cast<double>(rule.step));
      const double correction2 = 1.0 - std::pow(rule.beta2, static_cast<double>(rule.step));
      rate = static_cast<T>(rule.learning_rate / correction1);
      root = static_cast<T>(1.0 / std::sqrt(correction2));
      epsilon = static_cast<T>(rule.epsilon);
    }
  }

  LAMINA_HD void Plain(T g, T& w) const { w -= eta * (g + lambda * w); }
  LAMINA_HD void Momentum(T g, T& w, T& v) const {
    v = alpha * v - eta * (g + lambda * w);
    w += v;
  }
  LAMINA_HD void Nesterov(T g, T& w, T& v) const {
    const T step = eta * (g + lambda * w);
    v = alpha * v - step;
    w += alpha * v - step;
  }
  LAMINA_HD void Adam(T g, T& w, T& v, T& s) const {
    const T gradient = g + lambda * w;
    v = beta1 * v + rest1 * gradient;
    s = beta2 * s + rest2 * gradient * gradient;
    w -= rate * v / (std::sqrt(s) * root + epsilon);
  }

  T eta, alpha, lambda;
  T beta1{}, beta2{}, rest1{}, rest2{}, rate{}, root{}, epsilon{};
};

/// Applies `rule` to w[0..n); v and s may be null where StateCount() does not need them.
template <class T>
void ApplyUpdate(const UpdateRule& rule, bool decay, int64_t n, const T* __restrict g, T* __restrict w, T* __restrict v,
                 T* __restrict s) noexcept {
  const UpdateStep<T> step(rule, decay);
  if (rule.kind == UpdateKind::kAdam) {
    for (int64_t i = 0; i < n; ++i) {
      step.Adam(g[i], w[i], v[i], s[i]);
    }
  } else if (v == nullptr) {
    for (int64_t i = 0; i < n; ++i) {
      step.Plain(g[i], w[i]);
    }
  } else if (rule.kind == UpdateKind::kNesterov) {
    for (int64_t i = 0; i < n; ++i) {
      step.Nesterov(g[i], w[i], v[i]);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      step.Momentum(g[i], w[i], v[i]);
    }
  }
}

}  // namespace lamina
