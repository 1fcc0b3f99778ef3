// Exponentials, logarithms, tanh and sine of vectors, with bounds of their errors.
#if defined(LAMINA_BACKEND_CPU_VEC_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_VEC_MATH_INL_H_
#undef LAMINA_BACKEND_CPU_VEC_MATH_INL_H_
#else
#define LAMINA_BACKEND_CPU_VEC_MATH_INL_H_
#endif

#include <array>
#include <cmath>

#include "lamina/backend/cpu/vec_base-inl.h"

// Terms of a sum one after the other, each with its constant as an operand. The predict library is small instead.
#undef LAMINA_UNROLL_TERMS
#if defined(LAMINA_FEW_ROW_PANELS)
#define LAMINA_UNROLL_TERMS
#else
#define LAMINA_UNROLL_TERMS HWY_UNROLL(17)
#endif

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {

// Constants of exp: magic rounds to an integer and leaves it in the low mantissa bits; ln 2 in two parts.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  using Int = int32_t;
  static constexpr float kMagic = 12582912.0f;
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kLow = -104.0f, kHigh = 89.5f;  // beyond: 0 and infinity
  static constexpr float kTanhEnd = 20.0f;               // tanh(x) is +-1 from 2|x| on, and e^-2|x| - 1 is -1
  static constexpr int kBias = 127, kMantissa = 23;
  // (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2, highest power first (Cephes expf).
  static constexpr std::array<float, 6> kPolynomial{1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                                    4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
  // (2^f - 1) / f on |f| <= 1/2, highest power first, interpolated at Chebyshev's points: within 1.3e-8.
  static constexpr std::array<float, 6> kPower{1.5453163e-4f,  1.33908634e-3f, 9.61808256e-3f,
                                               5.55035711e-2f, 2.40226508e-1f, 6.93147188e-1f};
};
template <>
struct ExpConstants<double> {
  using Int = int64_t;
  static constexpr double kMagic = 6755399441055744.0;
  static constexpr double kLn2High = 6.93145751953125e-1, kLn2Low = 1.42860682030941723212e-6;
  static constexpr double kLow = -746.0, kHigh = 710.0;
  static constexpr double kTanhEnd = 44.0;
  static constexpr int kBias = 1023, kMantissa = 52;
  // Taylor to r^13: the first term left out is 4e-18 of e^r.
  static constexpr std::array<double, 12> kPolynomial{1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                                      1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                                      1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
  // Within 3e-19.
  static constexpr std::array<double, 12> kPower{2.5729324177362305e-11, 4.4558179083360645e-10, 7.0548973041554995e-09,
                                                 1.0178057087733941e-07, 1.3215486808705563e-06, 1.5252733841556773e-05,
                                                 1.5403530393370734e-4,  1.333355814640647e-3,   9.61812910762848e-3,
                                                 5.5504108664821625e-2,  2.4022650695910072e-1,  6.931471805599453e-1};
};

/// 2^n for n within the exponent range.
template <class T>
HWY_INLINE VecOf<T> PowerOfTwo(VecOf<typename ExpConstants<T>::Int> n) {
  using C = ExpConstants<T>;
  const Tag<typename C::Int> di;
  return hn::BitCast(Tag<T>(), hn::ShiftLeft<C::kMantissa>(hn::Add(n, hn::Set(di, C::kBias))));
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
/// v 2^n for an integer n.
template <class T>
HWY_INLINE VecOf<T> ScaleByPower(VecOf<T> v, VecOf<T> n) {
  if constexpr (sizeof(T) == 4) {
    return VecOf<T>{_mm512_scalef_ps(v.raw, n.raw)};
  } else {
    return VecOf<T>{_mm512_scalef_pd(v.raw, n.raw)};
  }
}
#endif

/// e^x within 2 ulp over the whole range, denormal results included; NaN comes through.
template <class T>
HWY_INLINE VecOf<T> ExpVec(VecOf<T> x) {
  using C = ExpConstants<T>;
  const Tag<T> d;
  const auto inside = MaxVec<T>(hn::Set(d, C::kLow), MinVec<T>(hn::Set(d, C::kHigh), x));
  const auto magic = hn::Set(d, C::kMagic);
  const auto shifted = hn::MulAdd(inside, hn::Set(d, static_cast<T>(1.4426950408889634)), magic);
  const auto n = hn::Sub(shifted, magic);
  auto r = hn::NegMulAdd(n, hn::Set(d, C::kLn2High), inside);
  r = hn::NegMulAdd(n, hn::Set(d, C::kLn2Low), r);
  auto q = hn::Set(d, C::kPolynomial[0]);
  LAMINA_UNROLL_TERMS
  for (size_t i = 1; i < C::kPolynomial.size(); ++i) {
    q = hn::MulAdd(q, r, hn::Set(d, C::kPolynomial[i]));
  }
  const auto value = hn::Add(hn::Set(d, static_cast<T>(1)), hn::MulAdd(hn::Mul(r, r), q, r));
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return ScaleByPower<T>(value, n);
#else
  // 2^n in two factors, as 2^128 and 2^-150 are not representable.
  const Tag<typename C::Int> di;
  const auto exponent = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic));
  const auto half = hn::ShiftRight<1>(exponent);
  return hn::Mul(hn::Mul(value, PowerOfTwo<T>(half)), PowerOfTwo<T>(hn::Sub(exponent, half)));
#endif
}

/// 2^t = (1 + p) 2^n, for t within the exponent range. p is within 2 ulp, also near 0.
template <class T>
struct SplitPower {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  VecOf<T> p, n;
  HWY_INLINE VecOf<T> Scale(VecOf<T> v) const { return ScaleByPower<T>(v, n); }
#else
  VecOf<T> p;
  VecOf<typename ExpConstants<T>::Int> n;
  HWY_INLINE VecOf<T> Scale(VecOf<T> v) const { return hn::Mul(v, PowerOfTwo<T>(n)); }
#endif
};

/// `fraction(n)`: t - n.
template <class T, class Fraction>
HWY_INLINE SplitPower<T> SplitPowerOf(VecOf<T> t, const Fraction& fraction) {
  using C = ExpConstants<T>;
  const Tag<T> d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const auto n = hn::Round(t);
  const auto exponent = n;
#else
  const Tag<typename C::Int> di;
  const auto magic = hn::Set(d, C::kMagic);
  const auto shifted = hn::Add(t, magic);
  const auto n = hn::Sub(shifted, magic);
  const auto exponent = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic));
#endif
  const auto f = fraction(n);
  auto q = hn::Set(d, C::kPower[0]);
  LAMINA_UNROLL_TERMS
  for (size_t i = 1; i < C::kPower.size(); ++i) {
    q = hn::MulAdd(q, f, hn::Set(d, C::kPower[i]));
  }
  return {hn::Mul(q, f), exponent};
}
template <class T>
HWY_INLINE SplitPower<T> SplitPowerOf(VecOf<T> t) {
  return SplitPowerOf<T>(t, [&](VecOf<T> n) HWY_ATTR { return hn::Sub(t, n); });
}

/// e^(factor x) in the same form. n doublings are taken from x in two parts, of which the first is exact. Far out, too,
/// only the last places are off.
template <class T>
HWY_INLINE SplitPower<T> SplitPowerOfProduct(VecOf<T> x, double factor) {
  constexpr double kLn2 = 0.69314718055994531;
  constexpr double kLn2Rest = 2.3190468138462996e-17;
  const double doubling = kLn2 / factor;  // of x
  const double spread = doubling * ((sizeof(T) == 4 ? 0x1p41 : 0x1p23) + 1);
  const double high = spread - (spread - doubling);  // 12 bits; f64: 30
  const double low = doubling - high + (std::fma(-doubling, factor, kLn2) + kLn2Rest) / factor;
  const Tag<T> d;
  const auto per_x = hn::Set(d, static_cast<T>(factor * 1.4426950408889634));
  return SplitPowerOf<T>(hn::Mul(x, per_x), [&](VecOf<T> n) HWY_ATTR {
    const auto rest = hn::NegMulAdd(n, hn::Set(d, static_cast<T>(high)), x);
    return hn::Mul(hn::NegMulAdd(n, hn::Set(d, static_cast<T>(low)), rest), per_x);
  });
}

/// e^x - 1 for x <= 0, within 4 ulp, also near 0; NaN comes through. What the rounding of x log2(e) adds is no more
/// than half an ulp: |x| e^x stays below |e^x - 1|.
template <class T>
HWY_INLINE VecOf<T> Expm1OfNegative(VecOf<T> x) {
  using C = ExpConstants<T>;
  const Tag<T> d;
  const auto inside = MaxVec<T>(hn::Set(d, -C::kTanhEnd), x);
  const SplitPower<T> e = SplitPowerOf<T>(hn::Mul(inside, hn::Set(d, static_cast<T>(1.4426950408889634))));
  return hn::Add(e.Scale(e.p), hn::Sub(e.Scale(hn::Set(d, static_cast<T>(1))), hn::Set(d, static_cast<T>(1))));
}

/// tanh x = (e^2x - 1) / (e^2x + 1) through e^2x - 1 computed without cancellation: within 4 ulp, also near
/// 0.
template <class T>
HWY_INLINE VecOf<T> TanhVec(VecOf<T> x) {
  using C = ExpConstants<T>;
  const Tag<T> d;
  const auto end = static_cast<T>(1.4426950408889634) * C::kTanhEnd;
  const auto t = hn::Mul(x, hn::Set(d, static_cast<T>(2 * 1.4426950408889634)));
  const SplitPower<T> e = SplitPowerOf<T>(MaxVec<T>(hn::Set(d, -end), MinVec<T>(hn::Set(d, end), t)));
  const auto one = hn::Set(d, static_cast<T>(1));
  const auto minus1 = hn::Add(e.Scale(e.p), hn::Sub(e.Scale(one), one));
  return hn::Div(minus1, hn::Add(minus1, hn::Set(d, static_cast<T>(2))));
}

/// ln(1 + x) for x from 0 to 1, within 4 ulp, also near 0: 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...) with
/// s = x / (2 + x), at most 1/3. NaN comes through.
template <class T>
HWY_INLINE VecOf<T> Log1pVec(VecOf<T> x) {
  constexpr int kTerms = sizeof(T) == 4 ? 8 : 17;  // the first one left out is below half an ulp
  const Tag<T> d;
  const auto s = hn::Div(x, hn::Add(x, hn::Set(d, static_cast<T>(2))));
  const auto square = hn::Mul(s, s);
  auto sum = hn::Set(d, static_cast<T>(1.0 / (2 * kTerms - 1)));
  LAMINA_UNROLL_TERMS
  for (int k = kTerms - 2; k >= 0; --k) {
    sum = hn::MulAdd(sum, square, hn::Set(d, static_cast<T>(1.0 / (2 * k + 1))));
  }
  return hn::Mul(hn::Add(s, s), sum);
}

/// ln x of positive normal numbers and infinity, within 4 ulp (near 1: of x), by 2 artanh; NaN comes through.
template <class T>
HWY_INLINE VecOf<T> LogVec(VecOf<T> x) {
  using C = ExpConstants<T>;
  constexpr int kTerms = sizeof(T) == 4 ? 5 : 11;  // the first one left out is below half an ulp
  const Tag<T> d;
  const Tag<typename C::Int> di;
  const auto one = hn::Set(d, static_cast<T>(1));
  const auto root = hn::BitCast(di, hn::Set(d, static_cast<T>(0.70710678118654752)));
  const auto e = hn::ShiftRight<C::kMantissa>(hn::Sub(hn::BitCast(di, x), root));
  const auto m = hn::BitCast(d, hn::Sub(hn::BitCast(di, x), hn::ShiftLeft<C::kMantissa>(e)));
  const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const auto square = hn::Mul(s, s);
  auto sum = hn::Set(d, static_cast<T>(1.0 / (2 * kTerms - 1)));
  LAMINA_UNROLL_TERMS
  for (int k = kTerms - 2; k > 0; --k) {
    sum = hn::MulAdd(sum, square, hn::Set(d, static_cast<T>(1.0 / (2 * k + 1))));
  }
  const auto magic = hn::Set(d, C::kMagic);  // an integer in its low bits is a number
  const auto exponent = hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(di, magic), e)), magic);
  auto log = hn::MulAdd(hn::Mul(hn::Add(s, s), square), sum, hn::Mul(exponent, hn::Set(d, C::kLn2Low)));
  log = hn::MulAdd(exponent, hn::Set(d, C::kLn2High), hn::Add(hn::Add(s, s), log));
  return hn::IfThenElse(hn::Eq(x, x), log, x);
}

// Constants of the sine: pi in parts whose products with small integers are exact, and a polynomial. It is (sin r - r)
// / r^3 by r^2, highest power first (SLEEF, Shibata and Petrogalli 2020).
template <class T>
struct SineConstants;
template <>
struct SineConstants<float> {
  static constexpr std::array<float, 4> kPi{3.140625f, 0.0009670257568359375f, 6.2771141529083251953e-07f,
                                            1.2154201256553420762e-10f};
  static constexpr std::array<float, 4> kPolynomial{2.6083159809786593541503e-06f, -1.981069071916863322258e-4f,
                                                    0.00833307858556509017944336f, -0.166666597127914428710938f};
};
template <>
struct SineConstants<double> {
  static constexpr std::array<double, 4> kPi{3.1415926218032836914, 3.1786509424591713469e-08,
                                             1.2246467864107188502e-16, 1.2736634327021899816e-24};
  static constexpr std::array<double, 9> kPolynomial{
      -7.97255955009037868891952e-18, 2.81009972710863200091251e-15,  -7.64712219118158833288484e-13,
      1.60590430605664501629054e-10,  -2.50521083763502045810755e-08, 2.75573192239198747630416e-06,
      -0.000198412698412696162806809, 0.00833333333333332974823815,   -0.166666666666666657414808};
};

/// sin x for x from -10^4 to 10^4, within 4 ulp of 1; NaN comes through. x = n pi + r, odd n turn the sign.
template <class T>
HWY_INLINE VecOf<T> SinVec(VecOf<T> x) {
  using C = SineConstants<T>;
  const Tag<T> d;
  const Tag<typename ExpConstants<T>::Int> di;
  const auto magic = hn::Set(d, ExpConstants<T>::kMagic);
  const auto shifted = hn::MulAdd(x, hn::Set(d, static_cast<T>(0.31830988618379067154)), magic);
  const auto n = hn::Sub(shifted, magic);
  auto r = x;
  LAMINA_UNROLL_TERMS
  for (const T part : C::kPi) {
    r = hn::NegMulAdd(n, hn::Set(d, part), r);
  }
  const auto square = hn::Mul(r, r);
  auto q = hn::Set(d, C::kPolynomial[0]);
  LAMINA_UNROLL_TERMS
  for (size_t i = 1; i < C::kPolynomial.size(); ++i) {
    q = hn::MulAdd(q, square, hn::Set(d, C::kPolynomial[i]));
  }
  const auto sine = hn::MulAdd(hn::Mul(square, r), q, r);
  const auto sign = hn::ShiftLeft<8 * sizeof(T) - 1>(hn::BitCast(di, shifted));
  return hn::Xor(sine, hn::BitCast(d, sign));
}

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
