// How a parameter follows its gradient: a rule of formulas.inc with its numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lamina/neuron/formulas.h"

namespace lamina {

/// Index in formulas::Updates; stored by name.
enum class UpdateKind { kSgd, kNesterov, kAdam, kAdamW, kRmsProp, kLion };

std::string_view UpdateKindName(UpdateKind kind);
std::vector<std::string> UpdateKindNames();
/// Throws Error(kInvalidArgument) with the nearest known name.
UpdateKind ParseUpdateKind(std::string_view name);
/// Whether the rule uses a number besides learning rate and decay, by the name that its formula gives it ("momentum").
bool UpdateReads(UpdateKind kind, std::string_view number);
double DefaultLearningRate(UpdateKind kind);
double DefaultBeta2(UpdateKind kind);

/// Decay (lambda) acts on weights, not on biases.
struct UpdateRule {
  UpdateKind kind = UpdateKind::kSgd;
  double learning_rate = 0.01;  // eta
  double momentum = 0.0;        // alpha
  double weight_decay = 0.0;    // lambda
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  int64_t step = 1;  // 1 at the first update, for rules that correct the bias of their means

  /// Arrays of state per parameter.
  int StateCount() const;
};

/// The most numbers of state that any rule keeps.
inline constexpr int kMostStates = []<class... U>(std::tuple<U...>*) {
  return std::max({U::kStates...});
}(static_cast<formulas::Updates*>(nullptr));

/// Arrays of state that rule U keeps with or without momentum.
template <class U>
LAMINA_HD constexpr int StatesOf(bool momentum) {
  if constexpr (requires { U::kStatesWithoutMomentum; }) {
    return momentum ? U::kStates : U::kStatesWithoutMomentum;
  } else {
    return U::kStates;
  }
}

/// Calls fn(U{}, states) with the formula of the rule and the number of its states as an integral_constant. In device
/// code fn is device code.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <size_t kIndex = 0, class Fn>
LAMINA_HD void VisitUpdate(const UpdateRule& rule, const Fn& fn) {
  if constexpr (kIndex < std::tuple_size_v<formulas::Updates>) {
    using U = std::tuple_element_t<kIndex, formulas::Updates>;
    if (rule.kind != static_cast<UpdateKind>(kIndex)) {
      VisitUpdate<kIndex + 1>(rule, fn);
      return;
    }
    if constexpr (StatesOf<U>(false) != StatesOf<U>(true)) {
      if (rule.momentum == 0) {
        fn(U{}, std::integral_constant<int, StatesOf<U>(false)>{});
        return;
      }
    }
    fn(U{}, std::integral_constant<int, StatesOf<U>(true)>{});
  }
}

/// The numbers of a rule U in T, worked out once a call. `decay`: of weights, not of biases.
template <class U, class T>
LAMINA_HD UpdateNumbers<T> NumbersOf(const UpdateRule& rule, bool decay) {
  UpdateNumbers<T> numbers{};
  numbers.eta = static_cast<T>(rule.learning_rate);
  numbers.alpha = static_cast<T>(rule.momentum);
  numbers.lambda = static_cast<T>(decay ? rule.weight_decay : 0.0);
  numbers.beta1 = static_cast<T>(rule.beta1);
  numbers.beta2 = static_cast<T>(rule.beta2);
  numbers.rest1 = static_cast<T>(1.0 - rule.beta1);
  numbers.rest2 = static_cast<T>(1.0 - rule.beta2);
  if constexpr (U::kCorrectsBias) {
    const auto step = static_cast<double>(rule.step);
    numbers.rate = static_cast<T>(rule.learning_rate / (1.0 - std::pow(rule.beta1, step)));
    numbers.root = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(rule.beta2, step)));
  }
  numbers.epsilon = static_cast<T>(rule.epsilon);
  return numbers;
}

/// All zero without a rule.
template <class T>
UpdateNumbers<T> NumbersOf(const UpdateRule* rule, bool decay) {
  UpdateNumbers<T> numbers{};
  if (rule != nullptr) {
    VisitUpdate(*rule, [&]<class U>(U, auto) { numbers = NumbersOf<U, T>(*rule, decay); });
  }
  return numbers;
}

/// A rule's formula over w[0..n), a loop without branches that the compiler makes vectors of.
template <class U, class T, class... States>
void UpdateLoop(const UpdateNumbers<T>& numbers, int64_t n, const T* __restrict g, T* __restrict w,
                States* __restrict... states) noexcept {
  const UpdateNumbers<T> fixed = numbers;
  for (int64_t i = 0; i < n; ++i) {
    U::Step(fixed, g[i], w[i], states[i]...);
  }
}

/// Applies `rule` to w[0..n); of `states` only the first StateCount() are used.
template <class T>
void ApplyUpdate(const UpdateRule& rule, bool decay, int64_t n, const T* g, T* w, T* const (&states)[kMostStates]) {
  VisitUpdate(rule, [&]<class U>(U, auto count) {
    [&]<size_t... I>(std::index_sequence<I...>) { UpdateLoop<U>(NumbersOf<U, T>(rule, decay), n, g, w, states[I]...); }
    (std::make_index_sequence<decltype(count)::value>{});
  });
}

}  // namespace lamina
