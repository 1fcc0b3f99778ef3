// The textbook loops of a layer over a range of samples (2016 paper, Algorithms 4 and 5). Backends "serial" (all
// samples) and "threads" (a shard each) share them. Deliberately without blocking or vector intrinsics. S is a synapse
// of formulas.inc.
#pragma once

#include <cstdint>

#include "lamina/backend/backend.h"
#include "lamina/base/abandon.h"
#include "lamina/base/convert.h"

namespace lamina::plain_loops {

/// Calls fn(S{}, T{}) with the synapse and the element type of the layer, f32 or f64.
template <class Fn>
void Dispatch(const LayerPlanRequest& request, const Fn& fn) noexcept {
  VisitSynapse(request.layer.synapse,
               [&]<class S>(S synapse) { DispatchFloat(request.dtype, [&]<class T>(T t) { fn(synapse, t); }); });
}

/// The same with the storage type of any layer, for forward passes.
template <class Fn>
void DispatchAny(const LayerPlanRequest& request, const Fn& fn) noexcept {
  VisitSynapse(request.layer.synapse,
               [&]<class S>(S synapse) { DispatchDType(request.dtype, [&]<class E>(E e) { fn(synapse, e); }); });
}

/// The type of OutputType() for storage type E, and that of the sums.
template <class E>
using OutputOf =
    std::conditional_t<std::is_same_v<E, double> || std::is_same_v<E, int64_t> || std::is_same_v<E, int32_t>, double,
                       float>;
template <class E>
using SumOf = std::conditional_t<std::is_integral_v<E>, int64_t, OutputOf<E>>;

inline void StoreSum(const MatrixView& sums, int64_t i, int64_t j, int64_t sum) {
  if (sums.dtype == DType::kI32) {
    sums.Row<int32_t>(i)[j] = static_cast<int32_t>(sum);
  } else {
    sums.Row<int64_t>(i)[j] = sum;
  }
}

/// ScaleDelta of element j of a row; `distance` is null where the synapse does not need it.
template <class S, class T>
T ScaledDelta(const T* delta, const T* distance, int64_t j) noexcept {
  return S::ScaleDelta(delta[j], S::kNeedsDistance ? distance[j] : T(0));
}

/// Row i, or null of an empty view.
template <class T, class View>
auto RowOrNull(const View& view, int64_t i) noexcept {
  return view.empty() ? nullptr : view.template Row<T>(i);
}

/// Forward for samples [begin, end); E is the storage type.
template <class S, class E>
void Forward(const ForwardArgs& args, const Activation& activation, int64_t begin, int64_t end) noexcept {
  using T = OutputOf<E>;
  using Sum = SumOf<E>;
  const int64_t inputs = args.x.cols;
  const auto* bias = static_cast<const T*>(args.bias);
  for (int64_t i = begin; i < end && !Abandoned(); ++i) {
    const E* x = args.x.Row<E>(i);
    T* a = RowOrNull<T>(args.a, i);
    T* z = args.z.empty() ? a : args.z.Row<T>(i);
    T* distance = RowOrNull<T>(args.distance, i);
    for (int64_t j = 0; j < args.weights.rows; ++j) {
      const E* w = args.weights.Row<E>(j);
      Sum sum = 0;
      for (int64_t k = 0; k < inputs; ++k) {
        sum = S::Term::Accumulate(static_cast<Sum>(AsNumber(x[k])), static_cast<Sum>(AsNumber(w[k])), sum);
      }
      if constexpr (std::is_integral_v<E>) {
        if (!args.sums.empty()) {
          StoreSum(args.sums, i, j, sum);
        }
      }
      const T finished = S::Finish(static_cast<T>(sum));
      if (distance != nullptr) {
        distance[j] = finished;
      }
      if (z != nullptr) {
        z[j] = bias == nullptr ? finished : finished + bias[j];
      }
    }
    if (a != nullptr) {
      activation.Value(z, a, args.a.cols);
    }
  }
}

/// Input gradient for samples [begin, end).
template <class S, class T>
void InputGradient(const InputGradientArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t inputs = args.out.cols;
  const int64_t outputs = args.delta.cols;
  for (int64_t i = begin; i < end && !Abandoned(); ++i) {
    const T* delta = args.delta.Row<T>(i);
    const T* distance = RowOrNull<T>(args.distance, i);
    const T* x = S::Term::kIsDistance ? args.x.Row<T>(i) : nullptr;
    T* out = args.out.Row<T>(i);
    for (int64_t k = 0; k < inputs; ++k) {
      out[k] = T(0);
    }
    for (int64_t j = 0; j < outputs; ++j) {
      const T* w = args.weights.Row<T>(j);
      const T scale = ScaledDelta<S>(delta, distance, j);
      for (int64_t k = 0; k < inputs; ++k) {
        out[k] = S::Term::AccumulateSlope(scale, S::Term::kIsDistance ? x[k] : T(0), w[k], out[k]);
      }
    }
    if (args.previous != nullptr) {
      args.previous->MultiplySlope(args.previous_z.empty() ? nullptr : args.previous_z.Row<T>(i), args.x.Row<T>(i), out,
                                   inputs);
    }
  }
}

/// Gradients of weights (outputs × inputs) and bias (outputs, or null) summed over samples [begin, end).
template <class S, class T>
void WeightGradient(const WeightGradientArgs& args, int64_t begin, int64_t end, T* weight_gradient,
                    T* bias_gradient) noexcept {
  const int64_t inputs = args.x.cols;
  const int64_t outputs = args.delta.cols;
  const auto* weights = static_cast<const T*>(args.weights.value);
  for (int64_t n = 0; n < outputs * inputs; ++n) {
    weight_gradient[n] = T(0);
  }
  for (int64_t j = 0; bias_gradient != nullptr && j < outputs; ++j) {
    bias_gradient[j] = T(0);
  }
  for (int64_t i = begin; i < end && !Abandoned(); ++i) {
    const T* x = args.x.Row<T>(i);
    const T* delta = args.delta.Row<T>(i);
    const T* distance = RowOrNull<T>(args.distance, i);
    for (int64_t j = 0; j < outputs; ++j) {
      T* gradient = weight_gradient + j * inputs;
      const T* w = S::Term::kIsDistance ? weights + j * inputs : nullptr;
      const T scale = ScaledDelta<S>(delta, distance, j);
      for (int64_t k = 0; k < inputs; ++k) {
        gradient[k] = S::Term::AccumulateSlope(scale, S::Term::kIsDistance ? w[k] : T(0), x[k], gradient[k]);
      }
      if (bias_gradient != nullptr) {
        bias_gradient[j] += delta[j];
      }
    }
  }
}

}  // namespace lamina::plain_loops
