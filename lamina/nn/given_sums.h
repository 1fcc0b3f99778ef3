// A first layer whose sums are computed by somebody else: of it only bias and activation are left.
#pragma once

#include <algorithm>
#include <string>

#include "lamina/backend/backend.h"

namespace lamina {

/// args.x is the layer's Wx, batch × outputs; the weights are neither read nor trained, their gradient stays as it is.
/// For host memory, on the calling thread.
class GivenSums final : public PreparedLayer {
 public:
  GivenSums(const Activation& activation, DType dtype) : activation_(activation), dtype_(dtype) {}

  void Forward(const ForwardArgs& args) noexcept override {
    DispatchFloat(dtype_, [&]<class T>(T) {
      const auto* const bias = static_cast<const T*>(args.bias);
      for (int64_t i = 0; i < args.x.rows; ++i) {
        const T* const sums = args.x.Row<T>(i);
        T* const a = args.a.Row<T>(i);
        T* const z = args.z.empty() ? a : args.z.Row<T>(i);
        for (int64_t j = 0; j < args.a.cols; ++j) {
          z[j] = bias == nullptr ? sums[j] : sums[j] + bias[j];
        }
        activation_.Value(z, a, args.a.cols);
      }
    });
  }

  void InputGradient(const InputGradientArgs& /*args*/) noexcept override {}  // the delta is what is wanted

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    DispatchFloat(dtype_, [&]<class T>(T) {
      auto* const gradient = static_cast<T*>(args.bias.gradient);
      if (gradient == nullptr) {
        return;
      }
      std::fill_n(gradient, args.delta.cols, T(0));
      for (int64_t i = 0; i < args.delta.rows; ++i) {
        const T* const delta = args.delta.Row<T>(i);
        for (int64_t j = 0; j < args.delta.cols; ++j) {
          gradient[j] += delta[j];
        }
      }
    });
  }

  std::string Describe() const override { return "sums are given: bias and activation"; }

 private:
  Activation activation_;
  DType dtype_;
};

}  // namespace lamina
