// The textbook loops of a dot layer over a range of samples (2016 paper, Algorithms 4 and 5), shared by the backends
// "serial" (all samples) and "threads" (a shard each). Deliberately without blocking or vector intrinsics.
#pragma once

#include <cstdint>

#include "lamina/backend/backend.h"

namespace lamina::plain_loops {

/// Forward for samples [begin, end).
template <class T>
void Forward(const ForwardArgs& args, const Activation& activation, int64_t begin, int64_t end) noexcept {
  const int64_t inputs = args.x.cols;
  const int64_t outputs = args.a.cols;
  const auto* bias = static_cast<const T*>(args.bias);
  for (int64_t i = begin; i < end; ++i) {
    const T* x = args.x.Row<T>(i);
    T* z = args.z.empty() ? args.a.Row<T>(i) : args.z.Row<T>(i);
    for (int64_t j = 0; j < outputs; ++j) {
      const T* w = args.weights.Row<T>(j);
      T sum = bias == nullptr ? T(0) : bias[j];
      for (int64_t k = 0; k < inputs; ++k) {
        sum += x[k] * w[k];
      }
      z[j] = sum;
    }
    activation.Value(z, args.a.Row<T>(i), outputs);
  }
}

/// Input gradient for samples [begin, end).
template <class T>
void InputGradient(const InputGradientArgs& args, int64_t begin, int64_t end) noexcept {
  const int64_t inputs = args.out.cols;
  const int64_t outputs = args.delta.cols;
  for (int64_t i = begin; i < end; ++i) {
    const T* delta = args.delta.Row<T>(i);
    T* out = args.out.Row<T>(i);
    for (int64_t k = 0; k < inputs; ++k) {
      out[k] = T(0);
    }
    for (int64_t j = 0; j < outputs; ++j) {
      const T* w = args.weights.Row<T>(j);
      for (int64_t k = 0; k < inputs; ++k) {
        out[k] += delta[j] * w[k];
      }
    }
    if (args.previous != nullptr) {
      args.previous->MultiplySlope(args.previous_z.empty() ? nullptr : args.previous_z.Row<T>(i), args.x.Row<T>(i), out,
                                   inputs);
    }
  }
}

/// Gradients of weights (outputs × inputs) and bias (outputs, or null) summed over samples [begin, end).
template <class T>
void WeightGradient(ConstMatrixView x_view, ConstMatrixView delta_view, int64_t begin, int64_t end, T* weight_gradient,
                    T* bias_gradient) noexcept {
  const int64_t inputs = x_view.cols;
  const int64_t outputs = delta_view.cols;
  for (int64_t n = 0; n < outputs * inputs; ++n) {
    weight_gradient[n] = T(0);
  }
  for (int64_t j = 0; bias_gradient != nullptr && j < outputs; ++j) {
    bias_gradient[j] = T(0);
  }
  for (int64_t i = begin; i < end; ++i) {
    const T* x = x_view.Row<T>(i);
    const T* delta = delta_view.Row<T>(i);
    for (int64_t j = 0; j < outputs; ++j) {
      T* gradient = weight_gradient + j * inputs;
      for (int64_t k = 0; k < inputs; ++k) {
        gradient[k] += delta[j] * x[k];
      }
      if (bias_gradient != nullptr) {
        bias_gradient[j] += delta[j];
      }
    }
  }
}

/// Applies the rule to elements [begin, end) of one parameter array.
template <class T>
void Update(const UpdateRule& rule, bool decay, const ParameterArrays& arrays, int64_t begin, int64_t end) noexcept {
  const auto at = [begin](void* p) { return p == nullptr ? nullptr : static_cast<T*>(p) + begin; };
  ApplyUpdate<T>(rule, decay, end - begin, at(arrays.gradient), at(arrays.value), at(arrays.state0), at(arrays.state1));
}

}  // namespace lamina::plain_loops
