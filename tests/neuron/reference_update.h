// The update rules a second time, a parameter at a time and in double. Sources: the 2018 paper, Sutskever et al.
// (2013), Kingma and Ba (2015), Loshchilov and Hutter (2019), Hinton (2012), Chen et al. (2023).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lamina/neuron/update_rule.h"

namespace lamina {

struct ReferenceParameter {
  double w = 0;
  double last_change = 0;
  double mean = 0;
  double square_mean = 0;

  void Step(const UpdateRule& rule, bool decay, double gradient, int64_t step) {
    const double eta = rule.learning_rate;
    const double alpha = rule.momentum;
    const double lambda = decay ? rule.weight_decay : 0;
    if (rule.kind == UpdateKind::kSgd) {
      last_change = -eta * gradient + alpha * last_change - eta * lambda * w;  // 2018 paper, eq. (2)
      w += last_change;
    } else if (rule.kind == UpdateKind::kNesterov) {
      const double descent = -eta * gradient - eta * lambda * w;
      last_change = alpha * last_change + descent;
      w += alpha * last_change + descent;
    } else if (rule.kind == UpdateKind::kRmsProp) {
      const double full = gradient + lambda * w;
      square_mean += (1 - rule.beta2) * (full * full - square_mean);
      w -= eta * full / (std::sqrt(square_mean) + rule.epsilon);
    } else if (rule.kind == UpdateKind::kLion) {
      const double mixed = mean + (1 - rule.beta1) * (gradient - mean);
      w -= eta * ((mixed > 0 ? 1 : 0) - (mixed < 0 ? 1 : 0)) + eta * lambda * w;
      mean += (1 - rule.beta2) * (gradient - mean);
    } else if (rule.kind == UpdateKind::kAdam || rule.kind == UpdateKind::kAdamW) {
      const bool apart = rule.kind == UpdateKind::kAdamW;
      w -= apart ? eta * lambda * w : 0;
      const double full = gradient + (apart ? 0 : lambda * w);
      mean = rule.beta1 * mean + (1 - rule.beta1) * full;
      square_mean = rule.beta2 * square_mean + (1 - rule.beta2) * full * full;
      const auto t = static_cast<double>(step);
      const double mean_hat = mean / (1 - std::pow(rule.beta1, t));
      const double square_hat = square_mean / (1 - std::pow(rule.beta2, t));
      w -= eta * mean_hat / (std::sqrt(square_hat) + rule.epsilon);
    } else {
      w = std::nan("");  // not written here a second time
    }
  }
};

/// Rules that make much of the rounding of a gradient near 0: by its sign, or by the root of the first squares alone.
inline bool IsSteep(UpdateKind kind) { return kind == UpdateKind::kRmsProp || kind == UpdateKind::kLion; }

/// How far a run of some steps in f32 may be from the same in f64.
inline double BoundInF32(const UpdateRule& rule) { return IsSteep(rule.kind) ? 1e-2 : 1e-4; }

/// Each kind with and without decay, and momentum where it has any.
inline std::vector<UpdateRule> ReferenceRules() {
  std::vector<UpdateRule> rules;
  for (const std::string& name : UpdateKindNames()) {
    const UpdateKind kind = ParseUpdateKind(name);
    for (const double momentum : UpdateReads(kind, "momentum") ? std::vector{0.0, 0.9} : std::vector{0.0}) {
      for (const double decay : {0.0, 0.03}) {
        UpdateRule rule;
        rule.kind = kind;
        rule.learning_rate = IsSteep(kind) ? std::min(0.002, 10 * DefaultLearningRate(kind)) : 0.05;
        rule.momentum = momentum;
        rule.weight_decay = decay;
        rule.beta2 = DefaultBeta2(kind);
        rule.epsilon = 1e-6;
        rules.push_back(rule);
      }
    }
  }
  return rules;
}

inline std::string ReferenceRuleName(const UpdateRule& rule) {
  return std::string(UpdateKindName(rule.kind)) + (rule.momentum > 0 ? "_momentum" : "") +
         (rule.weight_decay > 0 ? "_decay" : "");
}

}  // namespace lamina
