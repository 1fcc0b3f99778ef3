// Activations and losses on the device: the formulas of formulas.inc, chosen once for a whole loop.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "lamina/backend/cuda/language.h"
#include "lamina/neuron/activation.h"
#include "lamina/neuron/formulas.h"
#include "lamina/neuron/loss.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

/// A built-in activation by value.
struct DeviceActivation {
  int kind = 0;  // index in formulas::BuiltinActivations
  double parameters[Activation::kMaxParameters] = {};
};

/// Softmax and custom ones are computed in a pass of their own: the identity here.
inline DeviceActivation ToDevice(const Activation& activation) {
  DeviceActivation device;
  if (activation.kind() >= 0) {
    device.kind = activation.kind();
    for (size_t i = 0; i < activation.parameters().size(); ++i) {
      device.parameters[i] = activation.parameters()[i];
    }
  }
  return device;
}

/// Whether it is the formula F.
template <class F, size_t kIndex = 0>
constexpr bool IsFormula(const DeviceActivation& activation) {
  if constexpr (std::is_same_v<F, std::tuple_element_t<kIndex, formulas::BuiltinActivations>>) {
    return activation.kind == static_cast<int>(kIndex);
  } else {
    return IsFormula<F, kIndex + 1>(activation);
  }
}

template <size_t kParameter, class F>
__device__ inline void SetParameters(F& formula, const double* parameters) {
  if constexpr (kParameter < F::kParameters.size()) {
    constexpr auto kMember = std::get<kParameter>(F::kParameters).member;
    formula.*kMember = parameters[kParameter];
    SetParameters<kParameter + 1>(formula, parameters);
  }
}

/// Calls fn(F) with the formula of `activation`.
template <size_t kIndex = 0, class Fn>
__device__ inline void VisitActivation(const DeviceActivation& activation, const Fn& fn) {
  if constexpr (kIndex < std::tuple_size_v<formulas::BuiltinActivations>) {
    if (activation.kind == static_cast<int>(kIndex)) {
      std::tuple_element_t<kIndex, formulas::BuiltinActivations> formula{};
      SetParameters<0>(formula, activation.parameters);
      fn(formula);
    } else {
      VisitActivation<kIndex + 1>(activation, fn);
    }
  }
}

/// A loss by value.
struct DeviceLossFormula {
  int kind = 0;  // index in formulas::Losses
  double parameters[FormulaParameters::kMost] = {};
};

inline DeviceLossFormula ToDevice(const Loss& loss) {
  DeviceLossFormula device;
  device.kind = loss.kind();
  loss.Visit([&]<class L>(const L& formula) {
    for (size_t i = 0; i < L::kParameters.size(); ++i) {
      device.parameters[i] = formula.*(L::kParameters[i].member);
    }
  });
  return device;
}

/// Calls fn(L) with the formula of `loss`.
template <size_t kIndex = 0, class Fn>
__device__ inline void VisitLoss(const DeviceLossFormula& loss, const Fn& fn) {
  if constexpr (kIndex < std::tuple_size_v<formulas::Losses>) {
    if (loss.kind == static_cast<int>(kIndex)) {
      std::tuple_element_t<kIndex, formulas::Losses> formula{};
      SetParameters<0>(formula, loss.parameters);
      fn(formula);
    } else {
      VisitLoss<kIndex + 1>(loss, fn);
    }
  }
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
