// Activations over vectors: the formulas of formulas.inc, and other forms of those whose exponentials and divisions can
// be fewer than plain numbers show. Bounds of their errors: tests/conformance/activation_bounds_test.cc.
#if defined(LAMINA_BACKEND_CPU_CURVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_CURVES_INL_H_
#undef LAMINA_BACKEND_CPU_CURVES_INL_H_
#else
#define LAMINA_BACKEND_CPU_CURVES_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "lamina/backend/cpu/vec-inl.h"
#include "lamina/neuron/activation.h"

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

/// An activation and its slope at one place.
template <class T>
struct ValueAndSlope {
  Pack<T> a;
  Pack<T> slope;
};

/// e^(factor x), 0 and infinity included.
template <class T>
HWY_INLINE Pack<T> CurvePower(Pack<T> x, double factor) {
  using C = ExpConstants<T>;
  const Tag<T> d;
  // Behind these 2^n is infinite, or 0: by its bits, or by rounding. A quarter, so that n is none nearer.
  constexpr bool kRounds = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;
  const double most = (C::kBias + 1.25) * 0.69314718055994531 / factor;
  const double least = -(C::kBias + 0.25 + (kRounds ? C::kMantissa + 1 : 0)) * 0.69314718055994531 / factor;
  const auto inside = MaxVec<T>(hn::Set(d, static_cast<T>(std::min(least, most))),
                                MinVec<T>(hn::Set(d, static_cast<T>(std::max(least, most))), x.v));
  const SplitPower<T> e = SplitPowerOfProduct<T>(inside, factor);
  return Pack<T>(e.Scale(hn::Add(e.p, hn::Set(d, static_cast<T>(1)))));
}

/// The same for |factor x| of at most 87 (f64: 700).
template <class T>
HWY_INLINE Pack<T> FinitePower(Pack<T> x, double factor) {
  const Tag<T> d;
  const SplitPower<T> e = SplitPowerOfProduct<T>(x.v, factor);
  return Pack<T>(e.Scale(hn::Add(e.p, hn::Set(d, static_cast<T>(1)))));
}

template <class T>
HWY_INLINE Pack<T> Within(Pack<T> z, double low, double high) {
  return Min(Pack<T>(high), Max(Pack<T>(low), z));
}
template <class T>
inline constexpr double kMostPower = sizeof(T) == 4 ? 87 : 700;

template <class F, class T>
HWY_INLINE Pack<T> CurveValue(const F& formula, Pack<T> z) {
  return formula.Value(z);
}
template <class F, class T>
HWY_INLINE Pack<T> CurveSlope(const F& formula, Pack<T> z, Pack<T> a) {
  return formula.Slope(z, a);
}
template <class F, class T>
HWY_INLINE ValueAndSlope<T> CurveBoth(const F& formula, Pack<T> z) {
  const Pack<T> a = formula.Value(z);
  return {a, formula.Slope(z, a)};
}

// e^z - 1 without a division.
template <class T>
HWY_INLINE Pack<T> CurveValue(const formulas::Elu& elu, Pack<T> z) {
  const Pack<T> below = Pack<T>(elu.alpha) * Pack<T>(Expm1OfNegative<T>(Min(Pack<T>(0.0), z).v));
  return Select(z > Pack<T>(0.0), z, below);
}
template <class T>
HWY_INLINE Pack<T> CurveValue(const formulas::Selu& selu, Pack<T> z) {
  const Pack<T> below = Pack<T>(selu.kScaledAlpha) * Pack<T>(Expm1OfNegative<T>(Min(Pack<T>(0.0), z).v));
  return Select(z > Pack<T>(0.0), Pack<T>(selu.kScale) * z, below);
}

// 1 - e^-a.
template <class T>
HWY_INLINE Pack<T> CurveSlope(const formulas::Softplus&, Pack<T>, Pack<T> a) {
  return Pack<T>(0.0) - Pack<T>(Expm1OfNegative<T>((Pack<T>(0.0) - a).v));
}

// z s with s = 1 / (1 + power). The slope is s + z s (1 - s) times the slope of the power's exponent; 1 - s is power s.
// `inside` is z where it is not far out.
template <class T>
HWY_INLINE ValueAndSlope<T> Gated(Pack<T> z, Pack<T> inside, Pack<T> power, Pack<T> inner_slope) {
  const Pack<T> s = Pack<T>(1.0) / (Pack<T>(1.0) + power);
  return {z * s, MulAdd(inside * s * inner_slope, power * s, s)};
}

template <class T>
HWY_INLINE ValueAndSlope<T> CurveBoth(const formulas::Silu&, Pack<T> z) {
  const Pack<T> inside = Within(z, -kMostPower<T>, kMostPower<T>);
  return Gated(z, inside, FinitePower(inside, -1), Pack<T>(1.0));
}
template <class T>
HWY_INLINE Pack<T> CurveValue(const formulas::Silu&, Pack<T> z) {
  return z / (Pack<T>(1.0) + CurvePower(z, -1));
}
template <class T>
HWY_INLINE Pack<T> CurveSlope(const formulas::Silu& silu, Pack<T> z, Pack<T>) {
  return CurveBoth(silu, z).slope;
}

// (1 + tanh u) / 2 is 1 / (1 + e^-2u).
inline constexpr double kTwiceRoot = 2 * formulas::Gelu::kRootTwoOverPi;

template <class T>
HWY_INLINE Pack<T> CurveValue(const formulas::Gelu& gelu, Pack<T> z) {
  const Pack<T> cubic = z * MulAdd(z * z, Pack<T>(gelu.kCubic), Pack<T>(1.0));
  return z / (Pack<T>(1.0) + CurvePower(cubic, -kTwiceRoot));
}
template <class T>
HWY_INLINE ValueAndSlope<T> CurveBoth(const formulas::Gelu& gelu, Pack<T> z) {
  constexpr double kFar = sizeof(T) == 4 ? 9.9 : 20;
  const Pack<T> inside = Within(z, -kFar, kFar);
  const Pack<T> square = inside * inside;
  const Pack<T> cubic = inside * MulAdd(square, Pack<T>(gelu.kCubic), Pack<T>(1.0));
  const Pack<T> inner_slope = MulAdd(square, Pack<T>(3 * kTwiceRoot * gelu.kCubic), Pack<T>(kTwiceRoot));
  return Gated(z, inside, FinitePower(cubic, -kTwiceRoot), inner_slope);
}
template <class T>
HWY_INLINE Pack<T> CurveSlope(const formulas::Gelu& gelu, Pack<T> z, Pack<T>) {
  return CurveBoth(gelu, z).slope;
}

// From 20 on the tanh is 1 in f32, from 40 on in f64; unclamped, the power of the power overflows.
template <class T>
inline constexpr double kMishEnd = sizeof(T) == 4 ? 20 : 40;

template <class T>
HWY_INLINE Pack<T> CurveValue(const formulas::Mish&, Pack<T> z) {
  const Pack<T> power = CurvePower(Min(Pack<T>(kMishEnd<T>), z), 1);
  const Pack<T> n = power * (power + Pack<T>(2.0));
  return z * (n / (n + Pack<T>(2.0)));
}
template <class T>
HWY_INLINE ValueAndSlope<T> CurveBoth(const formulas::Mish&, Pack<T> z) {
  const Pack<T> inside = Within(z, -kMostPower<T>, kMishEnd<T>);
  const Pack<T> power = FinitePower(inside, 1);
  const Pack<T> n = power * (power + Pack<T>(2.0));
  const Pack<T> below = Pack<T>(1.0) / (n + Pack<T>(2.0));
  const Pack<T> t = n * below;
  return {z * t, MulAdd(inside * below, (power + Pack<T>(1.0)) * (Pack<T>(4.0) * power) * below, t)};
}
template <class T>
HWY_INLINE Pack<T> CurveSlope(const formulas::Mish& mish, Pack<T> z, Pack<T>) {
  return CurveBoth(mish, z).slope;
}

/// a[i] = value(z[i]); in place is allowed.
template <class T>
using ValueFn = void (*)(const Activation&, const T* z, T* a, int64_t n);
/// out[i] = g[i] * slope(z[i], a[i]); z may be null where the slope does not need it.
template <class T>
using SlopeFn = void (*)(const Activation&, const T* z, const T* a, const T* g, T* out, int64_t n);

// The formula with the activation's parameters.
template <class F>
HWY_INLINE F FormulaOf(const Activation& activation) {
  F formula{};
  for (size_t i = 0; i < F::kParameters.size(); ++i) {
    formula.*(F::kParameters[i].member) = activation.parameters()[i];
  }
  return formula;
}

template <class F, class T>
void ValueSpan(const Activation& activation, const T* z, T* a, int64_t n) {
  const F formula = FormulaOf<F>(activation);
  Transform<T>(
      n, a, [&](VecOf<T> v) HWY_ATTR { return CurveValue(formula, Pack<T>(v)).v; }, z);
}

/// Rows of numbers, the i-th of z at z + i * z_stride.
template <class T>
struct ValueRows {
  const T* z;
  int64_t z_stride;
  T* a;
  int64_t a_stride;
  int64_t rows;
  int64_t columns;
  const T* bias;  // of each column; null: none
};

/// a = value(z + bias) of each number; in place is allowed.
template <class T>
using RowsFn = void (*)(const Activation&, const ValueRows<T>&);

template <class F, class T>
void RowsSpan(const Activation& activation, const ValueRows<T>& of) {
  const Tag<T> d;
  const F formula = FormulaOf<F>(activation);
  const T* const bias = of.bias;
  for (int64_t row = 0; row < of.rows; ++row) {
    const T* const z = of.z + row * of.z_stride;
    T* const a = of.a + row * of.a_stride;
    int64_t i = 0;
    for (; i + kLanes<T> <= of.columns; i += kLanes<T>) {
      auto v = hn::LoadU(d, z + i);
      v = bias == nullptr ? v : hn::Add(v, hn::LoadU(d, bias + i));
      hn::StoreU(CurveValue(formula, Pack<T>(v)).v, d, a + i);
    }
    if (const int64_t left = of.columns - i; left > 0) {
      auto v = LoadTail<T>(z + i, left);
      v = bias == nullptr ? v : hn::Add(v, LoadTail<T>(bias + i, left));
      StoreTail<T>(CurveValue(formula, Pack<T>(v)).v, a + i, left);
    }
  }
}

template <class F, class T>
void SlopeSpan(const Activation& activation, const T* z, const T* a, const T* g, T* out, int64_t n) {
  const F formula = FormulaOf<F>(activation);
  const auto product = [&](VecOf<T> gradient, VecOf<T> value, VecOf<T> input) HWY_ATTR {
    return hn::Mul(gradient, CurveSlope(formula, Pack<T>(input), Pack<T>(value)).v);
  };
  if constexpr (F::kSlopeNeedsInput) {
    Transform<T>(n, out, product, g, a, z);
  } else {
    Transform<T>(
        n, out, [&](VecOf<T> gradient, VecOf<T> value) HWY_ATTR { return product(gradient, value, value); }, g, a);
  }
}

/// a[i] = value(z[i]), slopes[i] = its slope; either may be z.
template <class T>
using BothFn = void (*)(const Activation&, const T* z, T* a, T* slopes, int64_t n);

template <class F, class T>
void BothSpan(const Activation& activation, const T* z, T* a, T* slopes, int64_t n) {
  const Tag<T> d;
  const F formula = FormulaOf<F>(activation);
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    const ValueAndSlope<T> both = CurveBoth(formula, Pack<T>(hn::LoadU(d, z + i)));
    hn::StoreU(both.a.v, d, a + i);
    hn::StoreU(both.slope.v, d, slopes + i);
  }
  if (i < n) {
    const ValueAndSlope<T> both = CurveBoth(formula, Pack<T>(LoadTail<T>(z + i, n - i)));
    StoreTail<T>(both.a.v, a + i, n - i);
    StoreTail<T>(both.slope.v, slopes + i, n - i);
  }
}

// A user's own activation: its scalar loops.
template <class T>
void CustomValueSpan(const Activation& activation, const T* z, T* a, int64_t n) {
  activation.Value(z, a, n);
}

template <class T>
void CustomRowsSpan(const Activation& activation, const ValueRows<T>& of) {
  for (int64_t row = 0; row < of.rows; ++row) {
    const T* z = of.z + row * of.z_stride;
    T* const a = of.a + row * of.a_stride;
    if (of.bias != nullptr) {
      Transform<T>(
          of.columns, a, [](VecOf<T> v, VecOf<T> b) HWY_ATTR { return hn::Add(v, b); }, z, of.bias);
      z = a;
    }
    activation.Value(z, a, of.columns);
  }
}

template <class T>
void CustomSlopeSpan(const Activation& activation, const T* z, const T* a, const T* g, T* out, int64_t n) {
  std::memmove(out, g, static_cast<size_t>(n) * sizeof(T));
  activation.MultiplySlope(z, a, out, n);
}

/// Softmax is left to SoftmaxRows: identity.
template <class T>
ValueFn<T> ValueFor(const Activation& activation) {
  static constexpr auto kTable = []<class... F>(std::tuple<F...>*) {
    return std::array<ValueFn<T>, sizeof...(F)>{&ValueSpan<F, T>...};
  }(static_cast<formulas::BuiltinActivations*>(nullptr));
  if (activation.kind() == Activation::kCustom) {
    return &CustomValueSpan<T>;
  }
  return kTable[activation.is_softmax() ? 0 : static_cast<size_t>(activation.kind())];
}

/// Softmax is left to SoftmaxRows: identity.
template <class T>
RowsFn<T> RowsFor(const Activation& activation) {
  static constexpr auto kTable = []<class... F>(std::tuple<F...>*) {
    return std::array<RowsFn<T>, sizeof...(F)>{&RowsSpan<F, T>...};
  }(static_cast<formulas::BuiltinActivations*>(nullptr));
  if (activation.kind() == Activation::kCustom) {
    return &CustomRowsSpan<T>;
  }
  return kTable[activation.is_softmax() ? 0 : static_cast<size_t>(activation.kind())];
}

/// The kernel of an activation whose slope reads z; null for others and for a user's own.
template <class T>
BothFn<T> BothFor(const Activation& activation) {
  static constexpr auto kTable = []<class... F>(std::tuple<F...>*) {
    const auto entry = []<class G>(G*) -> BothFn<T> {
      if constexpr (G::kSlopeNeedsInput) {
        return &BothSpan<G, T>;
      } else {
        return nullptr;
      }
    };
    return std::array<BothFn<T>, sizeof...(F)>{entry(static_cast<F*>(nullptr))...};
  }(static_cast<formulas::BuiltinActivations*>(nullptr));
  return activation.kind() == Activation::kCustom || activation.is_softmax()
             ? nullptr
             : kTable[static_cast<size_t>(activation.kind())];
}

/// No activation before (null): the slope of identity.
template <class T>
SlopeFn<T> SlopeFor(const Activation* activation) {
  static constexpr auto kTable = []<class... F>(std::tuple<F...>*) {
    return std::array<SlopeFn<T>, sizeof...(F)>{&SlopeSpan<F, T>...};
  }(static_cast<formulas::BuiltinActivations*>(nullptr));
  if (activation->kind() == Activation::kCustom || activation->is_softmax()) {
    return &CustomSlopeSpan<T>;
  }
  return kTable[static_cast<size_t>(activation->kind())];
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
