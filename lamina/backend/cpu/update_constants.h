// An update rule in the element type, worked out once per call.
#pragma once

#include <cmath>

#include "lamina/backend/cpu/kernels.h"
#include "lamina/neuron/update_rule.h"

namespace lamina::cpu {

/// All zero without a rule. `decay`: of weights, not of biases.
template <class T>
UpdateConstants<T> ConstantsOf(const UpdateRule* rule, bool decay) {
  UpdateConstants<T> constants{};
  if (rule == nullptr) {
    return constants;
  }
  constants.eta = static_cast<T>(rule->learning_rate);
  constants.alpha = static_cast<T>(rule->momentum);
  constants.lambda = static_cast<T>(decay ? rule->weight_decay : 0.0);
  if (rule->kind == UpdateKind::kAdam) {
    const auto step = static_cast<double>(rule->step);
    constants.beta1 = static_cast<T>(rule->beta1);
    constants.beta2 = static_cast<T>(rule->beta2);
    constants.rest1 = static_cast<T>(1.0 - rule->beta1);
    constants.rest2 = static_cast<T>(1.0 - rule->beta2);
    constants.rate = static_cast<T>(rule->learning_rate / (1.0 - std::pow(rule->beta1, step)));
    constants.root = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(rule->beta2, step)));
    constants.epsilon = static_cast<T>(rule->epsilon);
  }
  return constants;
}

}  // namespace lamina::cpu
