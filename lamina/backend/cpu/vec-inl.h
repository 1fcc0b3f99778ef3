// Vectors per instruction set: loads and stores of row ends, exp and tanh, and the formulas over vectors.
#if defined(LAMINA_BACKEND_CPU_VEC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAMINA_BACKEND_CPU_VEC_INL_H_
#undef LAMINA_BACKEND_CPU_VEC_INL_H_
#else
#define LAMINA_BACKEND_CPU_VEC_INL_H_
#endif

#include <array>
#include <cstring>
#include <tuple>

#include "hwy/highway.h"
#include "lamina/neuron/formulas.h"

// Without vectors nobody expects speed: a fifth less to compile. This instruction set comes last in every file.
#if HWY_TARGET == HWY_SCALAR
#pragma GCC optimize("O1")
#endif

HWY_BEFORE_NAMESPACE();
namespace lamina::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using VecOf = hn::Vec<Tag<T>>;
template <class T>
inline constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
// Of a line of the caches.
template <class T>
inline constexpr int64_t kLineElements = 64 / static_cast<int64_t>(sizeof(T));

// Whether masked loads and stores touch only the lanes asked for; elsewhere Highway may read the whole
// vector.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
inline constexpr bool kSafeMasks = true;
#else
inline constexpr bool kSafeMasks = false;
#endif

/// The first n (< lanes) elements at p, zeros after them; reads nothing beyond.
template <class T>
HWY_INLINE VecOf<T> LoadTail(const T* HWY_RESTRICT p, int64_t n) {
  const Tag<T> d;
  if constexpr (kSafeMasks) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, p);
  } else {
    HWY_ALIGN T lanes[kLanes<T>] = {};
    std::memcpy(lanes, p, static_cast<size_t>(n) * sizeof(T));
    return hn::Load(d, lanes);
  }
}

/// Stores the first n (< lanes) elements of v at p.
template <class T>
HWY_INLINE void StoreTail(VecOf<T> v, T* HWY_RESTRICT p, int64_t n) {
  const Tag<T> d;
  if constexpr (kSafeMasks) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, p);
  } else {
    HWY_ALIGN T lanes[kLanes<T>];
    hn::Store(v, d, lanes);
    std::memcpy(p, lanes, static_cast<size_t>(n) * sizeof(T));
  }
}

/// out[i] = fn(ins[i]...) over whole vectors and one tail; every pointer may be unaligned.
template <class T, class Fn, class... Ins>
HWY_INLINE void Transform(int64_t n, T* out, const Fn& fn, const Ins*... ins) {
  const Tag<T> d;
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    hn::StoreU(fn(hn::LoadU(d, ins + i)...), d, out + i);
  }
  if (i < n) {
    StoreTail<T>(fn(LoadTail<T>(ins + i, n - i)...), out + i, n - i);
  }
}

/// Copies n elements, few more than a vector or less. Without masks where these are slow (AVX2): two pieces that
/// overlap.
template <class T>
HWY_INLINE void CopyFew(const T* from, int64_t n, T* to) {
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL) {
    Transform<T>(
        n, to, [](VecOf<T> v) HWY_ATTR { return v; }, from);
  } else {
    const auto overlapping = [&](auto d) HWY_ATTR {
      const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
      for (int64_t i = 0; i + lanes < n; i += lanes) {
        hn::StoreU(hn::LoadU(d, from + i), d, to + i);
      }
      hn::StoreU(hn::LoadU(d, from + n - lanes), d, to + n - lanes);
    };
    constexpr int64_t kHalf = std::max<int64_t>(1, kLanes<T> / 2);
    if (n >= kLanes<T>) {
      overlapping(Tag<T>());
    } else if (n >= kHalf) {
      overlapping(hn::FixedTag<T, kHalf>());
    } else {
      std::copy_n(from, n, to);
    }
  }
}

// Of two arguments, one of them NaN, x86's max and min return the second, as formulas.h wants; others differ.
template <class T>
HWY_INLINE VecOf<T> MaxVec(VecOf<T> a, VecOf<T> b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Max(a, b);
#else
  return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
}
template <class T>
HWY_INLINE VecOf<T> MinVec(VecOf<T> a, VecOf<T> b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Min(a, b);
#else
  return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}

/// 1, -1, or x itself where x is zero or NaN.
template <class T>
HWY_INLINE VecOf<T> SignVec(VecOf<T> x) {
  const Tag<T> d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // One instruction that answers by the class of its operand. Four bits a class, from the lowest: quiet NaN, signalling
  // NaN, zero, 1, -infinity, infinity, negative, positive. 1: the operand; 8, 9, 10: 0, -1, 1.
  constexpr int kAnswers = static_cast<int>(0xA9A9A111U);
  if constexpr (sizeof(T) == 4) {
    return VecOf<T>{_mm512_fixupimm_ps(x.raw, x.raw, _mm512_set1_epi32(kAnswers), 0)};
  } else {
    return VecOf<T>{_mm512_fixupimm_pd(x.raw, x.raw, _mm512_set1_epi64(kAnswers), 0)};
  }
#elif HWY_TARGET == HWY_AVX2
  // Its Ne is false for NaN, too: an instruction less in the loop of gradients, which are 1.1 times as fast.
  return hn::IfThenElse(hn::Ne(x, hn::Zero(d)), hn::CopySignToAbs(hn::Set(d, static_cast<T>(1)), x), x);
#else
  const auto one = hn::CopySign(hn::Set(d, static_cast<T>(1)), x);
  return hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Zero(d)), one, x);
#endif
}

// Constants of exp: magic rounds to an integer and leaves it in the low mantissa bits; ln 2 in two parts.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  using Int = int32_t;
  static constexpr float kMagic = 12582912.0f;
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kLow = -104.0f, kHigh = 89.5f;  // beyond: 0 and infinity
  static constexpr float kTanhEnd = 20.0f;               // tanh(x) is +-1 from 2|x| on
  static constexpr int kBias = 127, kMantissa = 23;
  // (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2, highest power first (Cephes expf).
  static constexpr std::array<float, 6> kPolynomial{1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                                    4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
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
};

/// x = n ln 2 + r: `p` is e^r - 1 and `n` the integer, as one.
template <class T>
struct ReducedExp {
  using Int = typename ExpConstants<T>::Int;
  VecOf<T> p;
  VecOf<Int> n;
};

template <class T>
HWY_INLINE ReducedExp<T> ReduceExp(VecOf<T> x) {
  using C = ExpConstants<T>;
  const Tag<T> d;
  const Tag<typename C::Int> di;
  const auto magic = hn::Set(d, C::kMagic);
  const auto shifted = hn::MulAdd(x, hn::Set(d, static_cast<T>(1.4426950408889634)), magic);
  const auto n = hn::Sub(shifted, magic);
  auto r = hn::NegMulAdd(n, hn::Set(d, C::kLn2High), x);
  r = hn::NegMulAdd(n, hn::Set(d, C::kLn2Low), r);
  auto q = hn::Set(d, C::kPolynomial[0]);
  for (size_t i = 1; i < C::kPolynomial.size(); ++i) {
    q = hn::MulAdd(q, r, hn::Set(d, C::kPolynomial[i]));
  }
  return {hn::MulAdd(hn::Mul(r, r), q, r), hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic))};
}

/// 2^n for n within the exponent range.
template <class T>
HWY_INLINE VecOf<T> PowerOfTwo(VecOf<typename ExpConstants<T>::Int> n) {
  using C = ExpConstants<T>;
  const Tag<typename C::Int> di;
  return hn::BitCast(Tag<T>(), hn::ShiftLeft<C::kMantissa>(hn::Add(n, hn::Set(di, C::kBias))));
}

/// e^x within 2 ulp over the whole range, denormal results included; NaN comes through.
template <class T>
HWY_INLINE VecOf<T> ExpVec(VecOf<T> x) {
  using C = ExpConstants<T>;
  const Tag<T> d;
  const auto inside = MaxVec<T>(hn::Set(d, C::kLow), MinVec<T>(hn::Set(d, C::kHigh), x));
  const ReducedExp<T> e = ReduceExp<T>(inside);
  // 2^n in two factors, as 2^128 and 2^-150 are not representable.
  const auto half = hn::ShiftRight<1>(e.n);
  const auto value = hn::Add(hn::Set(d, static_cast<T>(1)), e.p);
  return hn::Mul(hn::Mul(value, PowerOfTwo<T>(half)), PowerOfTwo<T>(hn::Sub(e.n, half)));
}

/// tanh x = (e^2x - 1) / (e^2x + 1) through e^2x - 1 computed without cancellation: within 4 ulp, also near
/// 0.
template <class T>
HWY_INLINE VecOf<T> TanhVec(VecOf<T> x) {
  using C = ExpConstants<T>;
  const Tag<T> d;
  const auto one = hn::Set(d, static_cast<T>(1));
  const auto doubled = MaxVec<T>(hn::Set(d, -C::kTanhEnd), MinVec<T>(hn::Set(d, C::kTanhEnd), hn::Add(x, x)));
  const ReducedExp<T> e = ReduceExp<T>(doubled);
  const auto scale = PowerOfTwo<T>(e.n);
  const auto minus1 = hn::MulAdd(scale, e.p, hn::Sub(scale, one));
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
  for (int k = kTerms - 2; k > 0; --k) {
    sum = hn::MulAdd(sum, square, hn::Set(d, static_cast<T>(1.0 / (2 * k + 1))));
  }
  const auto magic = hn::Set(d, C::kMagic);  // an integer in its low bits is a number
  const auto exponent = hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(di, magic), e)), magic);
  auto log = hn::MulAdd(hn::Mul(hn::Add(s, s), square), sum, hn::Mul(exponent, hn::Set(d, C::kLn2Low)));
  log = hn::MulAdd(exponent, hn::Set(d, C::kLn2High), hn::Add(hn::Add(s, s), log));
  return hn::IfThenElse(hn::Eq(x, x), log, x);
}

// Of the sine: pi in parts whose products with small integers are exact, the polynomial of (sin r - r) / r^3 by r^2,
// highest power first (SLEEF, Shibata and Petrogalli 2020).
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
  for (const T part : C::kPi) {
    r = hn::NegMulAdd(n, hn::Set(d, part), r);
  }
  const auto square = hn::Mul(r, r);
  auto q = hn::Set(d, C::kPolynomial[0]);
  for (size_t i = 1; i < C::kPolynomial.size(); ++i) {
    q = hn::MulAdd(q, square, hn::Set(d, C::kPolynomial[i]));
  }
  const auto sine = hn::MulAdd(hn::Mul(square, r), q, r);
  const auto sign = hn::ShiftLeft<8 * sizeof(T) - 1>(hn::BitCast(di, shifted));
  return hn::Xor(sine, hn::BitCast(d, sign));
}

/// A vector dressed as a number, for formulas.inc.
template <class T>
struct Pack {
  VecOf<T> v;

  HWY_INLINE explicit Pack(double x) : v(hn::Set(Tag<T>(), static_cast<T>(x))) {}
  HWY_INLINE explicit Pack(VecOf<T> vec) : v(vec) {}

  friend HWY_INLINE Pack operator+(Pack a, Pack b) { return Pack(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Pack operator-(Pack a, Pack b) { return Pack(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Pack operator*(Pack a, Pack b) { return Pack(hn::Mul(a.v, b.v)); }
  friend HWY_INLINE Pack operator/(Pack a, Pack b) { return Pack(hn::Div(a.v, b.v)); }
  friend HWY_INLINE auto operator<(Pack a, Pack b) { return hn::Lt(a.v, b.v); }
  friend HWY_INLINE auto operator>(Pack a, Pack b) { return hn::Gt(a.v, b.v); }
};

template <class T>
HWY_INLINE Pack<T> Exp(Pack<T> x) {
  return Pack<T>(ExpVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Log(Pack<T> x) {
  return Pack<T>(LogVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Tanh(Pack<T> x) {
  return Pack<T>(TanhVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Sin(Pack<T> x) {
  return Pack<T>(SinVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Log1p(Pack<T> x) {
  return Pack<T>(Log1pVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> Sqrt(Pack<T> x) {
  return Pack<T>(hn::Sqrt(x.v));
}
template <class T>
HWY_INLINE Pack<T> Abs(Pack<T> x) {
  return Pack<T>(hn::Abs(x.v));
}
template <class T>
HWY_INLINE Pack<T> Sign(Pack<T> x) {
  return Pack<T>(SignVec<T>(x.v));
}
template <class T>
HWY_INLINE Pack<T> MulAdd(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::MulAdd(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> MulSub(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::MulSub(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> NegMulAdd(Pack<T> a, Pack<T> b, Pack<T> c) {
  return Pack<T>(hn::NegMulAdd(a.v, b.v, c.v));
}
template <class T>
HWY_INLINE Pack<T> Max(Pack<T> a, Pack<T> b) {
  return Pack<T>(MaxVec<T>(a.v, b.v));
}
template <class T>
HWY_INLINE Pack<T> Min(Pack<T> a, Pack<T> b) {
  return Pack<T>(MinVec<T>(a.v, b.v));
}
template <class M, class T>
HWY_INLINE Pack<T> Select(M condition, Pack<T> yes, Pack<T> no) {
  return Pack<T>(hn::IfThenElse(condition, yes.v, no.v));
}

namespace formulas {
#include "lamina/neuron/formulas.inc"
}  // namespace formulas

}  // namespace lamina::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
