// An activation function as a value: one of the built-in list (formulas.inc), softmax, or a user's own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/base/matrix_view.h"
#include "lamina/neuron/formula_parameters.h"
#include "lamina/neuron/formulas.h"

namespace lamina {

/// Value semantics; cheap to copy; immutable. Text form: "tanh", "bipolar_sigmoid(gain=2,threshold=0.5)".
class Activation {
 public:
  static constexpr int kCustom = -1;
  static constexpr int kSoftmax = -2;  // over a row, for output layers
  static constexpr size_t kMaxParameters = FormulaParameters::kMost;

  /// Identity.
  Activation();
  Activation(std::string_view text);                                    // NOLINT(google-explicit-constructor): Parse
  Activation(const char* text) : Activation(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)

  /// Parses the text form. `custom` holds the user's own activations, found by name. Unknown names throw
  /// Error(kInvalidArgument) with the nearest known one.
  static Activation Parse(std::string_view text, std::span<const Activation> custom = {});

  /// A user's own activation: F has the shape of the structs in formulas.inc (Value and Slope templates over float
  /// and double, kSlopeNeedsInput, kName). F may leave out kParameters. Host code only: for backend cuda see
  /// custom_activation.cuh. The network keeps z if asked.
  template <class F>
  static Activation Custom(F formula = {});

  /// Index in formulas::BuiltinActivations, kSoftmax or kCustom.
  int kind() const { return kind_; }
  bool is_softmax() const { return kind_ == kSoftmax; }
  const std::string& name() const { return name_; }
  /// Values in the order of the formula's kParameters.
  std::span<const double> parameters() const { return parameters_.values(); }
  /// True if Slope reads z, so forward must keep it.
  bool slope_needs_input() const { return slope_needs_input_; }
  /// The formula's kBipolar and kReluLike; false where it leaves them out.
  bool bipolar() const { return bipolar_; }
  bool relu_like() const { return relu_like_; }
  /// Built-in curves of z / radius (triangle, gaussian, laplace): the radius; 0 for all others.
  double radius() const;
  /// The same curve with another radius, which must be positive. Only where radius() > 0.
  Activation WithRadius(double radius) const;
  /// The text form; Parse(Text()) gives an equal activation.
  std::string Text() const;

  /// a[i] = value(z[i]) over plain scalar loops (softmax: over the n values as one row). In place is allowed.
  void Value(const float* z, float* a, int64_t n) const noexcept { loops_->value_f32(*this, z, a, n); }
  void Value(const double* z, double* a, int64_t n) const noexcept { loops_->value_f64(*this, z, a, n); }
  /// g[i] *= slope(z[i], a[i]). z may be null unless slope_needs_input(). Not for softmax (see loss.h).
  void MultiplySlope(const float* z, const float* a, float* g, int64_t n) const noexcept {
    loops_->slope_f32(*this, z, a, g, n);
  }
  void MultiplySlope(const double* z, const double* a, double* g, int64_t n) const noexcept {
    loops_->slope_f64(*this, z, a, g, n);
  }

  /// The loops of a custom activation on a GPU (lamina/backend/cuda/custom_activation.cuh); `device` is a cuda::Device.
  struct DeviceLoops {
    void (*value)(const Activation&, void* device, MatrixView a);  // a = value(a)
    void (*slope)(const Activation&, void* device, ConstMatrixView z, ConstMatrixView a, MatrixView g);
  };
  const DeviceLoops* device_loops() const { return device_loops_; }
  Activation WithDeviceLoops(const DeviceLoops* loops) const {
    Activation copy = *this;
    copy.device_loops_ = loops;
    return copy;
  }

  /// The formula, with this activation's parameters, that it was made of.
  template <class F>
  F FormulaOf() const noexcept {
    return parameters_.Formula<F>();
  }

  friend bool operator==(const Activation& a, const Activation& b) { return a.Text() == b.Text(); }

 private:
  friend struct ActivationLoopsFor;
  struct Loops {
    void (*value_f32)(const Activation&, const float*, float*, int64_t) noexcept;
    void (*value_f64)(const Activation&, const double*, double*, int64_t) noexcept;
    void (*slope_f32)(const Activation&, const float*, const float*, float*, int64_t) noexcept;
    void (*slope_f64)(const Activation&, const double*, const double*, double*, int64_t) noexcept;
  };
  template <class F, class T>
  static void ValueLoop(const Activation& self, const T* z, T* a, int64_t n) noexcept;
  template <class F, class T>
  static void SlopeLoop(const Activation& self, const T* z, const T* a, T* g, int64_t n) noexcept;
  template <class F>
  static Activation Of(const F& formula, int kind);
  static Activation Softmax();

  int kind_ = 0;
  std::string name_;
  FormulaParameters parameters_;
  bool slope_needs_input_ = false;
  bool bipolar_ = false;
  bool relu_like_ = false;
  const Loops* loops_ = nullptr;
  const DeviceLoops* device_loops_ = nullptr;
};

/// The names a user can write, in list order: the built-in activations and "softmax".
std::vector<std::string> ActivationNames();

template <class F, class T>
void Activation::ValueLoop(const Activation& self, const T* z, T* a, int64_t n) noexcept {
  const F formula = self.FormulaOf<F>();
  for (int64_t i = 0; i < n; ++i) {
    a[i] = formula.Value(z[i]);
  }
}

template <class F, class T>
void Activation::SlopeLoop(const Activation& self, const T* z, const T* a, T* g, int64_t n) noexcept {
  const F formula = self.FormulaOf<F>();
  for (int64_t i = 0; i < n; ++i) {
    g[i] *= formula.Slope(F::kSlopeNeedsInput ? z[i] : T(0), a[i]);
  }
}

template <class F>
Activation Activation::Of(const F& formula, int kind) {
  static constexpr Loops kLoops{&ValueLoop<F, float>, &ValueLoop<F, double>, &SlopeLoop<F, float>,
                                &SlopeLoop<F, double>};
  Activation activation;
  activation.kind_ = kind;
  activation.name_ = F::kName;
  activation.parameters_ = FormulaParameters::Of(formula);
  if constexpr (requires { F::kBipolar; }) {
    activation.bipolar_ = F::kBipolar;
  }
  if constexpr (requires { F::kReluLike; }) {
    activation.relu_like_ = F::kReluLike;
  }
  activation.slope_needs_input_ = F::kSlopeNeedsInput;
  activation.loops_ = &kLoops;
  return activation;
}

template <class F>
Activation Activation::Custom(F formula) {
  return Of(formula, kCustom);
}

}  // namespace lamina
